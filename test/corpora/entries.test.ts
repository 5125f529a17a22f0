import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fenceAll, MailboxError, type Message } from '../../src/mod.ts'
import { writeSettings } from '../../src/space/settings.ts'
import { createBox } from '../helpers/cli.ts'
import { corpora, expectWhole, parsed, sampleOf } from '../helpers/corpora.ts'
import { messageDraft } from '../helpers/drafts.ts'
import { stageHub } from '../helpers/hub.ts'
import { connect } from '../helpers/mcp.ts'
import { Campaign, inStorm } from '../helpers/storm.ts'
import { tempDir, tempSpace, testSettings } from '../helpers/temp.ts'

const limits = { timeout: inStorm(3_600_000, 120_000) }
const all = Number.POSITIVE_INFINITY

/** Notes what came of one entry; the report adds them up. */
function entry(name: string): (accepted: number, refused: number, fenced: number) => void {
  const campaign = new Campaign('corpora', 0, name)
  return (accepted, refused, fenced) =>
    campaign.end({
      'texts and documents': accepted + refused,
      'accepted and unchanged': accepted,
      'refused with a code': refused,
      'fences whole': fenced,
    })
}

describe('the corpora go in, come out as they were, and stay in the fence', () => {
  it('through the library', limits, async () => {
    const note = entry('library')
    const { texts, json } = await corpora()
    const space = await tempSpace()
    const [ada, bob] = [await space.mailbox('ada'), await space.mailbox('bob')]
    const messages: Message[] = []
    let refused = 0
    for (const text of sampleOf(texts, inStorm(all, 100))) {
      const sent = await ada.send({ to: 'bob', subject: text.slice(0, 400), body: text })
      messages.push(await bob.read(sent.id))
      expect(messages.at(-1)!.body).toBe(text)
    }
    for (const text of sampleOf(json, inStorm(all, 60))) {
      const sent = await ada
        .send({ to: 'bob', body: text, payload: parsed(text) as never })
        .catch((error: unknown) => error)
      if (sent instanceof MailboxError) {
        expect(sent.code).toMatch(/^(invalid|over_limit)$/)
        refused++
      } else messages.push(await bob.read((sent as Message).id))
    }
    expect(expectWhole(fenceAll(messages))).toBe(messages.length)
    note(messages.length, refused, messages.length)
  })

  it('through an import, and out through the command line', limits, async () => {
    const note = entry('import')
    const { texts, json } = await corpora()
    const box = await createBox('bob')
    const chosen = sampleOf(texts, inStorm(all, 80))
    const lines = chosen.map((text) => {
      const { message } = messageDraft({ to: ['bob'], subject: text.slice(0, 400), body: text })
      return JSON.stringify({ kind: 'message', at: message.createdAt, message })
    })
    const file = join(box.dir, '..', 'lines.jsonl')
    writeFileSync(file, [...lines, ...json.map((text) => text.replace(/[\r\n]/g, ' '))].join('\n'))
    const { code, stdout } = await box.run(['import', file, '--json'])
    const done = JSON.parse(stdout) as { imported: number; refused: number }
    expect(code).not.toBeNull()
    expect(done.imported).toBe(chosen.length)
    expect(done.refused).toBeGreaterThan(250)
    const { messages } = await box.json('inbox', '--as', 'bob', '--limit', '1000')
    expect(new Set(messages.map(({ body }) => body))).toEqual(new Set(chosen))
    let count = 0
    for (let shown = ''; shown !== 'no new mail\n'; ) {
      shown = await box.ok('check', '--as', 'bob', '--budget', '10000000')
      count += expectWhole(shown)
    }
    expect(count).toBe(chosen.length)
    note(done.imported, done.refused, count)
  })

  it('through the command line', limits, async () => {
    const note = entry('command line')
    const corpus = await corpora()
    const [texts, json] = [sampleOf(corpus.texts, inStorm(all, 4)), sampleOf(corpus.json, inStorm(all, 4))]
    const box = await createBox('ada')
    for (const text of texts) {
      const { stdout } = await box.run(['send', '--input', '-', '--json'], {
        input: JSON.stringify({ to: 'ada', subject: 's', body: text }),
      })
      expect(JSON.parse(stdout).message.body).toBe(text)
    }
    for (const text of json) {
      const { code, stdout } = await box.run(['send', '--input', '-', '--json'], { input: text })
      expect(code, text).toBe(2)
      expect(JSON.parse(stdout).error.code).toBe('invalid')
    }
    note(texts.length, json.length, 0)
  })

  it('through the tools of MCP', limits, async () => {
    const note = entry('MCP')
    const { texts, json } = await corpora()
    const dir = tempDir()
    // Nobody sends this much in a minute.
    writeSettings(dir, testSettings)
    const [ada, bob] = [await connect(dir, 'ada'), await connect(dir, 'bob')]
    await bob.call('agents')
    const chosen = [...sampleOf(texts, inStorm(all, 25)), ...sampleOf(json, inStorm(all, 10))]
    for (const text of chosen) await ada.call('send', { to: 'bob', subject: text.slice(0, 400), body: text })
    let count = 0
    for (let more = true; more; ) {
      const { text, facts } = await bob.call('check', { limit: 100, full: true })
      count += expectWhole(text)
      more = facts['unread'] !== 0
    }
    expect(count).toBe(chosen.length)
    note(chosen.length, 0, count)
  })

  it('through HTTP', limits, async () => {
    const note = entry('HTTP')
    const corpus = await corpora()
    const [texts, json] = [sampleOf(corpus.texts, inStorm(all, 100)), sampleOf(corpus.json, inStorm(all, 50))]
    const { act, ask, space, lines } = await stageHub()
    await space.join('ada')
    for (const text of texts) {
      const { status, json: answer } = await act('user', 'send', { to: 'ada', body: text })
      expect(status).toBe(200)
      expect((answer as Message).body).toBe(text)
    }
    for (const text of json) {
      const { status } = await ask('/api/mailboxes/user/send', { raw: text })
      expect(status, text).toBe(400)
    }
    expect(lines.filter(({ event }) => event === 'failed')).toEqual([])
    note(texts.length, json.length, 0)
  })
})
