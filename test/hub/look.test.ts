import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { askForHelp, escalate, submitPlan } from '../../src/mod.ts'
import { stageHub } from '../helpers/hub.ts'
import { tempDir } from '../helpers/temp.ts'

const minuteMs = 60_000

/** A space whose clock the test moves. */
async function stageWithClock() {
  const clock = { now: Date.parse('2026-11-15T09:00:00.000Z') }
  const stage = await stageHub({ open: { dir: tempDir(), now: () => clock.now } })
  return { ...stage, clock, get: async (path: string) => (await stage.ask(path)).json }
}

it('lists threads, the newest activity first, page by page, and those of a tag or an agent', async () => {
  const { space, get, clock } = await stageWithClock()
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob', { join: { tags: ['project:x'] } })
  const roots = []
  for (let n = 0; n < 7; n++) {
    clock.now += 1_000
    roots.push(
      await ada.send({ to: 'bob', subject: `thread ${n}`, tags: n % 2 === 0 ? ['concern:speed'] : [] }),
    )
  }
  clock.now += 1_000
  await bob.reply(roots[1]!.id, { body: 'about 1', priority: 'high' })
  clock.now += 1_000
  await bob.reply(roots[0]!.id, { body: 'about 0' })
  clock.now += 1_000
  await ada.send({ to: 'project:x', subject: 'for the project' })
  const pages: { id: string; subject: string }[][] = []
  for (let after: string | null = ''; after !== null; ) {
    const page: { threads: { id: string; subject: string }[]; next: string | null } = await get(
      `/api/threads?limit=3${after === '' ? '' : `&after=${after}`}`,
    )
    pages.push(page.threads)
    after = page.next
  }
  expect(pages.map((page) => page.length)).toEqual([3, 3, 2])
  expect(pages.flat().map(({ subject }) => subject)).toEqual([
    ...[
      'for the project',
      'thread 0',
      'thread 1',
      'thread 6',
      'thread 5',
      'thread 4',
      'thread 3',
      'thread 2',
    ],
  ])
  expect(pages[0]![2]).toEqual({
    id: roots[1]!.id,
    subject: 'thread 1',
    messages: 2,
    participants: ['ada', 'bob'],
    tags: [],
    firstAt: roots[1]!.createdAt,
    lastAt: '2026-11-15T09:00:08.000Z',
    lastFrom: 'bob',
    lastType: 'response',
    lastSeq: 11,
    preview: 'about 1',
    priority: 'high',
  })
  const subjects = async (query: string) =>
    (await get(`/api/threads?${query}`)).threads.map(({ subject }: { subject: string }) => subject)
  // An answer without the tag is news of a thread that has it.
  expect(await subjects('tag=concern:speed')).toEqual(['thread 0', 'thread 6', 'thread 4', 'thread 2'])
  expect(await subjects('tag=project:x')).toEqual(['for the project'])
  expect(await subjects('tag=concern:speed&agent=bob&limit=2')).toEqual(['thread 0', 'thread 6'])
  expect(await subjects('agent=nobody')).toEqual([])
  await bob.check({ limit: 1 })
  const { messages } = await get(`/api/threads/${roots[0]!.id}`)
  expect(messages).toMatchObject([
    { id: roots[0]!.id, receipts: [{ owner: 'bob', box: 'bob', state: expect.any(String) }] },
    { body: 'about 0', receipts: [{ owner: 'ada', box: 'ada', state: 'stored' }] },
  ])
  const overview = await get('/api/overview')
  expect(overview.channels).toEqual([
    { tag: 'project:x', messages: 1, lastAt: '2026-11-15T09:00:10.000Z' },
    { tag: 'concern:speed', messages: 4, lastAt: '2026-11-15T09:00:07.000Z' },
  ])
  expect(overview).toMatchObject({
    totals: { messages: 10 },
    needsYou: 0,
    dead: 0,
    unread: { ada: { unread: 2 } },
  })
  expect((await get('/api/traffic')).pairs).toEqual([
    { from: 'ada', to: 'bob', messages: 7, lastAt: '2026-11-15T09:00:07.000Z' },
    { from: 'bob', to: 'ada', messages: 2, lastAt: '2026-11-15T09:00:09.000Z' },
    { from: 'ada', to: 'project:x', messages: 1, lastAt: '2026-11-15T09:00:10.000Z' },
  ])
  expect((await get('/api/traffic?since=2026-11-15T09:00:09Z')).pairs).toHaveLength(2)
})

it('says what needs the person, by what it frees, priority and age, each message once', async () => {
  const { space, get, clock } = await stageWithClock()
  const ada = await space.mailbox('ada')
  const send = async (work: Promise<{ id: string }>) => {
    clock.now += 1_000
    return (await work).id
  }
  const mail = await send(ada.send({ to: 'user', subject: 'read me' }))
  const plan = await send(submitPlan(ada, { to: 'user', subject: 'Plan', body: '', withinMs: minuteMs }))
  const acked = await send(ada.send({ to: 'user', subject: 'ack me', requiresAck: true }))
  const help = await send(askForHelp(ada, { to: 'user', body: 'stuck' }))
  const question = await send(
    ada.send({ to: 'user', subject: 'well?', awaitingResponse: true, requiresAck: true }),
  )
  const urgent = await send(escalate(ada, { to: 'user', reason: 'all is lost' }))
  const end = await space.lastSeq()
  const kinds = async () =>
    (await get('/api/needs-you')).items.map(
      ({ kind, message }: { kind: string; message: { id: string } }) => [kind, message.id],
    )
  expect(await kinds()).toEqual([
    ['help', help],
    ['escalation', urgent],
    ['plan', plan],
    ['question', question],
    ['ack', acked],
    ['mail', mail],
  ])
  expect((await get('/api/needs-you')).items[2]).toMatchObject({ until: '2026-11-15T09:01:02.000Z' })
  expect(await get('/api/overview')).toMatchObject({ needsYou: 6, asksYou: 5 })
  // Looking at all of it has marked nothing.
  expect(await space.lastSeq()).toBe(end)
  const user = await space.mailbox('user')
  await user.read(mail)
  await user.reply(question, { body: 'yes' })
  await user.ack(acked)
  // What was answered is acknowledged by that.
  expect((await kinds()).map(([kind]: [string]) => kind)).toEqual(['help', 'escalation', 'plan'])
})

it('counts over time: sent, handled, pending, and how long mail waits to be seen', async () => {
  const { space, get, clock } = await stageWithClock()
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob')
  for (let n = 0; n < 10; n++) await ada.send({ to: 'bob', subject: `${n}` })
  clock.now += 2 * minuteMs
  const { messages } = await bob.check({ limit: 4 })
  clock.now += minuteMs
  for (const { id } of messages.slice(0, 3)) await bob.done(id)
  clock.now += minuteMs
  const query = `from=2026-11-15T09:00:00Z&to=2026-11-15T09:04:00Z&buckets=4`
  const { buckets, agents } = await get(`/api/series?${query}`)
  const nothing = { p50Ms: null, p95Ms: null, p99Ms: null }
  expect(buckets).toMatchObject([
    { at: '2026-11-15T09:00:00.000Z', sent: 10, handled: 0, pending: 10, ...nothing },
    { at: '2026-11-15T09:01:00.000Z', sent: 0, handled: 0, pending: 10, ...nothing },
    { at: '2026-11-15T09:02:00.000Z', sent: 0, handled: 0, pending: 6 },
    { at: '2026-11-15T09:03:00.000Z', sent: 0, handled: 3, pending: 6, ...nothing },
    { at: '2026-11-15T09:04:00.000Z', sent: 0, handled: 0, pending: 6, ...nothing },
  ])
  // Buckets of durations are about 4 % wide.
  for (const share of ['p50Ms', 'p95Ms', 'p99Ms'])
    expect(Math.abs(buckets[2][share] - 2 * minuteMs) / (2 * minuteMs)).toBeLessThan(0.05)
  expect(agents.find(({ name }: { name: string }) => name === 'bob')).toEqual({
    ...{ name: 'bob', sent: 0, received: 4, pending: 6, oldestPendingAt: '2026-11-15T09:00:00.000Z' },
  })
})

it('shows the space as it was after any entry', async () => {
  const { space, get, clock } = await stageWithClock()
  const ada = await space.mailbox('ada', { join: { roles: ['lead'] } })
  const bob = await space.mailbox('bob')
  const states: { seq: number; unread: number; messages: number; bob: string }[] = []
  let unread = 0
  let messages = 0
  const note = async (state: string) =>
    states.push({ seq: await space.lastSeq(), unread, messages, bob: state })
  for (let n = 0; n < 600; n++) {
    clock.now += 1_000
    await ada.send({ to: 'bob', subject: `${n}` })
    unread++
    messages++
    if (n % 100 === 50) await note('alive')
  }
  const taken = await bob.check({ limit: 5 })
  unread -= taken.messages.length
  await note('alive')
  await bob.leave({ frozen: true })
  await note('frozen')
  await bob.update({ note: 'thinking' })
  for (const one of states) {
    const was = await get(`/api/replay?at=${one.seq}`)
    expect(was).toMatchObject({ seq: one.seq, first: 1, totals: { messages: one.messages } })
    expect(was.last).toBe(await space.lastSeq())
    expect(was.agents).toContainEqual({ name: 'bob', state: one.bob, roles: [], unread: one.unread })
    expect(was.agents).toContainEqual({ name: 'ada', state: 'alive', roles: ['lead'], unread: 0 })
    expect(was.recent.map(({ seq }: { seq: number }) => seq)).toEqual(
      Array.from({ length: Math.min(50, one.seq) }, (_, at) => one.seq - Math.min(50, one.seq) + 1 + at),
    )
  }
  const first = await get('/api/replay?at=0')
  expect(first).toMatchObject({ seq: 1, totals: { messages: 0 }, recent: [{ kind: 'segment' }] })
  const now = await get('/api/replay')
  expect(now).toMatchObject({ seq: await space.lastSeq(), recent: expect.any(Array) })
  expect(now.recent.at(-2)).toMatchObject({ kind: 'agent', text: 'bob frozen' })
})

it('pages through the journal', async () => {
  const { space, get } = await stageWithClock()
  const ada = await space.mailbox('ada')
  for (let n = 0; n < 25; n++) await ada.send({ to: 'user', subject: `${n}` })
  const seqs: number[] = []
  for (;;) {
    const { entries, seq } = await get(`/api/entries?after=${seqs.at(-1) ?? 0}&limit=10`)
    expect(seq).toBe(await space.lastSeq())
    if (entries.length === 0) break
    expect(entries.length).toBeLessThanOrEqual(10)
    seqs.push(...entries.map((entry: { seq: number }) => entry.seq))
  }
  expect(seqs).toEqual(Array.from({ length: await space.lastSeq() }, (_, at) => at + 1))
})

it('shows what a role was sent as its own, or as that of whoever took it', async () => {
  const { space, get } = await stageWithClock()
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob', { join: { roles: ['backend'] } })
  await ada.send({ to: 'role:backend', subject: 'taken' })
  await bob.check()
  await ada.send({ to: 'role:backend', subject: 'waiting' })
  const pairs = async (roles: string) =>
    (await get(`/api/traffic?roles=${roles}`)).pairs.map(
      ({ to, messages }: { to: string; messages: number }) => `${to} ${messages}`,
    )
  expect(await pairs('shown')).toEqual(['role:backend 2'])
  expect(await pairs('folded')).toEqual(['bob 1', 'role:backend 1'])
})

it('traces a matter step by step, and marks deaths and returns on the axis of time', async () => {
  const { space, get, clock } = await stageWithClock()
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob')
  const asked = await ada.send({ to: 'bob', subject: 'Which port?', awaitingResponse: true })
  clock.now += minuteMs
  await bob.check()
  clock.now += minuteMs
  const answer = await bob.reply(asked.id, { body: '80' })
  const { messages, isMore } = await get(`/api/threads/${asked.id}/trace`)
  expect(isMore).toBe(false)
  expect(messages).toMatchObject([
    {
      ...{ id: asked.id, from: 'ada', to: ['bob'], createdAt: '2026-11-15T09:00:00.000Z' },
      steps: [
        { recipient: 'bob', state: 'shown', at: '2026-11-15T09:01:00.000Z', by: 'bob' },
        { recipient: 'bob', state: 'completed', at: '2026-11-15T09:02:00.000Z' },
        { recipient: 'bob', state: 'archived', at: '2026-11-15T09:02:00.000Z' },
      ],
    },
    { id: answer.id, replyTo: asked.id, steps: [] },
  ])

  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  await once(child, 'spawn')
  await space.join('cleo', { session: { pid: child.pid! } })
  child.kill('SIGKILL')
  await once(child, 'exit')
  await space.runDue()
  await space.join('cleo')
  const { buckets, events } = await get('/api/series?from=2026-11-14T00:00:00Z&buckets=500')
  expect(events.map(({ kind, agent }: { kind: string; agent: string }) => `${agent} ${kind}`)).toEqual([
    'cleo died',
    'cleo restarted',
  ])
  // Nothing was there before the space was.
  expect(buckets[0].at.slice(0, 13)).toBe('2026-11-15T09')
})
