import { describe, expect, it } from 'vitest'
import { within } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'
import { needAlone } from '../helpers/with-desk.ts'
import { boxWith, byHand, journalOf, noticesTo, startAgent } from './stage.ts'

describe('with only short-lived processes, what is due is done by whoever comes next', () => {
  it('a claim that ran out goes to the next who checks, claims or waits', async () => {
    const box = await boxWith({}, 'bob --role r', 'cy --role r')
    const takes = [
      async () => (await box.json('check', '--as', 'cy')).messages[0]!.id,
      async () => (await box.json('claim', '--next', '--role', 'r', '--as', 'cy')).message.id,
      async () => (await box.json('wait', '--timeout', '0s', '--as', 'cy')).message.id,
    ]
    for (const take of takes) {
      const { message } = await box.json('send', 'role:r', '--body', 'x')
      await box.ok('claim', message.id, '--as', 'bob', '--ttl', '1ms')
      expect(await take()).toBe(message.id)
      const { receipts } = await box.json('show', message.id)
      expect(receipts).toMatchObject([{ claimedBy: 'cy', attempts: 2 }])
      await box.ok('done', message.id, '--as', 'cy')
    }
  })

  it('mail whose life is over is told to its sender by the next check of anybody', async () => {
    const box = await boxWith({}, 'ada', 'bob', 'cy')
    const { message } = await box.json('send', 'bob', '--body', 'x', '--as', 'ada', '--ttl', '1ms')
    await box.ok('check', '--as', 'cy')
    const { messages } = await box.json('check', '--as', 'ada')
    expect(messages).toMatchObject([{ from: 'system', type: 'error', replyTo: message.id }])
  })

  it('an ack that did not come, a repeat, the lead and the person: nobody has to run in between', async () => {
    const box = await boxWith({ ackTimeoutMs: 1 }, 'ada', 'bob', 'lea --role lead')
    const { message } = await box.json('send', 'bob', '--body', 'x', '--as', 'ada', '--ack')
    expect((await box.json('check', '--as', 'bob')).messages).toHaveLength(1)
    expect((await box.json('check', '--as', 'bob')).messages).toMatchObject([{ id: message.id }])
    expect((await box.json('check', '--as', 'lea')).messages).toMatchObject([{ replyTo: message.id }])
    expect((await box.json('check')).messages).toMatchObject([{ type: 'escalation', replyTo: message.id }])
  })

  it('looking at mail does nothing: inbox, show, count and log leave the journal alone', async () => {
    needAlone()
    const box = await boxWith({}, 'ada', 'bob')
    const { message } = await box.json('send', 'bob', '--body', 'x', '--as', 'ada', '--ttl', '1ms')
    const before = await box.ok('log', '--json')
    for (const words of [
      ['inbox', '--as', 'bob'],
      ['show', message.id],
      ['count', '--as', 'bob'],
    ])
      await box.ok(...words)
    expect((await box.json('show', message.id)).receipts).toMatchObject([{ state: 'expired' }])
    expect(await box.ok('log', '--json')).toBe(before)
  })

  it.each(['agents', 'dead', 'stats', 'owed'])(
    'how things stand is answered when all that is due is done: %s',
    async (verb) => {
      const box = await boxWith({}, 'ada', 'bob')
      await box.json('send', 'bob', '--as', 'ada', '--body', 'x', '--ttl', '1ms')
      await box.ok(verb)
      const log = (await box.ok('log', '--json'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(log.slice(-2)).toMatchObject([
        { kind: 'message', message: { from: 'system', to: ['ada'], type: 'error' } },
        { kind: 'receipt', step: 'expired', by: 'system' },
      ])
    },
  )
})

describe('exactly once, with 8 processes at the same moment', () => {
  it('each claim is given back once, each letter expires once, each death is noted once, each sender told once', async () => {
    const settings = { deadLetterAfterMs: 0 }
    const space = await tempSpace({ settings })
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    const names = Array.from({ length: 8 }, (_, n) => `keeper-${n}`)
    const keepers = await Promise.all(names.map((name) => startAgent(space.dir, name, { settings })))
    const victim = await startAgent(space.dir, 'victim', { roles: ['r'] })
    const claimed: string[] = []
    for (let n = 0; n < 20; n++) {
      const { id } = await ada.send({ to: 'role:r' })
      await victim.does('claim', id)
      claimed.push(id)
    }
    const dying = await ada.send({ to: 'victim' })
    const expiring = await Promise.all(Array.from({ length: 40 }, () => ada.send({ to: 'bob', ttlMs: 1 })))
    await victim.kill()
    await Promise.all(keepers.map((keeper) => keeper.does('check')))

    const times = new Map<string, number>()
    const note = (what: string) => times.set(what, (times.get(what) ?? 0) + 1)
    for (const entry of await journalOf(space)) {
      if (entry.kind === 'agent' && entry.change === 'died') note(`died ${entry.agent.name}`)
      if (entry.kind !== 'receipt' || entry.by !== 'system') continue
      for (const { id } of entry.changes) note(`${entry.step} ${id}`)
    }
    const expected = [
      'died victim',
      `dead ${dying.id}`,
      ...expiring.map(({ id }) => `expired ${id}`),
      ...claimed.map((id) => `released ${id}`),
    ]
    expect([...times.keys()].toSorted()).toEqual(expected.toSorted())
    expect([...times.values()].every((n) => n === 1)).toBe(true)
    const told = (await noticesTo(space, 'ada')).flatMap(
      ({ payload }) => (payload as { undelivered: { id: string }[] }).undelivered,
    )
    expect(told.map(({ id }) => id).toSorted()).toEqual(
      [dying.id, ...expiring.map(({ id }) => id)].toSorted(),
    )
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it("8 commands at once hand a role's mail whose claim ran out to exactly one", async () => {
    const names = Array.from({ length: 8 }, (_, n) => `w${n}`)
    const box = await boxWith({}, 'bob --role r')
    const space = await tempSpace({ dir: box.dir })
    for (const name of names) await byHand(space, name, 'r')
    const { message } = await box.json('send', 'role:r', '--body', 'x')
    await box.ok('claim', message.id, '--as', 'bob', '--ttl', '1ms')
    const claim = (name: string) => box.run(['claim', '--next', '--role', 'r', '--as', name, '--json'])
    const ran = await Promise.all(names.map(claim))
    for (const { code, stdout } of ran) expect(code, stdout).toBe(0)
    expect(ran.filter(({ stdout }) => JSON.parse(stdout).message !== null)).toHaveLength(1)
    const { receipts } = await box.json('show', message.id)
    expect(receipts).toMatchObject([{ attempts: 2 }])
    expect(receipts[0]!.steps.filter(({ state }) => state === 'released')).toHaveLength(1)
  })
})

describe('a process that waits does what is due while it waits, within seconds', () => {
  it('a claim that runs out comes to whoever waits for the role', async () => {
    const box = await boxWith({ claimTtlMs: 1_000 }, 'bob --role r', 'cy --role r')
    const { message } = await box.json('send', 'role:r', '--body', 'x')
    await box.ok('claim', message.id, '--as', 'bob')
    const waiting = box.start(['wait', '--as', 'cy', '--timeout', '30s', '--json'])
    const { code, stdout } = await within(waiting.exit, 12_000)
    expect(code).toBe(0)
    expect(JSON.parse(stdout).message.id).toBe(message.id)
  })

  it('and so does the work of a process that is killed meanwhile', async () => {
    const box = await boxWith({}, 'cy --role r')
    const bob = await startAgent(box.dir, 'bob', { roles: ['r'] })
    const { message } = await box.json('send', 'role:r', '--body', 'x')
    await bob.does('claim', message.id)
    const waiting = box.start(['wait', '--as', 'cy', '--timeout', '30s', '--json'])
    await waiting.says('Waiting for mail')
    await bob.kill()
    const { stdout } = await within(waiting.exit, 12_000)
    expect(JSON.parse(stdout).message.id).toBe(message.id)
  })

  it('a sender that waits is told that its mail was not read in time', async () => {
    const box = await boxWith({}, 'ada', 'bob')
    await box.ok('send', 'bob', '--body', 'x', '--as', 'ada', '--ttl', '1s')
    const waiting = box.start(['wait', '--as', 'ada', '--type', 'error', '--timeout', '30s', '--json'])
    const { stdout } = await within(waiting.exit, 12_000)
    expect(JSON.parse(stdout).message).toMatchObject({ from: 'system' })
  })
})
