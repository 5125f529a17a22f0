import { describe, expect, it, onTestFinished } from 'vitest'
import {
  acceptShutdown,
  approvePlan,
  askForHelp,
  assignTask,
  handOff,
  requestShutdown,
  runAgent,
  runLead,
  type Space,
  submitPlan,
} from '../../src/mod.ts'
import { openSpace } from '../../src/space/open.ts'
import { stageHub } from '../helpers/hub.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

/** How each of the two agents opens the one space. */
type Opener = (name: string) => Promise<Space>

const places: Record<string, () => Promise<Opener>> = {
  'on this disk': async () => {
    const dir = tempDir()
    return async () => tempSpace({ dir })
  },
  'behind a hub': async () => {
    const stage = await stageHub()
    return async (name) => closed(await openSpace({ url: stage.url, token: stage.agentToken(name) }))
  },
  'behind a hub, over WebSocket': async () => {
    const stage = await stageHub()
    return async (name) =>
      closed(await openSpace({ url: stage.url, token: stage.agentToken(name), stream: 'websocket' }))
  },
}

function closed<S extends Space>(space: S): S {
  onTestFinished(() => space.close())
  return space
}

describe.each(Object.keys(places).slice(0, inStorm(3, 2)))('a space %s', (place) => {
  const opener = () => places[place]!()

  it('carries work from one agent to the other, with a question in between', async () => {
    const open = await opener()
    const [ours, theirs] = [await open('ada'), await open('bob')]
    const ada = await ours.mailbox('ada', { join: { roles: ['lead'] } })
    const bob = await theirs.mailbox('bob', { join: { roles: ['builder'] } })

    const handoff = await handOff(ada, {
      to: 'role:builder',
      subject: 'Parser',
      workCompleted: 'The design is in DESIGN.md',
      nextSteps: ['Build it'],
      filesModified: ['DESIGN.md'],
    })
    const task = await bob.wait({ timeoutMs: 20_000 })
    expect(task).toMatchObject({
      id: handoff.id,
      state: 'shown',
      role: 'builder',
      attachments: ['DESIGN.md'],
    })
    await bob.start(task!.id)

    const question = await askForHelp(bob, { body: 'Which port?', to: await bob.lead() })
    expect(question.to).toEqual(['role:lead'])
    expect((await theirs.agents()).find(({ name }) => name === 'bob')).toMatchObject({
      state: 'waiting',
      waitingFor: [question.id],
    })
    const waiting = bob.wait({ replyTo: question.id, timeoutMs: 20_000 })
    const [asked] = (await ada.check({ minPriority: 'urgent' })).messages
    expect(asked).toMatchObject({ id: question.id, type: 'help_request', body: 'Which port?' })
    const answer = await ada.reply(asked!.id, { body: '7337' })
    expect(await waiting).toMatchObject({ id: answer.id, body: '7337', threadId: question.threadId })

    await bob.done(task!.id, { note: 'built' })
    expect(await ada.waitForAck(handoff.id, { timeoutMs: 20_000 })).toBe(true)
    const { receipts } = await ours.show(handoff.id)
    expect(receipts).toMatchObject([{ recipient: 'role:builder', claimedBy: 'bob', state: 'archived' }])
    expect(await ours.owed()).toEqual([])
    expect((await bob.thread(question.id)).map(({ body }) => body)).toEqual(['Which port?', '7337'])
    expect((await ada.search('port from:bob')).messages.map(({ id }) => id)).toEqual([question.id])
    expect((await ada.sent()).messages.map(({ id }) => id)).toEqual([answer.id, handoff.id])
    expect(await bob.count()).toMatchObject({ unread: 0 })
  })

  it('runs the loops of agents and leads unchanged', async () => {
    const open = await opener()
    const [ours, theirs] = [await open('lead'), await open('worker')]
    const lead = await ours.mailbox('lead', { join: { roles: ['lead'] } })
    const worker = await theirs.mailbox('worker')
    const over = new AbortController()
    const leading = runLead(
      lead,
      { plan_submission: ({ subject }) => ({ approved: subject === 'Cut the parser' }) },
      { signal: over.signal },
    )
    const done: string[] = []
    const working = runAgent(worker, {
      async task_assignment(_, { mailbox }) {
        await submitPlan(mailbox, { subject: 'Cut the parser', body: 'First the lexer' })
        return 'planned'
      },
      async plan_approval({ body }) {
        done.push(body)
      },
    })
    const task = await lead.send({ to: 'worker', subject: 'Parser', type: 'task_assignment' })
    await expect.poll(() => done, { timeout: 120_000 }).toEqual(['Approved.'])
    expect((await ours.show(task.id)).receipts).toMatchObject([{ recipient: 'worker', state: 'archived' }])
    await requestShutdown(lead, 'worker', { reason: 'That was all' })
    expect(await working).toMatchObject({ handled: 2, failed: 0, ended: 'shutdown' })
    over.abort()
    expect(await leading).toMatchObject({ ended: 'signal' })
    expect((await ours.agents()).find(({ name }) => name === 'worker')).toMatchObject({
      state: 'dead',
      gone: 'left',
    })
  })

  it('gives a handler the answers that it waits for, and the end of what it gave to others', async () => {
    const open = await opener()
    const [ours, theirs] = [await open('lead'), await open('worker')]
    const lead = await ours.mailbox('lead', { join: { roles: ['lead'] } })
    const worker = await theirs.mailbox('worker')
    const over = new AbortController()
    const leading = runLead(
      lead,
      {
        plan_submission: ({ body }) => ({ approved: body.includes('tests'), feedback: 'And the tests?' }),
        help_request: () => '8080',
        // Meanwhile it decides on the plan of the one it waits for.
        async request(_, { mailbox }) {
          const task = await assignTask(mailbox, { to: 'worker', subject: 'Parser' })
          const { settled, matters } = await mailbox.waitUntilSettled(task.id, { timeoutMs: 60_000 })
          return `${settled} ${matters[0]?.state}`
        },
      },
      { signal: over.signal },
    )
    const seen: string[] = []
    const working = runAgent(worker, {
      async task_assignment(_, { mailbox, signal }) {
        const plan = { subject: 'Parser', to: 'lead' }
        const first = await submitPlan(mailbox, { ...plan, body: 'Build it' })
        const question = await askForHelp(mailbox, { to: 'lead', body: 'Which port?' })
        const answers = await mailbox.waitForMessages({ replyTo: [first.id, question.id], signal })
        seen.push(...answers.map(({ body }) => body).sort())
        const second = await submitPlan(mailbox, { ...plan, body: 'With tests', revises: first.id })
        const verdict = await mailbox.wait({ replyTo: second.id, signal })
        seen.push(verdict!.type)
      },
    })
    const asked = await lead.send({ to: 'lead', type: 'request', subject: 'A parser' })
    await expect
      .poll(async () => (await ours.show(asked.id)).receipts[0]?.state, { timeout: 120_000 })
      .toBe('archived')
    expect(seen).toEqual(['8080', 'And the tests?', 'plan_approval'])
    const { steps } = (await ours.show(asked.id)).receipts[0]!
    expect(steps.flatMap(({ note }) => note ?? [])).toEqual(['true done'])
    await requestShutdown(lead, 'worker')
    expect(await working).toMatchObject({ handled: 1, failed: 0, ended: 'shutdown' })
    over.abort()
    await leading
  })

  it('waits for several messages, takes none of them early, and gives what came when the time is up', async () => {
    const open = await opener()
    const [ours, theirs] = [await open('ada'), await open('bob')]
    const [ada, bob] = [await ours.mailbox('ada'), await theirs.mailbox('bob')]
    const [one, other] = [
      await ada.send({ to: 'bob' }),
      await ada.send({ to: 'bob', awaitingResponse: true }),
    ]
    const replyTo = [one.id, other.id]
    await bob.reply(one.id, { subject: 'first' })
    expect(await ada.waitForMessages({ count: 2, timeoutMs: 100, type: 'none' })).toEqual([])
    const waiting = ada.waitForMessages({ replyTo, timeoutMs: 60_000 })
    await expect(ada.waitForMessages({ replyTo, signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
      code: 'interrupted',
    })
    expect(await ada.count()).toMatchObject({ unread: 1 })
    expect(await ada.waitUntilSettled(other.id, { timeoutMs: 50 })).toMatchObject({ settled: false })
    await bob.reply(other.id, { subject: 'second' })
    expect((await waiting).map(({ subject }) => subject).sort()).toEqual(['first', 'second'])
    expect(await ada.waitUntilSettled(replyTo)).toMatchObject({
      settled: true,
      matters: [{ id: other.id, state: 'answered' }],
    })
    await bob.reply(one.id, { subject: 'third' })
    const partly = await ada.waitForMessages({ from: ['bob'], count: 2, timeoutMs: 200 })
    expect(partly).toMatchObject([{ subject: 'third', state: 'shown' }])
    await expect(ada.waitForMessages({ count: 0 })).rejects.toMatchObject({ code: 'invalid' })
    await expect(ada.waitForMessages({ replyTo: ['nothing'] })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('shows mail as it comes, and marks nothing by that', async () => {
    const open = await opener()
    const [ours, theirs] = [await open('ada'), await open('bob')]
    const ada = await ours.mailbox('ada')
    const bob = await theirs.mailbox('bob', { join: { tags: ['project:x'] } })
    await ada.send({ to: 'bob', subject: 'before' })
    const over = new AbortController()
    const seen: string[] = []
    const watching = (async () => {
      for await (const { subject } of bob.watch({ signal: over.signal })) {
        seen.push(subject)
        if (subject === 'last') over.abort()
      }
    })()
    await expect.poll(() => seen, { timeout: 120_000 }).toEqual(['before'])
    await ada.send({ to: 'project:x', subject: 'to the group' })
    await ada.send({ to: 'role:tester', subject: 'not yet for bob' })
    await bob.update({ addRoles: ['tester'] })
    await expect.poll(() => seen.length, { timeout: 120_000 }).toBe(3)
    await ada.send({ to: 'bob', subject: 'last' })
    await watching
    expect(seen).toEqual(['before', 'to the group', 'not yet for bob', 'last'])
    expect(await bob.count()).toMatchObject({ unread: 4 })
  })

  it('leaves unread what nobody waited for, and takes for one what two wait for', async () => {
    const open = await opener()
    const [ours, theirs] = [await open('ada'), await open('bob')]
    const ada = await ours.mailbox('ada', { join: { roles: ['reviewer'] } })
    const bob = await theirs.mailbox('bob', { join: { roles: ['reviewer'] } })
    const cy = await (await open('cy')).mailbox('cy')
    const wanted = { match: ({ subject }: { subject: string }) => subject === 'this', timeoutMs: 20_000 }
    const both = [ada.wait({ ...wanted, timeoutMs: 2_000 }), bob.wait({ ...wanted, timeoutMs: 2_000 })]
    await cy.send({ to: 'role:reviewer', subject: 'other' })
    const { id } = await cy.send({ to: 'role:reviewer', subject: 'this' })
    const got = await Promise.all(both)
    expect(got.filter((message) => message !== null).map((message) => message.id)).toEqual([id])
    expect((await ada.inbox({ unread: true })).messages.map(({ subject }) => subject)).toEqual(['other'])
    // Without any time there is still a look.
    expect(await ada.wait({ timeoutMs: 0 })).toMatchObject({ subject: 'other', role: 'reviewer' })
    expect(await ada.wait({ timeoutMs: 0 })).toBeNull()
    await expect(ada.wait({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'interrupted' })
    await expect(ada.wait({ timeoutMs: -1 })).rejects.toMatchObject({ code: 'invalid' })
  })

  it('refuses with the same codes and hints', async () => {
    const open = await opener()
    const space = await open('ada')
    const ada = await space.mailbox('ada')
    const refused = (code: string) => ({ code, name: 'MailboxError', hint: expect.any(String) })
    await expect(ada.send({ to: 'nobody', subject: 'x' })).rejects.toMatchObject(refused('unknown_recipient'))
    await expect(ada.read('no-such-id')).rejects.toMatchObject(refused('not_found'))
    await expect(ada.send({ to: 'ada', payload: new Date() })).rejects.toMatchObject(refused('invalid'))
    await expect(ada.send({ to: 'ada', body: 'x'.repeat(1_048_577) })).rejects.toMatchObject({
      ...refused('over_limit'),
      limit: 'size',
    })
    await expect(ada.fail('01', { reason: '' })).rejects.toMatchObject(refused('invalid'))
    const plan = await submitPlan(ada, { subject: 'Plan', body: '', to: 'user' })
    await expect(approvePlan(ada, plan.id)).rejects.toMatchObject({
      code: expect.stringMatching(/not_permitted|conflict/),
    })
    await expect(acceptShutdown(ada, plan.id)).rejects.toMatchObject({ name: 'MailboxError' })
    const first = await ada.send({ to: 'user', subject: 'once', key: 'k' })
    expect((await ada.send({ to: 'user', subject: 'twice', key: 'k' })).id).toBe(first.id)
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
    await ada.send({ to: 'user', payload: deep(63) })
    await expect(ada.send({ to: 'user', payload: deep(64) })).rejects.toMatchObject(refused('invalid'))
    await space.close()
    await expect(ada.count()).rejects.toMatchObject(refused('closed'))
  })
})
