import { describe, expect, it } from 'vitest'
import type { LocalSpace, Settings } from '../../src/mod.ts'
import { startScript } from '../helpers/processes.ts'
import { expectRefused, minute } from '../helpers/scene.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempSpace } from '../helpers/temp.ts'
import { boxWith, byHand, journalOf, scene, second } from './stage.ts'

interface Told {
  sent: string[]
  refused: Record<string, number>
  hints: number
}

/** So many processes, each of which sends so many messages, all at the same moment. */
async function sendAtOnce(
  dir: string,
  senders: readonly string[],
  count: number,
  input: object,
): Promise<Told[]> {
  const script = new URL('sender.mjs', import.meta.url)
  const args = (name: string) => [dir, name, String(count), JSON.stringify(input)]
  const processes = senders.map((name) => startScript(script, args(name)))
  await Promise.all(processes.map((one) => one.line('ready')))
  for (const one of processes) one.tell('go')
  const lines = await Promise.all(processes.map((one) => one.line(/^done /)))
  return lines.map((line) => JSON.parse(line.slice('done '.length)) as Told)
}

const total = (told: readonly Told[]) => ({
  sent: told.flatMap(({ sent }) => sent),
  refused: told.reduce((sum, { refused }) => sum + (refused['over_limit'] ?? 0), 0),
  otherwise: told.flatMap(({ refused }) => Object.keys(refused).filter((code) => code !== 'over_limit')),
  hints: told.reduce((sum, { hints }) => sum + hints, 0),
})

/** A space on disk with its settings, for processes that read them there. */
async function spaceWith(settings: Partial<Settings>): Promise<LocalSpace> {
  const box = await boxWith(settings)
  return tempSpace({ dir: box.dir, settings: settings })
}

async function messagesIn(space: LocalSpace): Promise<string[]> {
  return (await journalOf(space)).flatMap((entry) => (entry.kind === 'message' ? [entry.message.id] : []))
}

const crowd = inStorm(20, 8)

describe('unhandled direct and role mail in one inbox (`limits.inbox`)', () => {
  for (const to of ['bob', 'role:r']) {
    it(`a cap of 100 holds for ${crowd} processes at once: exactly 100 to ${to} are stored`, async () => {
      const space = await spaceWith({ 'limits.inbox': 100, 'limits.ratePerMinute': 0 })
      await byHand(space, 'bob', 'r')
      // One sender, in as many processes: the limit is one for each sender.
      const names = Array.from({ length: crowd }, () => 'sender')
      await byHand(space, 'sender')
      const told = total(await sendAtOnce(space.dir, names, 200 / crowd, { to }))
      expect(told).toMatchObject({ refused: 100, hints: 100, otherwise: [] })
      expect(told.sent).toHaveLength(100)
      expect((await messagesIn(space)).toSorted()).toEqual(told.sent.toSorted())
      expect((await space.verify({ deep: true })).problems).toEqual([])
    })
  }

  it('over it the command line exits with 7, names the limit and gives a hint', async () => {
    const box = await boxWith({ 'limits.inbox': 3 }, 'ada', 'bob')
    const sends = Array.from({ length: 6 }, () =>
      box.run(['send', 'bob', '--body', 'x', '--as', 'ada', '--json']),
    )
    const ran = await Promise.all(sends)
    expect(ran.map(({ code }) => code).toSorted()).toEqual([0, 0, 0, 7, 7, 7])
    for (const { stdout } of ran.filter(({ code }) => code === 7)) {
      const { error } = JSON.parse(stdout)
      expect(error).toMatchObject({ code: 'over_limit', message: expect.stringContaining('limits.inbox') })
      expect(error.hint).toContain('mailbox config set limits.inbox')
    }
    expect((await box.json('inbox', '--as', 'bob')).messages).toHaveLength(3)
  })

  it('what is handled makes room; what is only read does not', async () => {
    const { space } = await scene({ 'limits.inbox': 2 })
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    const { id } = await ada.send({ to: 'bob' })
    await ada.send({ to: 'bob' })
    await bob.check()
    await expectRefused(space, 'over_limit', () => ada.send({ to: 'bob' }))
    await bob.done(id)
    await expect(ada.send({ to: 'bob' })).resolves.toBeDefined()
  })

  it('what has expired makes room as well', async () => {
    const { space, clock } = await scene({ 'limits.inbox': 2 })
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    for (const _ of [1, 2]) await ada.send({ to: 'bob', ttlMs: second })
    clock.advance(minute)
    await expect(ada.send({ to: 'bob' })).resolves.toBeDefined()
  })

  it('one full box among several addresses refuses the whole message', async () => {
    const { space } = await scene({ 'limits.inbox': 1 })
    const ada = await byHand(space, 'ada')
    for (const name of ['bob', 'cy']) await byHand(space, name)
    await ada.send({ to: 'bob' })
    await expectRefused(space, 'over_limit', () => ada.send({ to: ['cy', 'bob'] }))
    await expect(ada.send({ to: 'cy' })).resolves.toBeDefined()
  })

  it("unread group mail fills nobody's inbox", async () => {
    const { space } = await scene({ 'limits.inbox': 2 })
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    for (let n = 0; n < 5; n++) await ada.broadcast({})
    await expect(ada.send({ to: 'bob' })).resolves.toBeDefined()
  })

  it('what the system has to say is never refused', async () => {
    const { space } = await scene({ 'limits.inbox': 1 })
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    await bob.send({ to: 'ada' })
    await ada.send({ to: 'bob' })
    await bob.leave()
    expect((await ada.check()).messages).toMatchObject([{ from: 'bob' }, { from: 'system' }])
  })
})

describe('per-agent rate (`limits.ratePerMinute`)', () => {
  it(`is exact over ${crowd} processes of one sender name`, async () => {
    const space = await spaceWith({ 'limits.ratePerMinute': 100, 'limits.inbox': 0 })
    for (const name of ['ada', 'bob', 'cy']) await byHand(space, name)
    const names = Array.from({ length: crowd }, () => 'ada')
    const told = total(await sendAtOnce(space.dir, names, 200 / crowd, { to: 'bob' }))
    expect(told).toMatchObject({ refused: 100, hints: 100, otherwise: [] })
    expect(told.sent).toHaveLength(100)
    expect((await messagesIn(space)).toSorted()).toEqual(told.sent.toSorted())
    const cy = await space.mailbox('cy', { join: false })
    await expect(cy.send({ to: 'bob' })).resolves.toBeDefined()
  })

  it('counts the last minute, whatever the address, and forgets what is older', async () => {
    const { space, clock } = await scene({ 'limits.ratePerMinute': 3 })
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    await ada.send({ to: 'bob' })
    clock.advance(30 * second)
    await ada.broadcast({})
    await ada.send({ to: 'role:r' })
    const error = await expectRefused(space, 'over_limit', () => ada.send({ to: 'bob' }))
    expect(error.message).toContain('limits.ratePerMinute')
    clock.advance(29 * second)
    await expectRefused(space, 'over_limit', () => ada.send({ to: 'bob' }))
    clock.advance(second)
    await ada.send({ to: 'bob' })
    await expectRefused(space, 'over_limit', () => ada.send({ to: 'bob' }))
  })

  it('exits with 7 on the command line, where every message is another process', async () => {
    const box = await boxWith({ 'limits.ratePerMinute': 2 }, 'ada', 'bob')
    for (const _ of [1, 2]) await box.ok('send', 'bob', '--body', 'x', '--as', 'ada')
    expect(await box.refused(7, 'send', 'bob', '--body', 'x', '--as', 'ada')).toMatchObject({
      code: 'over_limit',
      hint: expect.stringContaining('limits.ratePerMinute'),
    })
    await box.ok('send', 'ada', '--body', 'x', '--as', 'bob')
  })

  it('a key that was used before is no new message', async () => {
    const { space } = await scene({ 'limits.ratePerMinute': 1 })
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    const first = await ada.send({ to: 'bob', key: 'k' })
    expect((await ada.send({ to: 'bob', key: 'k' })).id).toBe(first.id)
  })
})

describe('size (`limits.messageBytes`)', () => {
  it('counts body, payload and context, and refuses what is a byte too long', async () => {
    const { space } = await scene({ 'limits.messageBytes': 100 })
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    await ada.send({ to: 'bob', body: 'x'.repeat(100) })
    const error = await expectRefused(space, 'over_limit', () =>
      ada.send({ to: 'bob', body: 'x'.repeat(101) }),
    )
    expect(error.message).toContain('limits.messageBytes')
    await expectRefused(space, 'over_limit', () => ada.send({ to: 'bob', body: 'é'.repeat(51) }))
    await expectRefused(space, 'over_limit', () =>
      ada.send({ to: 'bob', body: 'x'.repeat(50), payload: { a: 'x'.repeat(50) } }),
    )
  })

  it('exits with 7 on the command line', async () => {
    const box = await boxWith({ 'limits.messageBytes': 10 }, 'bob')
    expect((await box.refused(7, 'send', 'bob', '--body', 'x'.repeat(11))).code).toBe('over_limit')
    await box.ok('send', 'bob', '--body', 'x'.repeat(10))
  })
})

describe('0 means no limit', () => {
  it('`mailbox config set limits.inbox 0` sets it for the space', async () => {
    const box = await boxWith({ 'limits.inbox': 1, 'limits.ratePerMinute': 1 }, 'ada', 'bob')
    await box.ok('send', 'bob', '--body', 'x', '--as', 'ada')
    await box.refused(7, 'send', 'bob', '--body', 'x', '--as', 'ada')
    await box.ok('config', 'set', 'limits.inbox', '0')
    await box.refused(7, 'send', 'bob', '--body', 'x', '--as', 'ada')
    await box.ok('config', 'set', 'limits.ratePerMinute', '0')
    for (const _ of [1, 2, 3]) await box.ok('send', 'bob', '--body', 'x', '--as', 'ada')
  })

  it('2,000 to one box in a minute go through', async () => {
    const { space } = await scene({ 'limits.inbox': 0, 'limits.ratePerMinute': 0 })
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    await Promise.all(Array.from({ length: 2_000 }, () => ada.send({ to: 'bob' })))
    expect((await bob.count()).unread).toBe(2_000)
  })

  it('the defaults are 1,000 and 600', async () => {
    const clockless = await spaceWith({})
    expect(clockless.settings).toMatchObject({ 'limits.messageBytes': 1_048_576 })
    const { readSettings } = await import('../../src/space/settings.ts')
    expect(readSettings(clockless.dir)).toMatchObject({ 'limits.inbox': 1_000, 'limits.ratePerMinute': 600 })
  })
})

describe('warnings at inbox > 50, unacked > 10', () => {
  it('the sender of the 51st message is warned, and `stats` names the agent', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    const warned: number[] = []
    for (let n = 1; n <= 52; n++) if ((await ada.send({ to: 'bob' })).warnings.length > 0) warned.push(n)
    expect(warned).toEqual([51, 52])
    expect((await space.stats()).warnings).toEqual(['bob has 52 unread messages'])
  })

  it('50 are no reason for one', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    for (let n = 1; n <= 50; n++) await ada.send({ to: 'bob' })
    expect((await space.stats()).warnings).toEqual([])
  })

  it('`stats` names an agent that has not acked more than 10', async () => {
    const { space } = await scene()
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'bob')
    for (let n = 1; n <= 11; n++) await ada.send({ to: 'bob', requiresAck: true })
    await bob.check({ budgetTokens: 100_000 })
    expect((await space.stats()).warnings).toEqual(['bob has 11 unacknowledged messages'])
    const { messages } = await bob.inbox()
    await bob.ack(messages[0]!.id)
    expect((await space.stats()).warnings).toEqual([])
  })

  it('the command line says it on stderr, where no program trips over it', async () => {
    const box = await boxWith({}, 'ada', 'bob')
    const space = await tempSpace({ dir: box.dir })
    const ada = await space.mailbox('ada', { join: false })
    for (let n = 1; n <= 50; n++) await ada.send({ to: 'bob' })
    const { code, stdout, stderr } = await box.run(['send', 'bob', '--body', 'x', '--as', 'ada', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout).warnings).toEqual(['bob already has 50 unfinished messages'])
    expect(stderr).toContain('warning: bob already has 50 unfinished messages')
  })
})
