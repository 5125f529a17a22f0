import { describe, expect, onTestFinished, test } from 'vitest'
import type { InboxMessage, Mailbox, WatchOptions } from '../../src/mod.ts'
import { clockAt, minute, reopen, settle, trio, within } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

/** Watches until the test ends; `next` is the subject of what comes next. */
function watching(mailbox: Mailbox, options: WatchOptions = {}) {
  const controller = new AbortController()
  const stream = mailbox.watch({ ...options, signal: controller.signal })
  onTestFinished(() => controller.abort())
  return {
    next: async (): Promise<string | undefined> => (await within(stream.next())).value?.subject,
    stop: () => controller.abort(),
    stream,
  }
}

describe('watching an inbox', () => {
  test('gives the backlog, the most urgent first, and then what comes, as it comes', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'a' })
    await bob.send({ to: 'all', subject: 'b', priority: 'urgent' })
    const { next } = watching(ada)
    expect([await next(), await next()]).toEqual(['b', 'a'])
    await bob.send({ to: 'ada', subject: 'c' })
    await bob.send({ to: 'ada', subject: 'd', priority: 'urgent' })
    expect([await next(), await next()]).toEqual(['c', 'd'])
  })

  test('gives nothing twice and leaves nothing out where backlog and live mail meet', async () => {
    const space = await tempSpace()
    const { ada } = await trio(space)
    const bob = await (await reopen(space)).mailbox('bob')
    const { stream, stop } = watching(ada)
    const wanted = Array.from({ length: 120 }, (_, n) => String(n))
    const sending = (async () => {
      for (const subject of wanted) await bob.send({ to: Number(subject) % 2 ? 'ada' : 'all', subject })
    })()
    const seen: string[] = []
    for await (const { subject } of stream) {
      seen.push(subject)
      if (seen.length === wanted.length) stop()
    }
    await sending
    expect(seen).toEqual(wanted)
  })

  test('can leave the backlog out', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'old' })
    const { next } = watching(ada, { backlog: false })
    const first = next()
    await settle()
    await bob.send({ to: 'ada', subject: 'new' })
    expect(await first).toBe('new')
  })

  test('gives only what fits its filter', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await cy.send({ to: 'ada', subject: 'from cy' })
    const { next } = watching(ada, { from: 'bob', minPriority: 'high', type: 'request' })
    const first = next()
    await settle()
    await bob.send({ to: 'ada', subject: 'low', type: 'request' })
    await bob.send({ to: 'ada', subject: 'text', priority: 'high' })
    await bob.send({ to: 'ada', subject: 'wanted', priority: 'high', type: 'request' })
    expect(await first).toBe('wanted')
  })

  test('gives what reaches the agent in any way, and nothing else', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addRoles: ['r'], addTags: ['project:p'] })
    const { next } = watching(ada)
    const first = next()
    await settle()
    await bob.send({ to: 'cy', subject: 'not for ada' })
    await ada.broadcast({ subject: 'by ada' })
    await bob.send({ to: 'all', subject: 'without ada', exclude: ['ada'] })
    await cy.send({ to: 'role:r', subject: 'role' })
    await cy.send({ to: 'project:p', subject: 'tag' })
    await cy.send({ to: ['ada', 'role:r', 'project:p', 'all'], subject: 'all of them' })
    await cy.send({ to: '*', subject: 'all' })
    expect([await first, await next(), await next(), await next()]).toEqual([
      'role',
      'tag',
      'all of them',
      'all',
    ])
  })

  test('gives what was released once more', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await ada.update({ addRoles: ['r'] })
    await bob.update({ addRoles: ['r'] })
    const { next } = watching(bob)
    const first = next()
    await settle()
    const { id } = await cy.send({ to: 'role:r', subject: 'work' })
    expect(await first).toBe('work')
    await ada.claim(id)
    await ada.release(id)
    expect(await next()).toBe('work')
  })

  test('gives what failed and is retried once more', async () => {
    const { ada, bob } = await trio(await tempSpace())
    const { id } = await bob.send({ to: 'ada', subject: 'again' })
    const { next } = watching(ada)
    expect(await next()).toBe('again')
    await ada.fail(id, { reason: 'x' })
    await ada.retry(id)
    expect(await next()).toBe('again')
  })

  test('gives the mail that a new role or tag brings', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'role:r', subject: 'role' })
    await bob.send({ to: 'project:p', subject: 'tag' })
    const { next } = watching(ada)
    const first = next()
    await settle()
    await ada.update({ addRoles: ['r'] })
    expect(await first).toBe('role')
    await ada.update({ addTags: ['project:p'] })
    expect(await next()).toBe('tag')
  })

  test('does not give what was withdrawn, read or over before anybody looked', async () => {
    const clock = clockAt()
    const { ada, bob } = await trio(await tempSpace({ now: clock.now }))
    const { stream } = watching(ada)
    await bob.send({ to: 'ada', subject: 'first' })
    const seen: InboxMessage[] = [(await within(stream.next())).value!]
    // While the watcher holds the first message nobody asks for the next.
    await bob.withdraw((await bob.send({ to: 'ada', subject: 'withdrawn' })).id)
    await bob.withdraw((await bob.send({ to: 'all', subject: 'withdrawn from all' })).id)
    await ada.read((await bob.send({ to: 'ada', subject: 'read' })).id)
    await bob.send({ to: 'all', subject: 'over', ttlMs: minute })
    clock.advance(minute)
    await bob.send({ to: 'ada', subject: 'last' })
    seen.push((await within(stream.next())).value!)
    expect(seen.map(({ subject }) => subject)).toEqual(['first', 'last'])
  })

  test('marks nothing and claims nothing', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await ada.update({ addRoles: ['r'] })
    await bob.send({ to: 'role:r' })
    const { next } = watching(ada)
    await next()
    expect((await ada.inbox()).messages).toMatchObject([{ state: 'stored' }])
    expect((await ada.count()).unread).toBe(1)
  })

  test('ends when it is aborted', async () => {
    const { ada } = await trio(await tempSpace())
    const { stream, stop } = watching(ada)
    const next = stream.next()
    await settle()
    stop()
    expect(await within(next)).toEqual({ value: undefined, done: true })
  })

  test('that is aborted before it begins gives nothing', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada' })
    const seen: InboxMessage[] = []
    for await (const message of ada.watch({ signal: AbortSignal.abort() })) seen.push(message)
    expect(seen).toEqual([])
  })

  test('ends by leaving the loop', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'one' })
    await bob.send({ to: 'ada', subject: 'two' })
    for await (const { subject } of ada.watch()) {
      expect(subject).toBe('one')
      break
    }
    expect((await ada.count()).unread).toBe(2)
  })
})

describe('following the journal', () => {
  test('gives every entry in order, from where one wants, and then what comes', async () => {
    const space = await tempSpace()
    const { bob } = await trio(space)
    const { seq } = await bob.send({ to: 'ada' })
    const controller = new AbortController()
    const seen: number[] = []
    for await (const { entry } of space.follow({ after: seq - 2, signal: controller.signal })) {
      seen.push(entry.seq)
      if (entry.seq === seq) await bob.send({ to: 'ada' })
      if (entry.seq === seq + 1) controller.abort()
    }
    expect(seen).toEqual([seq - 1, seq, seq + 1])
  })
})
