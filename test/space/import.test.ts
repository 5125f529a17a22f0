import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeSetting } from '../../src/space/settings.ts'
import { failCall } from '../helpers/fs-faults.ts'
import { liveThrough } from '../helpers/history.ts'
import { talkThrough } from '../helpers/talk.ts'
import { needFiles, tempDir, tempSpace } from '../helpers/temp.ts'
import { exported } from '../helpers/transfer.ts'

const hour = 3_600_000
const start = 1_800_000_000_000

/** A space with a history, and what it exports. */
async function lived(seed = 5) {
  const clock = { now: start }
  const space = await tempSpace({ now: () => clock.now })
  await liveThrough(space, 60, seed, clock)
  await talkThrough(space, 60, seed, clock)
  return { space, clock, lines: await exported(space) }
}

it('tells its caller of a write that failed, and leaves no other failure behind', async () => {
  needFiles()
  const from = await tempSpace()
  const ada = await from.mailbox('ada')
  for (let n = 0; n < 200; n++) await ada.send({ to: 'ada', subject: `mail ${n}` })
  const { messages } = await ada.sent({ limit: 1_000 })

  const into = await tempSpace()
  /** Lines that come slowly: when the write fails, nobody is waiting for it. */
  async function* lines() {
    for (const message of messages) {
      await new Promise(setImmediate)
      yield { message }
    }
  }
  failCall('writeSync', 'EIO')
  // An unhandled rejection would fail the whole run.
  await expect(into.importMessages(lines())).rejects.toMatchObject({ code: 'damaged' })
  expect(await into.importMessages(lines())).toMatchObject({ imported: 200, skipped: 0, refused: 0 })
})

describe('an import that is cut short', () => {
  it('is completed by the next one, wherever it was cut', async () => {
    const { clock, lines } = await lived()
    for (const share of [0.2, 0.5, 0.8]) {
      const copy = await tempSpace({ now: () => clock.now })
      await copy.importMessages(lines.slice(0, Math.floor(lines.length * share)))
      const { imported, skipped } = await copy.importMessages(lines)
      expect(skipped).toBeGreaterThan(0)
      expect(imported + skipped).toBe(lines.filter(({ kind }) => kind === 'message').length)
      expect(await exported(copy)).toEqual(lines)
    }
  })

  it('is completed although what is due was done in between', async () => {
    const { space, clock, lines } = await lived()
    const copy = await tempSpace({ now: () => clock.now })
    await copy.importMessages(lines.slice(0, Math.floor(lines.length * 0.6)))
    clock.now += 400 * hour
    expect(await copy.runDue()).toBeGreaterThan(0)
    await copy.importMessages(lines)
    await Promise.all([space.runDue(), copy.runDue()])
    for (const line of lines) {
      if (line.kind !== 'message') continue
      const [wanted, found] = await Promise.all([space.show(line.message.id), copy.show(line.message.id)])
      const states = (receipts: typeof wanted.receipts) =>
        receipts.map(({ recipient, state }) => `${recipient} ${state}`)
      expect(states(found.receipts)).toEqual(states(wanted.receipts))
    }
    expect((await copy.verify({ deep: true })).problems).toEqual([])
  })

  it('may run beside another of the same file', async () => {
    const { clock, lines } = await lived(6)
    const dir = tempDir()
    const [one, other] = [
      await tempSpace({ dir, now: () => clock.now }),
      await tempSpace({ dir, now: () => clock.now }),
    ]
    /** So that the two take turns. */
    async function* slowly() {
      for (const [at, line] of lines.entries()) {
        if (at % 10 === 0) await new Promise(setImmediate)
        yield line
      }
    }
    const done = await Promise.all([one.importMessages(slowly()), other.importMessages(slowly())])
    const sum = (name: 'imported' | 'receipts' | 'agents') => done[0][name] + done[1][name]
    const count = (kind: string) => lines.filter((line) => line.kind === kind).length
    expect([sum('imported'), sum('receipts'), sum('agents')]).toEqual(
      ['message', 'receipt', 'agent'].map(count),
    )
    expect(await exported(one)).toEqual(lines)
  })
})

describe('a space that has something already', () => {
  it('keeps its agents, its mail and what was done with it', async () => {
    const from = await tempSpace()
    const ada = await from.mailbox('ada', { join: { roles: ['architect'] } })
    await from.join('bob', { roles: ['old'] })
    const { id } = await ada.send({ to: 'bob', subject: 'known' })
    const known = await exported(from)
    const bob = await from.mailbox('bob')
    await bob.ack(id)
    const { id: news } = await ada.send({ to: 'bob', subject: 'news' })

    const into = await tempSpace()
    await into.join('bob', { roles: ['new'] })
    expect(await into.importMessages(known)).toMatchObject({ imported: 1, agents: 1, agentsSkipped: 1 })
    await (await into.mailbox('bob')).read(id)
    const done = await into.importMessages(await exported(from))
    expect(done).toMatchObject({ imported: 1, skipped: 1, receipts: 0, agents: 0, agentsSkipped: 2 })
    // What bob did with it here counts.
    expect((await into.show(id)).receipts[0]).toMatchObject({ state: 'shown' })
    expect((await into.show(news)).receipts[0]).toMatchObject({ state: 'stored' })
    expect((await into.agents()).find(({ name }) => name === 'bob')?.roles).toEqual(['new'])
  })

  it('takes the steps that came since the last import, of mail that nobody handled here', async () => {
    const from = await tempSpace()
    const ada = await from.mailbox('ada')
    const { id } = await ada.send({ to: 'ada' })
    const into = await tempSpace()
    await into.importMessages(await exported(from))
    await ada.ack(id, { note: 'seen' })
    expect(await into.importMessages(await exported(from))).toMatchObject({ skipped: 1, receipts: 1 })
    expect((await into.show(id)).receipts).toEqual((await from.show(id)).receipts)
  })
})

describe('settings', () => {
  it('are restored into a space without mail, but for secrets and paths', async () => {
    const dir = tempDir()
    mkdirSync(dir, { recursive: true })
    writeFileSync(
      join(dir, 'config.json'),
      JSON.stringify({
        ...{ 'limits.inbox': 7, webhook: 'https://hooks.example.org/T0/secret', leads: ['boss'] },
        ...{ 'journal.mirror': '', 'colour.of.tomorrow': 'red' },
      }),
    )
    const from = await tempSpace({ dir })
    await (await from.mailbox('ada')).send({ to: 'ada' })
    const lines = await exported(from)
    expect(lines[1]).toEqual({ kind: 'settings', settings: { leads: ['boss'], 'limits.inbox': 7 } })
    expect(JSON.stringify(lines)).not.toContain('secret')

    const into = await tempSpace()
    writeSetting(into.dir, 'leads', ['chief'])
    expect(await into.importMessages(lines)).toMatchObject({ settings: 1 })
    const config = () => JSON.parse(readFileSync(join(into.dir, 'config.json'), 'utf8')) as object
    expect(config()).toEqual({ leads: ['chief'], 'limits.inbox': 7 })

    const later = [{ kind: 'settings', settings: { 'limits.threadMessages': 3 } }]
    expect(await into.importMessages(later)).toMatchObject({ settings: 0 })
    expect(config()).toEqual({ leads: ['chief'], 'limits.inbox': 7 })
  })
})

describe('a claim', () => {
  it('keeps its number, and the next one has a higher one', async () => {
    const from = await tempSpace()
    const ada = await from.mailbox('ada', { join: { roles: ['architect'] } })
    for (let n = 0; n < 20; n++) await ada.update({ note: `${n}` })
    const { id } = await ada.send({ to: 'role:architect' })
    const { claim } = await ada.claim(id)

    const clock = { now: Date.now() }
    const into = await tempSpace({ now: () => clock.now })
    await into.importMessages(await exported(from))
    // Fewer entries than there: the next seq is below the number of the claim.
    expect(await into.lastSeq()).toBeLessThan(claim.number!)
    const moved = await into.mailboxOfRun('ada', { join: false })
    expect((await moved.inbox()).messages[0]).toMatchObject({ claimNumber: claim.number })
    await moved.ack(id, { claimNumber: claim.number! })

    clock.now += hour
    const bob = await into.mailbox('bob', { join: { roles: ['architect'] } })
    const next = await bob.claimNext('architect')
    expect(next).toMatchObject({ message: { id }, claim: { number: claim.number! + 1 } })
    await expect(moved.done(id, { claimNumber: claim.number! })).rejects.toMatchObject({ code: 'conflict' })
    await bob.done(id)
    expect((await into.show(id)).receipts[0]).toMatchObject({ state: 'archived', claimedBy: 'bob' })
  })
})

describe('imported mail', () => {
  it('is old: nobody is told of what becomes of it', async () => {
    const clock = { now: start }
    const now = () => clock.now
    const from = await tempSpace({ now })
    const lead = await from.mailbox('lead', { join: { roles: ['lead'] } })
    await from.join('bob', { roles: ['worker'] })
    await lead.send({ to: 'bob', priority: 'urgent', requiresAck: true, subject: 'unread' })
    const { id: shown } = await lead.send({ to: 'bob', requiresAck: true, subject: 'not acknowledged' })
    await (await from.mailbox('bob')).read(shown)
    await lead.send({ to: 'bob', awaitingResponse: true, payload: { withinMs: 60_000 }, subject: 'asked' })
    const lines = await exported(from)

    // At once, so that its age does not tell.
    const into = await tempSpace({ now })
    await into.importMessages(lines)
    const said = async () =>
      (await exported(into)).flatMap((line) =>
        line.kind === 'message' && line.message.from === 'system' ? line.message.replyTo : [],
      )
    for (const passed of [6 * 60_000, hour, 3 * hour, 30 * hour]) {
      clock.now = start + passed
      await into.runDue()
    }
    expect(await said()).toEqual([])
    // What is sent here is news.
    await into.join('bob')
    const { id } = await (await into.mailbox('lead')).send({ to: 'bob', priority: 'urgent', subject: 'new' })
    clock.now += hour
    await into.runDue()
    expect((await into.show(id)).receipts[0]!.steps.map(({ state }) => state)).toContain('escalated')
    expect(new Set(await said())).toEqual(new Set([id]))
  })

  it('counts for whoever sent it, in the roster or not, and for nobody as work of today', async () => {
    const { space, clock, lines } = await lived(7)
    clock.now += hour
    const into = await tempSpace({ now: () => clock.now, settings: { 'limits.ratePerMinute': 1 } })
    await into.importMessages(lines.filter(({ kind }) => kind !== 'agent'))
    const sent = async (one: typeof space) =>
      (await one.stats()).agents.flatMap(({ name, sent }) => (sent > 0 ? `${name} ${sent}` : [])).sort()
    expect(await sent(into)).toEqual(await sent(space))
    expect((await into.agents()).map(({ name }) => name)).toEqual(['user'])
    // Nor for its rate: it may send one more.
    const ada = await into.mailbox('ada')
    await ada.send({ to: 'ada' })
    await expect(ada.send({ to: 'ada' })).rejects.toMatchObject({ code: 'over_limit' })
  })

  it('of an older export comes in as messages', async () => {
    const from = await tempSpace()
    const ada = await from.mailbox('ada')
    const ids = [(await ada.send({ to: 'ada', subject: 'one' })).id, (await ada.send({ to: 'ada' })).id]
    await ada.check()
    const [one, two] = await Promise.all(ids.map((id) => from.show(id)))
    const into = await tempSpace()
    expect(await into.importMessages([one, two!.message])).toMatchObject({ imported: 2, refused: 0 })
    expect((await into.show(ids[0]!)).message).toMatchObject({ subject: 'one', from: 'ada' })
  })
})

it('names what it refuses, takes the rest, and passes over the steps of what it refused', async () => {
  const from = await tempSpace()
  const ada = await from.mailbox('ada')
  for (const subject of ['good', 'bad']) await ada.send({ to: 'ada', subject })
  await ada.check()
  const lines = (await exported(from)).map((line) =>
    line.kind === 'message' && line.message.subject === 'bad'
      ? { ...line, message: { ...line.message, from: 'a\nb' } }
      : line,
  )
  const into = await tempSpace()
  const refused: number[] = []
  const done = await into.importMessages([...lines, 'x', { kind: 'gossip' }], {
    onRefused: ({ line }) => refused.push(line),
  })
  expect(done).toMatchObject({ imported: 1, receipts: 1, refused: 3 })
  expect(done.refusals).toEqual([
    { line: 5, reason: expect.stringContaining('from must be') },
    { line: lines.length + 1, reason: 'not a JSON object' },
    { line: lines.length + 2, reason: 'unknown kind "gossip"' },
  ])
  expect(refused).toEqual([5, lines.length + 1, lines.length + 2])
  await expect(into.importMessages([{ kind: 'export', format: 9 }])).rejects.toMatchObject({
    code: 'conflict',
  })
})
