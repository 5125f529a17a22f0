import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readEvents } from '../../console/src/data/stream.ts'
import { parseRecipients } from '../../console/src/lib/address.ts'
import { asCommand } from '../../console/src/lib/cli.ts'
import { parseRoute, path } from '../../console/src/lib/route.ts'
import { block, line, sentence } from '../../console/src/lib/text.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { hostileNames } from './hostile-corpus.ts'

describe('a URL of the console', () => {
  it.each([...hostileNames, 'ada', 'swarm/scribe', 'Zoë', '~', '...', 'a b'])('keeps the name %j', (name) => {
    // Like a browser, which removes dot segments from the path.
    const { pathname } = new URL(path('agents', name), 'http://127.0.0.1')
    expect(parseRoute(pathname)).toEqual({ page: 'agent', name })
    const channel = new URL(path('channels', `project:${name}`, 'thread 1'), 'http://127.0.0.1').pathname
    expect(parseRoute(channel)).toEqual({ page: 'channel', tag: `project:${name}`, id: 'thread 1' })
  })

  it('is parsed even when it is malformed', () => {
    expect(parseRoute('/agents/%E0%A4%A')).toEqual({ page: 'agent', name: '%E0%A4%A' })
    expect(parseRoute('/what/ever')).toEqual({ page: 'missing' })
    expect(parseRoute('/')).toEqual({ page: 'needs-you' })
  })
})

describe('the command of a message', () => {
  it('sends the same message when a shell runs it', async () => {
    const space = await tempSpace()
    const file = join(tempDir(), 'a file.md')
    writeFileSync(file, '')
    const ada = await space.mailbox('ada')
    await space.join("o'hara $HOME `id`")
    const sent = await ada.send({
      to: ["o'hara $HOME `id`", 'project:x'],
      subject: `It's "quoted" $(touch hacked) \\ !`,
      body: "line one\nline 'two'\n\n`$PATH` & ; | > <",
      ...{
        type: 'request',
        priority: 'high',
        tags: ['project:x'],
        payload: { a: "it's", b: [1] },
        requiresAck: true,
      },
      attachments: [file],
    })
    const bin = join(tempDir(), 'bin')
    mkdirSync(bin)
    symlinkSync(fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url)), join(bin, 'mailbox'))
    execFileSync('sh', ['-c', asCommand(sent)], {
      cwd: space.dir,
      env: { ...process.env, PATH: `${bin}:${process.env['PATH']}`, MAILBOX_SPACE: space.dir },
      stdio: 'pipe',
    })
    const { messages } = await ada.sent({ limit: 1 })
    const {
      id: _,
      seq: __,
      threadId: ___,
      createdAt: ____,
      expiresAt: _____,
      warnings: ______,
      ...said
    } = sent
    expect(messages[0]).toMatchObject(said)
    expect(messages[0]!.id).not.toBe(sent.id)
  })
})

describe('the stream of entries', () => {
  it('is parsed correctly however it is split', async () => {
    const text =
      'id: 1\nevent: entry\ndata: {"seq":1}\n\n: still here\n\nid: 2\r\ndata: {"seq":2,\r\ndata: "é":1}\r\n\r\n'
    const bytes = new TextEncoder().encode(text)
    for (const size of [1, 2, 3, 7, 1_000]) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
          controller.close()
        },
      })
      const found = []
      for await (const events of readEvents(body)) found.push(...events)
      expect(found).toEqual([
        { event: 'entry', data: '{"seq":1}' },
        { event: 'message', data: '{"seq":2,\n"é":1}' },
      ])
    }
  })
})

describe('text', () => {
  it('from others stays on one line and reads in one direction', () => {
    expect(line('a\u202eb\nc\u0007')).toBe('a\ufffdb c\ufffd')
    expect(block('\ta\u202eb\r\n  c\u0007')).toBe('  a\ufffdb\n  c\ufffd')
  })

  it.each([
    ['cannot reach the hub', 'Cannot reach the hub.'],
    ['limits.inbox is 5', 'limits.inbox is 5.'],
    ['Is it running?', 'Is it running?'],
    ["no agent named 'x'", "No agent named 'x'."],
  ])('from the hub becomes a sentence: %s', (text, expected) => expect(sentence(text)).toBe(expected))

  it('is parsed into recipients', () => {
    expect(parseRecipients('ada, bob;#x\n swarm/a b,,ada')).toEqual(['ada', 'bob', 'project:x', 'swarm/a b'])
  })
})
