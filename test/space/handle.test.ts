import { describe, expect, test } from 'vitest'
import { clockAt, expectRefused, minute, subjects, subjectsAndStates, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

async function holders(now?: () => number) {
  const space = await tempSpace(now === undefined ? {} : { now })
  const { ada, bob, cy } = await trio(space)
  await ada.update({ addRoles: ['r'] })
  await bob.update({ addRoles: ['r'] })
  return { space, ada, bob, cy }
}

describe('handling mail', () => {
  test('step by step, each answer with the message and its state', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id, subject } = await bob.send({ to: 'ada', subject: 'S' })
    expect(await ada.ack(id)).toMatchObject({ message: { id, subject }, state: 'acked' })
    expect((await ada.start(id)).state).toBe('processing')
    expect((await ada.fail(id, { reason: 'no disk' })).state).toBe('failed')
    expect((await ada.retry(id)).state).toBe('stored')
    expect((await ada.claim(id)).state).toBe('shown')
    expect((await ada.release(id)).state).toBe('stored')
    expect((await ada.done(id, { archive: false })).state).toBe('completed')
    expect((await ada.archive(id)).state).toBe('archived')
  })

  test('done archives with it', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await bob.send({ to: 'ada' })
    expect((await ada.done(id, { note: 'merged' })).state).toBe('archived')
    expect(subjects(await ada.inbox())).toEqual([])
  })

  test('saying something twice is no error and writes nothing', async () => {
    const { space, ada, cy } = await holders()
    const direct = await cy.send({ to: 'ada' })
    const role = await cy.send({ to: 'role:r' })
    const group = await cy.broadcast({})
    for (const { id } of [direct, role, group]) {
      for (const step of ['ack', 'start', 'release', 'archive'] as const) {
        await ada[step](id)
        const { entries } = await space.verify()
        await ada[step](id)
        expect((await space.verify()).entries).toBe(entries)
      }
    }
  })

  test('mail of others is theirs', async () => {
    const space = await tempSpace()
    const { bob, cy } = await trio(space)
    const { id } = await bob.send({ to: 'ada' })
    for (const step of ['ack', 'claim', 'start', 'done', 'release', 'retry', 'archive'] as const) {
      await expectRefused(space, 'not_permitted', () => cy[step](id))
    }
    await expectRefused(space, 'not_permitted', () => cy.fail(id, { reason: 'x' }))
  })

  test('what is finished cannot be started again', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const { id } = await bob.send({ to: 'ada' })
    await ada.done(id)
    for (const step of ['start', 'claim', 'release', 'retry'] as const) {
      await expectRefused(space, 'conflict', () => ada[step](id))
    }
  })

  test('only what failed is retried', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const { id } = await bob.send({ to: 'ada' })
    await ada.ack(id)
    await expectRefused(space, 'conflict', () => ada.retry(id))
  })

  test('may name a message by the beginning of its id', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await bob.send({ to: 'ada' })
    expect((await ada.ack(id.slice(0, 30))).message.id).toBe(id)
  })

  test.each([
    'ack',
    'claim',
    'start',
    'done',
    'release',
    'retry',
    'archive',
    'read',
    'show',
    'withdraw',
    'reply',
  ] as const)('%s of a message that is not there is refused', async (verb) => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    await expectRefused(space, 'not_found', () => ada[verb]('019a8000-0000-7000-8000-000000000001'))
  })
})

describe('a claim', () => {
  test('has one winner; the others get a conflict', async () => {
    const clock = clockAt()
    const { space, ada, bob, cy } = await holders(clock.now)
    const { id } = await cy.send({ to: 'role:r' })
    expect((await ada.claim(id)).claim).toEqual({
      number: await space.lastSeq(),
      messageId: id,
      agent: 'ada',
      until: '2026-11-15T10:15:00.000Z',
      attempt: 1,
    })
    const error = await expectRefused(space, 'conflict', () => bob.claim(id))
    expect(error.message).toContain('ada')
    expect(subjects(await bob.inbox())).toEqual([])
  })

  test('lasts as long as the claimant wants', async () => {
    const clock = clockAt()
    const { ada, cy } = await holders(clock.now)
    const { id } = await cy.send({ to: 'role:r' })
    expect((await ada.claim(id, { ttlMs: minute })).claim.until).toBe('2026-11-15T10:01:00.000Z')
  })

  test('takes the next of a role: the oldest of the most urgent, until none is left', async () => {
    const { ada, bob, cy } = await holders()
    for (const [subject, priority] of [
      ['a', 'normal'],
      ['b', 'urgent'],
      ['c', 'urgent'],
      ['d', 'low'],
    ] as const) {
      await cy.send({ to: 'role:r', subject, priority })
    }
    const order: (string | undefined)[] = []
    for (let n = 0; n < 5; n++) order.push((await (n % 2 ? ada : bob).claimNext('r'))?.message.subject)
    expect(order).toEqual(['b', 'c', 'a', 'd', undefined])
  })

  test('of the next is for holders of the role', async () => {
    const { space, cy } = await holders()
    await expectRefused(space, 'not_permitted', () => cy.claimNext('r'))
  })

  test('that is released is free for all holders', async () => {
    const { ada, bob, cy } = await holders()
    const { id } = await cy.send({ to: 'role:r', subject: 'work' })
    await ada.claim(id)
    await ada.release(id)
    expect(subjectsAndStates(await bob.inbox())).toEqual(['work stored'])
    expect((await bob.claim(id)).claim).toMatchObject({ agent: 'bob', attempt: 2 })
  })

  test('that has run out does not keep another from claiming', async () => {
    const clock = clockAt()
    const { space, ada, bob, cy } = await holders(clock.now)
    const { id } = await cy.send({ to: 'role:r' })
    await ada.claim(id)
    clock.advance(15 * minute - 1)
    await expectRefused(space, 'conflict', () => bob.claim(id))
    clock.advance(1)
    expect((await bob.claim(id)).claim).toMatchObject({ agent: 'bob', attempt: 2 })
    await expectRefused(space, 'conflict', () => ada.done(id))
  })

  test('that has run out shows the mail to the other holders again', async () => {
    const clock = clockAt()
    const { ada, bob, cy } = await holders(clock.now)
    const { id } = await cy.send({ to: 'role:r', subject: 'work' })
    await ada.claim(id)
    expect(subjects(await bob.inbox())).toEqual([])
    clock.advance(15 * minute)
    expect(subjectsAndStates(await bob.inbox({ unread: true }))).toEqual(['work stored'])
    expect((await bob.count()).unread).toBe(1)
    expect(subjects(await bob.check())).toEqual(['work'])
  })

  test('that has run out is the next of the role', async () => {
    const clock = clockAt()
    const { ada, bob, cy } = await holders(clock.now)
    const { id } = await cy.send({ to: 'role:r' })
    await ada.claim(id)
    clock.advance(15 * minute)
    expect((await bob.claimNext('r'))?.message.id).toBe(id)
  })

  test('is renewed by claiming again', async () => {
    const clock = clockAt()
    const { space, ada, bob, cy } = await holders(clock.now)
    const { id } = await cy.send({ to: 'role:r' })
    await ada.claim(id)
    clock.advance(10 * minute)
    expect((await ada.claim(id)).claim).toMatchObject({ until: '2026-11-15T10:25:00.000Z', attempt: 1 })
    clock.advance(10 * minute)
    await expectRefused(space, 'conflict', () => bob.claim(id))
  })

  test('is kept by an agent that gives the role up', async () => {
    const { ada, cy } = await holders()
    const { id } = await cy.send({ to: 'role:r', subject: 'work' })
    await ada.claim(id)
    await ada.update({ removeRoles: ['r'] })
    expect(subjects(await ada.inbox())).toEqual(['work'])
    expect((await ada.done(id)).state).toBe('archived')
  })

  test('reaches whoever takes the role later', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    const sent = await bob.send({ to: 'role:later', subject: 'work' })
    expect(sent.warnings).toHaveLength(1)
    await ada.update({ addRoles: ['later'] })
    expect((await ada.claimNext('later'))?.message.id).toBe(sent.id)
  })

  test.each([Number.NaN, 0, -5, Number.POSITIVE_INFINITY, 1e20])('of %s ms is refused', async (ttlMs) => {
    const { space, ada, cy } = await holders()
    const { id } = await cy.send({ to: 'role:r' })
    await expectRefused(space, 'invalid', () => ada.claim(id, { ttlMs }))
    await expectRefused(space, 'invalid', () => ada.claimNext('r', { ttlMs }))
  })
})

describe('withdrawing', () => {
  test.each(['ada', 'role:r', 'all', 'project:p'])('takes mail to %s back before it is seen', async (to) => {
    const { ada, cy } = await holders()
    await ada.update({ addTags: ['project:p'] })
    const { id } = await cy.send({ to })
    expect((await cy.withdraw(id)).id).toBe(id)
    expect(subjects(await ada.inbox())).toEqual([])
    expect((await ada.count()).unread).toBe(0)
    expect(subjects(await ada.check())).toEqual([])
    await expect(ada.ack(id)).rejects.toMatchObject({ code: 'conflict' })
    expect((await cy.show(id)).receipts).toMatchObject([{ state: 'withdrawn' }])
  })

  test('comes too late when one recipient has seen it', async () => {
    const { space, ada, bob, cy } = await holders()
    const { id } = await cy.broadcast({})
    await ada.read(id)
    await expectRefused(space, 'conflict', () => cy.withdraw(id))
    expect(subjects(await bob.inbox())).toHaveLength(1)
  })

  test('is for the sender', async () => {
    const { space, ada, bob } = await holders()
    const { id } = await bob.send({ to: 'ada' })
    await expectRefused(space, 'not_permitted', () => ada.withdraw(id))
  })
})

describe('the roster', () => {
  test('has a rising generation for every run', async () => {
    const space = await tempSpace()
    const generations: number[] = []
    for (let n = 0; n < 3; n++) generations.push((await space.join('ada')).session.generation)
    expect(generations).toEqual([1, 2, 3])
  })

  test('lists everybody by name, with the person', async () => {
    const space = await tempSpace()
    await trio(space)
    await space.leave('bob', { frozen: true })
    await space.leave('cy')
    expect((await space.agents()).map(({ name, state }) => [name, state])).toEqual([
      ['user', 'alive'],
      ['ada', 'alive'],
      ['bob', 'frozen'],
      ['cy', 'dead'],
    ])
  })

  test('does not join an agent that is there', async () => {
    const space = await tempSpace()
    await space.mailbox('ada')
    await space.mailbox('ada')
    expect((await space.agents()).find(({ name }) => name === 'ada')?.session.generation).toBe(1)
  })

  test('keeps mail for an agent while it is frozen', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    await bob.leave({ frozen: true })
    await ada.send({ to: 'bob', subject: 'welcome back' })
    await space.join('bob')
    expect(subjects(await bob.inbox())).toEqual(['welcome back'])
  })

  test('holds mail for an agent yet to come', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    await expectRefused(space, 'unknown_recipient', () => ada.send({ to: 'zoe' }))
    await ada.send({ to: 'zoe', hold: true, subject: 'welcome' })
    expect(subjects(await (await space.mailbox('zoe')).inbox())).toEqual(['welcome'])
  })

  test('has agents whose names differ in a slash, a space and in script', async () => {
    const space = await tempSpace()
    const names = ['swarm_dev/architect', 'swarm_dev_architect', 'Eve', 'ada', '..', '建築家', 'Ada Lovelace']
    const { bob } = await trio(space)
    for (const name of names) await space.mailbox(name)
    for (const name of names) await bob.send({ to: name, subject: name })
    for (const name of names) expect(subjects(await (await space.mailbox(name)).inbox())).toEqual([name])
  })
})
