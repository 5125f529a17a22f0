import { describe, expect, it, vi } from 'vitest'
import type { Message } from '../../src/model/message.ts'
import { noticeFor, wordsFor } from '../../src/tmux/typed-text.ts'
import { inStorm } from '../helpers/storm.ts'
import { until } from '../helpers/wait.ts'
import { hostileTexts } from './hostile.ts'
import { Terminal } from './terminal.ts'

// Limits only end what hangs; on a busy machine everything takes its time.
vi.setConfig({ testTimeout: 180_000 })

const steering = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/

const message = (text: string): Message => ({
  id: '01999999-0000-7000-8000-000000000000',
  from: text.slice(0, 100),
  to: ['ada'],
  type: text.slice(0, 100),
  subject: text.slice(0, 400),
  body: text,
  payload: { text },
  priority: 'normal',
  threadId: text.slice(0, 100),
  createdAt: '2026-11-15T09:30:00.000Z',
  requiresAck: false,
  awaitingResponse: false,
  attachments: [text.slice(0, 100)],
  tags: [],
})

describe('what is typed', () => {
  it.each([false, true])('holds nothing that steers a terminal (multiline: %s)', (multiline) => {
    for (const text of hostileTexts(1_000)) {
      const { text: typed, end } = wordsFor(message(text), {
        token: 'a1b2c3d4e5f6',
        comment: '# ',
        multiline,
      })
      expect(typed.replaceAll('\n', multiline ? '' : '\n')).not.toMatch(steering)
      expect(typed.replace(/\s/g, '').endsWith(end)).toBe(true)
      // It is named once, and stands in the two marks.
      expect(typed.split('a1b2c3d4e5f6')).toHaveLength(4)
      expect(Buffer.byteLength(typed)).toBeLessThanOrEqual(2_000)
      expect(typed.startsWith('# [mailbox] Message 01999999-')).toBe(true)
    }
  })

  it('is, for what runs commands, made of letters and a few signs that mean nothing', () => {
    for (const text of hostileTexts(1_000)) {
      const options = { agent: text.slice(0, 100), token: 'a1b2c3d4e5f6' }
      const nasty = { ...message(text), id: text.slice(0, 100) || 'x' }
      expect(noticeFor([nasty], { ...options, comment: ' # ' }).text).toMatch(/^ # [A-Za-z0-9@._/+, -]+$/)
      expect(noticeFor([nasty, nasty], { ...options, comment: ' : ' }).text).toMatch(
        /^ : [A-Za-z0-9@._/+, -]+$/,
      )
    }
  })
})

it('never leaves a paste, with or without brackets', async () => {
  const terminal = await Terminal.open()
  const panes = Array.from({ length: 10 }, (_, at) => ({
    name: `agent-${at}`,
    isBracketed: at % 2 === 0,
    ...terminal.agent(`agent-${at}`, { bracketed: at % 2 === 0 }),
  }))
  const bob = await terminal.space.mailbox('bob')
  terminal.watch(panes.map(({ name, pane }) => `${name}=${pane}`))
  await until('all are attached', () => terminal.doing('agent-9'))
  const texts = hostileTexts(inStorm(220, 60))
  for (const [at, text] of texts.entries())
    await bob.send({ to: `agent-${at % panes.length}`, body: text, subject: text.slice(0, 400) })
  for (const { name, log, isBracketed } of panes) {
    const wanted = texts.length / panes.length
    await until(`${name} has all of its mail`, () => log.submitted().length >= wanted)
    expect(log.submitted()).toHaveLength(wanted)
    // One Enter a message, no other key, and every paste opened and closed once.
    expect(log.keys()).toEqual([])
    const bytes = log.bytes().toString('latin1')
    expect(bytes.split('\r')).toHaveLength(wanted + 1)
    expect(bytes).not.toContain('\n')
    expect(bytes.split('\u001b')).toHaveLength(isBracketed ? 2 * wanted + 1 : 1)
    for (const line of log.submitted()) {
      expect(line).not.toMatch(steering)
      expect(line).toMatch(/^# \[mailbox\] Message .*<<<mail ([0-9a-f]{12}) .*mail \1>>>$/u)
    }
  }
})
