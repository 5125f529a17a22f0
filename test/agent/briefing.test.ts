import { describe, expect, it, test } from 'vitest'
import { brief, isWorthATurn } from '../../src/agent/briefing.ts'
import { recall } from '../../src/agent/recall.ts'
import {
  acceptShutdown,
  approvePlan,
  assignTask,
  handOff,
  requestShutdown,
  requestStatus,
  respondStatus,
  submitPlan,
  updateStatus,
} from '../../src/mod.ts'
import type { InboxMessage } from '../../src/query/inbox.ts'
import { trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

const timesIn = (text: string, words: string): number => text.split(words).length - 1
/** The subjects in a text, in order. */
const subjectsIn = (text: string): string[] => [...text.matchAll(/^# (.*)$/gm)].map(([, subject]) => subject!)

describe('what is worth a turn', () => {
  const letter = (fields: Partial<InboxMessage>) =>
    ({ id: 'x', type: 'text', priority: 'normal', requiresAck: false, ...fields }) as InboxMessage

  test.each<Partial<InboxMessage>>([
    { awaitingResponse: true },
    { awaitingResponse: true, priority: 'low', to: ['all'] },
    { requiresAck: true },
    { priority: 'urgent' },
    { type: 'plan_submission' },
    { type: 'task_assignment' },
    { type: 'handoff' },
    { type: 'fix_ci_failure' },
    { type: 'help_request' },
    { type: 'shutdown_request' },
    { type: 'status_request' },
    { type: 'plan_approval' },
    { type: 'shutdown_response' },
    { type: 'status_response' },
    { type: 'status_update', payload: { taskId: 't', status: 'completed' } },
    { type: 'status_update', payload: { taskId: 't', status: 'failed' } },
  ])('%j is', (fields) => {
    expect(isWorthATurn(letter(fields), [])).toBe(true)
  })

  test.each<Partial<InboxMessage>>([
    {},
    { priority: 'high' },
    { priority: 'high', to: ['all'], type: 'broadcast' },
    { type: 'request' },
    { type: 'response' },
    { type: 'notification' },
    { type: 'ack' },
    { type: 'my_own_type' },
    { type: 'status_update', payload: { taskId: 't', status: 'working' } },
  ])('%j is not', (fields) => {
    expect(isWorthATurn(letter(fields), ['another'])).toBe(false)
  })

  test('an answer that is waited for is, however quiet', () => {
    expect(isWorthATurn(letter({ priority: 'low' }), ['x'])).toBe(true)
  })

  it.each<[string, 'task' | 'handoff' | 'plan' | 'shutdown']>([
    ['a task', 'task'],
    ['a handoff', 'handoff'],
    ['a plan', 'plan'],
    ['a request to shut down', 'shutdown'],
  ])(
    '%s is not answered by a reply that says it is under way, but by what becomes of it',
    async (_, kind) => {
      const { ada, bob } = await trio(await tempSpace())
      const { id } = await {
        task: () => assignTask(ada, { to: 'bob', subject: 'Build it' }),
        handoff: () => handOff(ada, { to: 'bob', subject: 'Build it', workCompleted: 'The lexer.' }),
        plan: () => submitPlan(ada, { to: 'bob', subject: 'In two', body: '-' }),
        shutdown: () => requestShutdown(ada, 'bob'),
      }[kind]()
      const begun = await bob.reply(id, { body: 'On it.' })
      for (const moment of ['tool', 'stop', 'wake'] as const)
        expect((await brief(ada, moment)).ids, moment).toEqual([])
      expect((await ada.unread()).answers).toEqual([])
      if (kind === 'plan') await approvePlan(bob, id)
      else if (kind === 'shutdown') await acceptShutdown(bob, id)
      else await bob.done(id)
      const { messages, answers } = await ada.unread()
      expect(answers).toHaveLength(1)
      expect(messages.map((message) => message.id)).toEqual([...answers, begun.id])
      expect((await brief(ada, 'stop')).ids).toEqual(answers)
    },
  )

  it.each(['question', 'status'])(
    'any reply answers a %s, and so does that there will be none',
    async (kind) => {
      const { ada, bob } = await trio(await tempSpace())
      const ask = () =>
        kind === 'status'
          ? requestStatus(ada, 'bob')
          : ada.send({ to: 'bob', subject: 'Which port?', awaitingResponse: true })
      const reply = await bob.reply((await ask()).id, { body: '80.' })
      expect((await brief(ada, 'stop')).ids).toEqual([reply.id])
      await bob.fail((await ask()).id, { reason: 'no idea' })
      const { ids } = await brief(ada, 'tool')
      expect(ids).toHaveLength(1)
      expect(await ada.read(ids[0]!)).toMatchObject({ type: 'status_update', payload: { status: 'closed' } })
    },
  )

  it('is what an agent is shown before it stops', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'A note', priority: 'high' })
    const plan = await submitPlan(ada, { to: 'bob', subject: 'The plan', body: '-' })
    const status = await requestStatus(ada, 'bob')
    const task = await assignTask(bob, { to: 'ada', subject: 'The task' })
    await assignTask(ada, { to: 'bob', subject: 'For bob', taskId: 'T-1' })
    await approvePlan(bob, plan.id)
    await respondStatus(bob, status.id, { status: 'working' })
    await updateStatus(bob, { to: 'ada', taskId: 'T-1', status: 'completed' })
    const { ids } = await brief(ada, 'stop')
    expect(ids).toHaveLength(4)
    expect(ids).toContain(task.id)
    expect((await ada.count()).unread).toBe(1)
  })
})

describe('a briefing', () => {
  it('recalls nothing that it shows', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await bob.send({ to: 'ada', subject: 'Both', awaitingResponse: true, requiresAck: true })
    await assignTask(bob, { to: 'ada', subject: 'The task' })
    const first = (await brief(ada, 'start')).text
    expect(first).not.toContain('## Still open')
    for (const subject of ['# Both', '# The task']) expect(timesIn(first, subject), subject).toBe(1)
    const later = (await brief(ada, 'start')).text
    expect(subjectsIn(later)).toEqual(['The task', 'Both'])
  })

  it('names work before notes, each once, and no note that is only acknowledged', async () => {
    const { ada, bob } = await trio(await tempSpace())
    for (let n = 1; n <= 5; n++) {
      const { id } = await bob.send({ to: 'ada', subject: `Note ${n}`, requiresAck: true })
      await ada.ack(id)
    }
    const started = await bob.send({ to: 'ada', subject: 'A started note' })
    await ada.start(started.id)
    await bob.send({ to: 'ada', subject: 'Ack this', requiresAck: true })
    await bob.send({ to: 'ada', subject: 'The question', awaitingResponse: true, requiresAck: true })
    const task = await assignTask(bob, { to: 'ada', subject: 'The task' })
    await ada.check()
    await ada.start(task.id)
    const parts = await recall(ada)
    expect(subjectsIn(parts.join('\n'))).toEqual(['The task', 'The question', 'A started note', 'Ack this'])
    expect(parts.map((part) => part.split('\n')[0])).toEqual([
      '## Still open',
      'You are working on this (processing):',
      'This question is waiting for you:',
      'You are working on this (processing):',
      'This is waiting for your ack:',
    ])
  })

  it('names a task that has failed to whoever gave it, and leaves the queue of a role alone', async () => {
    const { ada, bob, cy } = await trio(await tempSpace())
    await cy.update({ addRoles: ['tester'] })
    const { id } = await assignTask(ada, { to: 'bob', subject: 'In vain' })
    await bob.fail(id, { reason: 'no disk' })
    await ada.check()
    expect((await recall(ada)).map((part) => part.split('\n')[0])).toEqual([
      '## Still open',
      'This task of yours has failed:',
    ])
    for (const subject of ['One', 'Two', 'Three']) await assignTask(ada, { to: 'role:tester', subject })
    await cy.check()
    expect(subjectsIn((await brief(cy, 'start')).text)).toEqual(['One'])
  })

  it('names what is awaited of every kind, once for several recipients', async () => {
    const { ada, bob } = await trio(await tempSpace())
    await ada.send({ to: 'bob', subject: 'Q', awaitingResponse: true })
    await submitPlan(ada, { to: 'bob', subject: 'P', body: '-' })
    await assignTask(ada, { to: 'bob', subject: 'T' })
    await ada.send({ to: ['bob', 'cy'], subject: 'A', requiresAck: true })
    expect((await recall(ada)).map((part) => part.split('\n')[0])).toEqual([
      '## Still open',
      "You are waiting for bob's answer:",
      "You are waiting for bob's approval:",
      "You are waiting for bob's work:",
      "You are waiting for the 2 recipients' ack:",
    ])
    await requestShutdown(ada, 'bob')
    expect((await recall(ada)).at(-1)).toBe('1 more: mailbox owed')
    await bob.check()
  })
})
