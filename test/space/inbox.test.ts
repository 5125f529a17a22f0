import { describe, expect, test } from 'vitest'
import type { InboxMessage, Mailbox, Priority } from '../../src/mod.ts'
import { clockAt, expectRefused, hour, minute, subjects, subjectsAndStates, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

/** All pages of an inbox, with something happening between them. */
async function pages(mailbox: Mailbox, limit: number, between = async () => {}): Promise<InboxMessage[]> {
  const found: InboxMessage[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const page = await mailbox.inbox({ limit, ...(after === undefined ? {} : { after }) })
    expect(page.messages.length).toBeLessThanOrEqual(limit)
    found.push(...page.messages)
    after = page.next
    await between()
  }
  return found
}

const total = async (mailbox: Mailbox) => (await mailbox.count()).unread

describe('the inbox', () => {
  test('has the most urgent first, and among equals the oldest', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const sent: [string, Priority][] = [
      ['a', 'normal'],
      ['b', 'urgent'],
      ['c', 'low'],
      ['d', 'high'],
      ['e', 'urgent'],
      ['f', 'normal'],
    ]
    for (const [subject, priority] of sent) await bob.send({ to: 'ada', subject, priority })
    expect(subjects(await ada.inbox())).toEqual(['b', 'e', 'd', 'a', 'f', 'c'])
  })

  test('holds what was said, with its place and its state', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { warnings: _, ...sent } = await bob.send({ to: 'ada', subject: 'S', body: 'B', payload: { n: 1 } })
    expect(await ada.inbox()).toEqual({ messages: [{ ...sent, state: 'stored' }], next: null })
  })

  test('is of its agent alone', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await bob.send({ to: 'ada' })
    expect(subjects(await cy.inbox())).toEqual([])
    expect(subjects(await bob.inbox())).toEqual([])
    expect(subjects(await ada.inbox())).toEqual([''])
  })

  test('changes nothing by being read', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: ['ada', 'all'] })
    const first = await ada.inbox()
    expect(await ada.inbox()).toEqual(first)
    expect(await total(ada)).toBe(1)
  })

  test('keeps what was seen and drops what is finished, unless all is asked for', async () => {
    const { ada, bob } = await trio(await tempSpace())
    for (const subject of ['unread', 'shown', 'acked', 'failed', 'done']) {
      const { id } = await bob.send({ to: 'ada', subject })
      if (subject === 'shown') await ada.read(id)
      if (subject === 'acked') await ada.ack(id)
      if (subject === 'failed') await ada.fail(id, { reason: 'no' })
      if (subject === 'done') await ada.done(id)
    }
    expect(subjectsAndStates(await ada.inbox())).toEqual([
      'unread stored',
      'shown shown',
      'acked acked',
      'failed failed',
    ])
    expect(subjectsAndStates(await ada.inbox({ all: true }))).toEqual([
      'unread stored',
      'shown shown',
      'acked acked',
      'failed failed',
      'done archived',
    ])
    expect(subjects(await ada.inbox({ unread: true }))).toEqual(['unread'])
  })
})

describe('filters', () => {
  async function mixed() {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addTags: ['project:p'] })
    const first = await bob.send({ to: 'ada', subject: 'bob request', type: 'request', priority: 'high' })
    await cy.send({ to: 'ada', subject: 'cy text tagged', tags: ['concern:c'] })
    await cy.send({ to: 'project:p', subject: 'cy to the project', priority: 'low' })
    await bob.send({ to: 'ada', subject: 'bob more', replyTo: first.id, priority: 'urgent' })
    return { ada, first }
  }

  test('by type, one or several', async () => {
    const { ada } = await mixed()
    expect(subjects(await ada.inbox({ type: 'request' }))).toEqual(['bob request'])
    expect(subjects(await ada.inbox({ type: ['request', 'text'] }))).toHaveLength(4)
    expect(subjects(await ada.inbox({ type: 'ack' }))).toEqual([])
  })

  test('by least priority', async () => {
    const { ada } = await mixed()
    expect(subjects(await ada.inbox({ minPriority: 'high' }))).toEqual(['bob more', 'bob request'])
    expect(subjects(await ada.inbox({ minPriority: 'low' }))).toHaveLength(4)
  })

  test('by sender', async () => {
    const { ada } = await mixed()
    expect(subjects(await ada.inbox({ from: 'cy' }))).toEqual(['cy text tagged', 'cy to the project'])
  })

  test('by tag, of the message or of its address', async () => {
    const { ada } = await mixed()
    expect(subjects(await ada.inbox({ tag: 'concern:c' }))).toEqual(['cy text tagged'])
    expect(subjects(await ada.inbox({ tag: 'project:p' }))).toEqual(['cy to the project'])
  })

  test('by thread', async () => {
    const { ada, first } = await mixed()
    expect(subjects(await ada.inbox({ thread: first.threadId }))).toEqual(['bob more', 'bob request'])
  })

  test('together', async () => {
    const { ada } = await mixed()
    expect(subjects(await ada.inbox({ from: 'bob', type: 'request', minPriority: 'high' }))).toEqual([
      'bob request',
    ])
  })

  test('with pages: a page is full although most mail does not fit the filter', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    for (let n = 0; n < 30; n++) await (n % 10 === 0 ? bob : cy).send({ to: 'ada', subject: String(n) })
    const page = await ada.inbox({ from: 'bob', limit: 2 })
    expect(subjects(page)).toEqual(['0', '10'])
    expect(subjects(await ada.inbox({ from: 'bob', limit: 2, after: page.next! }))).toEqual(['20'])
  })
})

describe('pages', () => {
  test('hold everything once, in order', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await ada.update({ addRoles: ['r'], addTags: ['project:p'] })
    const priorities: Priority[] = ['low', 'urgent', 'normal']
    const kinds = ['ada', 'role:r', 'project:p', 'all', 'ada']
    for (let n = 0; n < 45; n++) {
      await bob.send({ to: kinds[n % 5]!, subject: String(n), priority: priorities[n % 3]! })
    }
    const whole = (await ada.inbox({ limit: 1_000 })).messages
    expect(whole).toHaveLength(45)
    for (const limit of [1, 7, 44, 45, 46]) expect(await pages(ada, limit)).toEqual(whole)
  })

  test('have no gap and no double while mail arrives', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await ada.update({ addTags: ['project:p'] })
    const expected: string[] = []
    for (let n = 0; n < 40; n++) expected.push((await bob.send({ to: n % 2 ? 'ada' : 'project:p' })).id)
    let arrived = 0
    const seen = await pages(ada, 6, async () => {
      if (arrived++ > 8) return
      await bob.send({ to: 'ada', priority: 'urgent' })
      expected.push((await bob.send({ to: ['ada', 'all'] })).id)
      await bob.send({ to: 'all', priority: 'high' })
    })
    const ids = seen.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    // What was there is there, and what came behind the cursor is found as well.
    expect(ids).toEqual(expected.slice(0, ids.length))
    expect(ids.length).toBeGreaterThanOrEqual(40)
  })

  test('go on when what they had shown is finished in between', async () => {
    const { ada, bob } = await trio(await tempSpace())
    for (let n = 0; n < 10; n++) await bob.send({ to: n % 2 ? 'ada' : 'all', subject: String(n) })
    const first = await ada.inbox({ limit: 4 })
    for (const { id } of first.messages) await ada.done(id)
    expect(subjects(await ada.inbox({ limit: 100, after: first.next! }))).toEqual([
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
    ])
  })
})

describe('groups', () => {
  test('a tag reaches those who carry it when they read', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addTags: ['project:inscription'] })
    await cy.send({ to: 'project:inscription', subject: 'hello' })
    expect(subjects(await ada.inbox())).toEqual(['hello'])
    expect(subjects(await bob.inbox())).toEqual([])
    await bob.update({ addTags: ['project:inscription'] })
    expect(subjects(await bob.inbox())).toEqual(['hello'])
    await ada.update({ removeTags: ['project:inscription'] })
    expect(subjects(await ada.inbox())).toEqual([])
  })

  test('each reads it once, for itself', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    const { id } = await cy.broadcast({ subject: 'hello' })
    await ada.read(id)
    expect(subjectsAndStates(await ada.inbox())).toEqual(['hello shown'])
    expect(subjectsAndStates(await bob.inbox())).toEqual(['hello stored'])
  })

  test('a newcomer sees the broadcasts that still live', async () => {
    const clock = clockAt()
    const space = await tempSpace({ now: clock.now })
    const { ada } = await trio(space)
    await ada.broadcast({ subject: 'old' })
    clock.advance(3 * hour)
    await ada.broadcast({ subject: 'new' })
    clock.advance(2 * hour)
    expect(subjects(await (await space.mailbox('zoe')).inbox())).toEqual(['new'])
  })

  test('the sender never gets its own, by whatever group', async () => {
    const { ada } = await trio(await tempSpace())
    await ada.update({ addTags: ['project:p', 'swarm:s'] })
    await ada.broadcast({})
    await ada.broadcast({ swarm: 's' })
    await ada.send({ to: ['project:p', 'swarm:s', '*'] })
    expect(await ada.inbox({ all: true })).toEqual({ messages: [], next: null })
    expect(await total(ada)).toBe(0)
    expect(subjects(await ada.check())).toEqual([])
  })

  test('the sender gets what it sends to itself by name', async () => {
    const { ada } = await trio(await tempSpace())
    await ada.send({ to: ['ada', 'all'], subject: 'note' })
    expect(subjects(await ada.inbox())).toEqual(['note'])
  })

  test('those whom the sender excludes do not get it', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await cy.send({ to: 'all', subject: 'party', exclude: ['ada'] })
    expect(subjects(await ada.inbox())).toEqual([])
    expect(await total(ada)).toBe(0)
    expect(subjects(await bob.inbox())).toEqual(['party'])
  })

  test('a broadcast to a swarm reaches its members', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addTags: ['swarm:dev'] })
    const sent = await cy.broadcast({ swarm: 'dev', subject: 'swarm' })
    expect(sent).toMatchObject({ to: ['broadcast:dev'], type: 'broadcast' })
    expect(subjects(await ada.inbox())).toEqual(['swarm'])
    expect(subjects(await bob.inbox())).toEqual([])
  })

  test('what a broadcast to a swarm carries as a tag is the swarm', async () => {
    const { ada, cy } = await trio(await tempSpace())
    await ada.update({ addTags: ['swarm:dev'] })
    await cy.broadcast({ swarm: 'dev', subject: 'swarm' })
    expect(subjects(await ada.inbox({ tag: 'swarm:dev' }))).toEqual(['swarm'])
  })
})

describe('mail that reaches an agent in several ways', () => {
  const addresses = ['ada', 'role:r', 'role:s', 'project:p', 'swarm:w', 'all']
  const combinations = Array.from({ length: 2 ** addresses.length - 1 }, (_, bits) =>
    addresses.filter((_, at) => (bits + 1) & (1 << at)),
  )

  async function crowd() {
    const space = await tempSpace()
    const ada = await space.mailbox('ada', { join: { roles: ['r', 's'], tags: ['project:p', 'swarm:w'] } })
    const bob = await space.mailbox('bob', { join: { roles: ['r', 's'] } })
    return { space, ada, bob, cy: await space.mailbox('cy') }
  }

  test('comes once, and counts once: every combination of addresses', async () => {
    const { ada, bob } = await crowd()
    for (const to of combinations) await bob.send({ to, subject: to.join(' ') })
    const listed = subjects(await ada.inbox({ limit: 1_000 }))
    expect(listed).toEqual(combinations.map((to) => to.join(' ')))
    expect(subjects(await ada.inbox({ unread: true, limit: 1_000 }))).toEqual(listed)
    expect(await total(ada)).toBe(listed.length)
  })

  test('is read once: nothing of it is left unread', async () => {
    const { ada, bob } = await crowd()
    for (const to of combinations) await bob.send({ to, subject: to.join(' ') })
    const { messages, remaining } = await ada.check({ budgetTokens: 1_000_000 })
    expect(messages).toHaveLength(combinations.length)
    expect(remaining.unread).toBe(0)
    expect(subjects(await ada.inbox({ unread: true, limit: 1_000 }))).toEqual([])
    expect(await total(ada)).toBe(0)
    expect(subjectsAndStates(await ada.inbox({ limit: 1_000 }))).toEqual(
      combinations.map((to) => `${to.join(' ')} shown`),
    )
  })

  test('still reaches the members of a group when another holder has taken the copy of the role', async () => {
    const { ada, bob, cy } = await crowd()
    const { id } = await cy.send({ to: ['role:r', 'project:p'], subject: 'both' })
    await bob.claim(id)
    expect(subjects(await ada.inbox())).toEqual(['both'])
    expect(subjectsAndStates(await ada.check())).toEqual(['both shown'])
    expect(await total(ada)).toBe(0)
  })

  test('is not shown twice when the claim on it runs out and another takes it', async () => {
    const clock = clockAt()
    const space = await tempSpace({ now: clock.now })
    const ada = await space.mailbox('ada', { join: { roles: ['r'], tags: ['project:p'] } })
    const bob = await space.mailbox('bob', { join: { roles: ['r'] } })
    const cy = await space.mailbox('cy')
    const { id } = await cy.send({ to: ['role:r', 'project:p'], subject: 'both', awaitingResponse: true })
    await ada.check()
    clock.advance(4 * 60 * minute)
    await bob.claim(id)
    expect(subjectsAndStates(await ada.inbox())).toEqual(['both shown'])
    expect(subjects(await ada.check())).toEqual([])
  })

  test('is unread again in every way when it is released', async () => {
    const { ada, bob, cy } = await crowd()
    const { id } = await cy.send({ to: ['ada', 'role:r', 'project:p'], subject: 'all three' })
    await ada.read(id)
    await ada.release(id)
    expect(subjectsAndStates(await ada.inbox())).toEqual(['all three stored'])
    expect(await total(ada)).toBe(1)
    expect(subjects(await bob.inbox())).toEqual(['all three'])
  })

  test('is not for its own sender by a role, while another holder is there', async () => {
    const { space, ada, bob } = await crowd()
    const { id } = await bob.send({ to: 'role:r', subject: 'not for me' })
    expect([subjects(await bob.inbox()), await total(bob)]).toEqual([[], 0])
    expect(subjects(await bob.check())).toEqual([])
    expect(await bob.claimNext('r')).toBeNull()
    await expectRefused(space, 'conflict', () => bob.claim(id))
    expect([subjects(await ada.inbox()), await total(ada)]).toEqual([['not for me'], 1])
    // With nobody else there, it is better done by its sender than by nobody.
    await ada.leave({ frozen: true })
    expect([subjects(await bob.inbox()), await total(bob)]).toEqual([['not for me'], 1])
    expect(await bob.claimNext('r')).toMatchObject({ message: { id } })
  })

  test('waits for a holder of its role although the agent has finished its own copy', async () => {
    const { ada, bob } = await crowd()
    const { id } = await bob.send({ to: ['ada', 'role:new'], subject: 'work' })
    await ada.done(id)
    await ada.update({ addRoles: ['new'] })
    expect(subjectsAndStates(await ada.inbox())).toEqual(['work stored'])
    expect((await ada.claimNext('new'))?.message.id).toBe(id)
  })
})

describe('mail whose life is over', () => {
  test('is not listed, not counted and not handed out', async () => {
    const clock = clockAt()
    const { ada, bob } = await trio(await tempSpace({ now: clock.now }))
    await ada.update({ addRoles: ['r'], addTags: ['project:p'] })
    const ttlMs = minute
    for (const to of ['ada', 'role:r', 'project:p', 'all']) await bob.send({ to, ttlMs })
    expect(await total(ada)).toBe(4)
    clock.advance(minute)
    expect(subjects(await ada.inbox({ all: true }))).toEqual([])
    expect(await total(ada)).toBe(0)
    expect(await ada.check()).toMatchObject({ messages: [], remaining: { unread: 0 }, next: null })
    expect(await ada.claimNext('r')).toBeNull()
  })

  test('counts as nothing, never as less, when it had come in two ways', async () => {
    const clock = clockAt()
    const { ada, bob } = await trio(await tempSpace({ now: clock.now }))
    await ada.update({ addRoles: ['r'] })
    await bob.send({ to: ['ada', 'role:r'], ttlMs: minute })
    clock.advance(minute)
    expect(await ada.count()).toEqual({ unread: 0, byPriority: { low: 0, normal: 0, high: 0, urgent: 0 } })
  })

  test('does not come back by being released', async () => {
    const clock = clockAt()
    const { ada, bob } = await trio(await tempSpace({ now: clock.now }))
    const { id } = await bob.send({ to: 'ada', ttlMs: minute })
    await ada.read(id)
    await ada.release(id)
    expect(await total(ada)).toBe(1)
    clock.advance(minute)
    expect(subjects(await ada.inbox())).toEqual([])
    expect(await total(ada)).toBe(0)
  })

  test('stays where it was seen in time', async () => {
    const clock = clockAt()
    const { ada, bob } = await trio(await tempSpace({ now: clock.now }))
    const { id } = await bob.send({ to: 'ada', subject: 'seen', ttlMs: minute })
    await ada.read(id)
    clock.advance(hour)
    expect(subjectsAndStates(await ada.inbox())).toEqual(['seen shown'])
    expect((await ada.done(id)).state).toBe('archived')
  })

  test.each(['ada', 'role:r', 'project:p', 'all'])(
    'to %s is shown as expired and can no longer be taken',
    async (to) => {
      const clock = clockAt()
      const { ada, bob } = await trio(await tempSpace({ now: clock.now }))
      await ada.update({ addRoles: ['r'], addTags: ['project:p'] })
      const { id } = await bob.send({ to, ttlMs: minute })
      clock.advance(minute)
      expect((await ada.read(id)).state).toBe('expired')
      await expect(ada.ack(id)).rejects.toMatchObject({ code: 'conflict' })
      expect((await bob.show(id)).receipts).toMatchObject([{ state: 'expired' }])
    },
  )

  test('to a role waits for ever unless it is told otherwise', async () => {
    const clock = clockAt()
    const space = await tempSpace({ now: clock.now })
    const { bob } = await trio(space)
    await bob.send({ to: 'role:later', subject: 'patience' })
    clock.advance(9_000 * hour)
    const zoe = await space.mailbox('zoe', { join: { roles: ['later'] } })
    expect(subjects(await zoe.inbox())).toEqual(['patience'])
  })
})

describe('the unread count', () => {
  test('is the length of the unread inbox, by priority', async () => {
    const { ada, bob } = await trio(await tempSpace())
    for (const priority of ['urgent', 'urgent', 'high', 'low'] as const)
      await bob.send({ to: 'ada', priority })
    const read = await bob.send({ to: 'ada', priority: 'urgent' })
    await ada.read(read.id)
    expect(await ada.count()).toEqual({ unread: 4, byPriority: { low: 1, normal: 0, high: 1, urgent: 2 } })
  })

  test('of a role goes down for all holders when one claims', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addRoles: ['r'] })
    await bob.update({ addRoles: ['r'] })
    const { id } = await cy.send({ to: 'role:r' })
    expect([await total(ada), await total(bob)]).toEqual([1, 1])
    await ada.claim(id)
    expect([await total(ada), await total(bob)]).toEqual([0, 0])
    await ada.release(id)
    expect([await total(ada), await total(bob)]).toEqual([1, 1])
  })
})
