import { describe, expect, it, onTestFinished } from 'vitest'
import type { Mailbox, Settings } from '../../src/mod.ts'
import { minute, reopen, subjects, within } from '../helpers/scene.ts'
import { byHand, ladderOf, scene } from './stage.ts'

const leastBusy = { 'roles.assign': 'least-busy' } as const

/** Ada sends; bob, cy and dan hold the role. */
async function team(settings: Partial<Settings> = leastBusy) {
  const { space, clock, pass } = await scene(settings)
  const ada = await byHand(space, 'ada')
  const holders: Record<string, Mailbox> = {}
  for (const name of ['bob', 'cy', 'dan']) holders[name] = await byHand(space, name, 'r')
  const others = (name: string) => Object.values(holders).filter((one) => one.name !== name)
  return { space, clock, pass, ada, holders, others }
}

describe('mail to a role, least busy first', () => {
  it('is offered to the holder with the least open work, and to nobody else for a while', async () => {
    const { space, clock, ada, holders } = await team()
    // What bob has claimed and what cy was assigned by name is open work; what dan has read is none.
    await ada.send({ to: 'role:r', subject: 'first', type: 'task_assignment', priority: 'urgent' })
    await holders['bob']!.check()
    await ada.send({ to: 'cy', type: 'task_assignment' })
    for (const body of ['a', 'b', 'c']) await ada.send({ to: 'dan', body })
    await holders['dan']!.check()

    const sent = await ada.send({ to: 'role:r', subject: 'second' })
    expect(sent).toMatchObject({
      offeredTo: 'dan',
      offeredUntil: new Date(clock.now() + 10 * minute).toISOString(),
    })
    for (const name of ['bob', 'cy']) {
      const other = holders[name]!
      expect(subjects(await other.inbox({ unread: true })), name).not.toContain('second')
      expect(subjects(await other.check())).not.toContain('second')
      expect(await other.claimNext('r')).toBeNull()
      expect((await other.count()).unread).toBe(0)
    }
    expect((await holders['dan']!.count()).unread).toBe(1)
    expect(subjects(await holders['dan']!.check())).toEqual(['second'])
    expect(await ladderOf(space, sent.id)).toEqual(['stored', 'claimed', 'shown'])
  })

  it('goes round where all have the same to do, and offers count as work', async () => {
    const { ada } = await team()
    const offered = new Set<string>()
    for (let n = 0; n < 3; n++) offered.add((await ada.send({ to: 'role:r' })).offeredTo!)
    expect([...offered].sort()).toEqual(['bob', 'cy', 'dan'])
  })

  it('is free for every holder when it was not taken in time', async () => {
    const { space, ada, holders, others, pass } = await team()
    const { id, offeredTo } = await ada.send({ to: 'role:r', subject: 'work' })
    const [other, third] = others(offeredTo!)
    await pass(10 * minute - 1)
    expect((await other!.count()).unread).toBe(0)
    await pass(1)
    expect((await other!.count()).unread).toBe(1)
    expect((await holders[offeredTo!]!.count()).unread).toBe(1)
    expect(subjects(await third!.check())).toEqual(['work'])
    const [receipt] = (await space.show(id)).receipts
    expect(receipt!.steps[1]).toMatchObject({
      state: 'released',
      by: 'system',
      note: `${offeredTo} did not take it in time`,
    })
    expect(receipt).toMatchObject({ claimedBy: third!.name, attempts: 1 })
  })

  it.each<[string, (holder: Mailbox, space: Awaited<ReturnType<typeof team>>['space']) => Promise<unknown>]>([
    ['leaves', (holder) => holder.leave()],
    ['is frozen', (holder, space) => space.leave(holder.name, { frozen: true })],
    ['gives up the role', (holder, space) => space.update(holder.name, { removeRoles: ['r'] })],
  ])('is free at once when that holder %s', async (_, go) => {
    const { space, ada, holders, others, pass } = await team()
    const { id, offeredTo } = await ada.send({ to: 'role:r', subject: 'work' })
    await go(holders[offeredTo!]!, space)
    await pass(0)
    expect((await others(offeredTo!)[0]!.claimNext('r'))?.message.id).toBe(id)
  })

  it('wakes those who wait when it becomes free, and tells nobody twice', async () => {
    const { ada, holders, others, pass } = await team()
    const controllers: AbortController[] = []
    onTestFinished(() => {
      for (const one of controllers) one.abort()
    })
    const arriving = (mailbox: Mailbox) => {
      const controller = new AbortController()
      controllers.push(controller)
      return mailbox.watch({ signal: controller.signal })
    }
    const watches = Object.fromEntries(Object.values(holders).map((one) => [one.name, arriving(one)]))
    const firsts = Object.fromEntries(Object.entries(watches).map(([name, watch]) => [name, watch.next()]))
    const { offeredTo } = await ada.send({ to: 'role:r', subject: 'work' })
    expect((await within(firsts[offeredTo!]!)).value).toMatchObject({ subject: 'work' })
    await pass(10 * minute)
    for (const { name } of others(offeredTo!))
      expect((await within(firsts[name]!)).value).toMatchObject({ subject: 'work' })
    await ada.send({ to: offeredTo!, subject: 'more' })
    expect((await within(watches[offeredTo!]!.next())).value).toMatchObject({ subject: 'more' })
  })

  it('is counted for nobody else, its sender included', async () => {
    const { holders } = await team()
    const { offeredTo } = await holders['bob']!.send({ to: 'role:r' })
    expect(['cy', 'dan']).toContain(offeredTo)
    const counts = await Promise.all(
      Object.values(holders).map(async (one) => [one.name, (await one.count()).unread]),
    )
    expect(Object.fromEntries(counts)).toEqual({ bob: 0, cy: 0, dan: 0, [offeredTo!]: 1 })
  })

  it('may still be claimed by name of the message: an offer is no claim', async () => {
    const { space, ada, others } = await team()
    const { id, offeredTo } = await ada.send({ to: 'role:r' })
    const other = others(offeredTo!)[0]!
    expect((await other.claim(id)).claim).toMatchObject({ agent: other.name, attempt: 1 })
    expect(await space.runDue()).toBe(0)
  })

  it('is the same for every door to the space, and after the index is rebuilt', async () => {
    const { space, ada, others } = await team()
    const { offeredTo } = await ada.send({ to: 'role:r' })
    const door = await reopen(space)
    const other = await door.mailbox(others(offeredTo!)[0]!.name)
    expect((await other.count()).unread).toBe(0)
    await space.rebuild()
    expect((await other.inbox()).messages).toEqual([])
    expect((await (await door.mailbox(offeredTo!)).count()).unread).toBe(1)
  })
})

describe('mail to a role goes to whoever comes first', () => {
  it.each<[string, Partial<Settings>, object]>([
    ['by default', {}, { to: 'role:r' }],
    ['where the setting names other roles', { 'roles.assign': 'x=least-busy' }, { to: 'role:r' }],
    ['where it is left out for one role', { 'roles.assign': 'least-busy, r=queue' }, { to: 'role:r' }],
    ['without a time for the first', { ...leastBusy, 'roles.offerMs': 0 }, { to: 'role:r' }],
    ['if it is urgent', leastBusy, { to: 'role:r', priority: 'urgent' }],
    ['if others get it as well', leastBusy, { to: ['role:r', 'ada'] }],
    ['if nobody has the role', leastBusy, { to: 'role:none' }],
  ])('%s', async (_, settings, input) => {
    const { ada } = await team(settings)
    expect(await ada.send(input as { to: string })).not.toHaveProperty('offeredTo')
  })

  it('if only one holder besides its sender is there', async () => {
    const { space, holders } = await team()
    await space.leave('dan', { frozen: true })
    expect(await holders['bob']!.send({ to: 'role:r' })).not.toHaveProperty('offeredTo')
  })
})

it('senders cannot offer mail to whom they like', async () => {
  const { ada } = await team({})
  const forged = { to: 'role:r', offeredTo: 'cy', offeredUntil: '2030-01-01T00:00:00.000Z' }
  await expect(ada.send(forged)).rejects.toMatchObject({ code: 'invalid' })
})
