import { describe, expect, test } from 'vitest'
import { approvePlan, assignTask, type Mailbox, type SendInput, submitPlan } from '../../src/mod.ts'
import { hour, minute } from '../helpers/scene.ts'
import { check, isAbout, type Stage, stage } from './stage.ts'

/** What random histories (test/property) have found about settling, absence and notices, in as few steps as show it. */
const stateOf = async ({ space }: Stage, id: string, owner: string) =>
  (await space.show(id)).receipts.find(({ recipient }) => recipient === owner)?.state

/** What somebody is told and has not taken back, about a message: kinds and recipients. */
async function saidTo(on: Stage, to: string, id: string): Promise<string[]> {
  const messages = await on.told(to)
  return messages.flatMap(({ payload }) => {
    const { about = [] } = (payload ?? {}) as { about?: { id: string; kind: string; to: string }[] }
    return about.filter((item) => item.id === id).map((item) => `${item.kind} ${item.to}`)
  })
}

/** Everything that was ever said of a message, taken back or not. */
async function everSaid({ space }: Stage, id: string): Promise<string[]> {
  const system = space.mailboxInside('system')
  return (await system.sent()).messages.filter(isAbout(id)).map(({ subject }) => subject)
}

describe('what one recipient does', () => {
  test('answers a status for itself, not for another that was named', async () => {
    const on = await stage()
    const [ada, , cy] = [await on.agent('ada'), await on.agent('bob'), await on.agent('cy', 'dev')]
    const { id } = await ada.send({ to: ['bob', 'role:dev'], type: 'status_request' })
    await cy.reply(id, { body: 'I am fine.' })
    expect((await on.space.owed()).map(({ by }) => by)).toEqual(['bob'])
    expect(await stateOf(on, id, 'bob')).toBe('stored')
  })

  test('counts although another recipient is gone', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const bob = await on.agent('bob')
    const cy = await on.agent('cy', 'lead')
    const { id } = await submitPlan(ada, { subject: 'Lexer', body: 'First.', to: 'role:lead' })
    await approvePlan(cy, id)
    const other = await ada.send({
      to: ['bob', 'role:lead'],
      type: 'plan_submission',
      payload: { taskId: 't' },
    })
    await bob.leave()
    await approvePlan(cy, other.id)
    expect(await on.space.owed()).toEqual([])
  })

  test('leaves alone what is said of another recipient', async () => {
    const on = await stage()
    const [ada, bob] = [await on.agent('ada'), await on.agent('bob')]
    await on.agent('cy')
    const { id } = await ada.send({ to: ['bob', 'cy'], priority: 'urgent' })
    await on.pass(5 * minute)
    expect(await saidTo(on, 'user', id)).toEqual(['unread bob'])
    const other = await ada.send({ to: ['bob', 'role:dev'], priority: 'urgent', requiresAck: true })
    const dev = await on.agent('dev', 'dev')
    await bob.read(other.id)
    await on.pass(5 * minute)
    expect(await saidTo(on, 'user', other.id)).toEqual(['unread role:dev'])
    await bob.ack(other.id)
    expect(await saidTo(on, 'user', other.id)).toEqual(['unread role:dev'])
    await dev.read(other.id)
    expect(await saidTo(on, 'user', other.id)).toEqual([])
  })

  test('settles one of two tasks with the same id, and whoever gave the other still waits for it', async () => {
    const on = await stage()
    const [ada, bob, cy] = [await on.agent('ada'), await on.agent('bob'), await on.agent('cy')]
    const first = await assignTask(ada, { to: 'bob', subject: 'Lexer', taskId: 't' })
    const second = await assignTask(cy, { to: 'bob', subject: 'Lexer', taskId: 't' })
    await bob.done(first.id)
    expect(await on.space.owed()).toMatchObject([{ id: second.id, by: 'bob', state: 'open' }])
    await bob.done(second.id)
    expect(await check(cy)).toHaveLength(1)
  })

  test('and what it replaces is not the message that it settles', async () => {
    const on = await stage()
    const bob = await on.agent('bob')
    const { id } = await bob.send({ to: 'bob', type: 'task_assignment', payload: { taskId: 't' } })
    const report = { type: 'status_update', payload: { taskId: 't', status: 'completed' } }
    await bob.reply(id, { ...report, supersede: true })
    expect(await stateOf(on, id, 'bob')).toBe('archived')
    expect(await bob.count()).toMatchObject({ unread: 1 })
  })
})

describe('an agent that is away', () => {
  test('keeps what it has acknowledged, though another recipient has not', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const bob = await on.agent('bob')
    await on.agent('cy')
    const { id } = await ada.send({ to: ['bob', 'cy'], requiresAck: true })
    await bob.ack(id)
    await bob.leave()
    await on.pass(minute)
    expect(await stateOf(on, id, 'bob')).toBe('archived')
    expect(await saidTo(on, 'ada', id)).toEqual([])
  })

  test('makes nobody wait for it who asked a group', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const { mailbox: bob, kill } = await on.running('bob')
    const { id } = await ada.send({ to: 'all', awaitingResponse: true })
    await bob.read(id)
    await kill()
    await on.pass(minute)
    expect(await everSaid(on, id)).toEqual([])
  })

  test('is waited for while its ack is missing, and whoever waits can read that', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const { mailbox: bob, kill } = await on.running('bob')
    const { id } = await ada.send({ to: 'bob', requiresAck: true })
    await bob.read(id)
    await kill()
    await on.pass(minute)
    expect(await saidTo(on, 'ada', id)).toEqual(['waiting bob'])
  })

  test('is back when it sends a dead letter again', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const bob = await on.agent('bob')
    await on.agent('cy')
    const { id } = await bob.send({ to: 'cy', ttlMs: minute })
    await on.pass(2 * minute)
    await bob.leave({ frozen: true })
    await bob.resend(id, 'ada')
    expect(await bob.agent()).toMatchObject({ state: 'alive' })
    expect(await check(ada)).toHaveLength(1)
  })

  test('is still tied to its process when it is back', async () => {
    const on = await stage()
    const { mailbox: bob, kill } = await on.running('bob')
    await bob.leave({ frozen: true })
    await bob.check()
    expect(await bob.agent()).toMatchObject({ state: 'alive', session: { pid: expect.any(Number) } })
    await kill()
    await on.space.runDue()
    expect(await bob.agent()).toMatchObject({ state: 'dead', gone: 'ended' })
  })

  test('keeps its work with the look that brings it back', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const bob = await on.agent('bob', 'dev')
    const { id } = await ada.send({ to: 'role:dev', type: 'task_assignment' })
    await bob.claim(id)
    await bob.leave({ frozen: true })
    on.clock.advance(10 * minute)
    await bob.check()
    await on.pass(10 * minute)
    expect(await stateOf(on, id, 'role:dev')).toBe('shown')
  })

  test('is waited for from when it died, though a deadline passes meanwhile', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const { mailbox: bob, kill } = await on.running('bob')
    const { id } = await ada.send({
      ...{ to: 'bob', type: 'task_assignment', payload: { withinMs: 20 * hour } },
    })
    await bob.ack(id)
    await kill()
    await on.pass(25 * hour, () => ada.heartbeat())
    expect(await stateOf(on, id, 'bob')).toBe('dead')
  })

  test('is not said to be back with mail that only another had lost', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const bob = await on.agent('bob')
    const cy = await on.agent('cy')
    const { id } = await ada.send({ to: ['bob', 'cy'] })
    await bob.leave({ frozen: true })
    await cy.leave()
    await on.pass(minute)
    expect(await saidTo(on, 'ada', id)).toEqual(['undelivered cy'])
    await check(ada)
    await check(bob)
    expect((await on.told('ada')).filter(isAbout(id))).toHaveLength(1)
  })

  test('is not said to be back to one who never read that it was gone', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const { mailbox: bob, kill } = await on.running('bob')
    const { id } = await ada.send({ to: 'bob', awaitingResponse: true })
    await bob.read(id)
    await kill()
    await on.space.runDue()
    await ada.leave()
    await on.space.join('bob')
    expect((await on.told('ada')).filter(isAbout(id)).map(({ subject }) => subject)).not.toContain(
      'bob is back and has your message',
    )
  })
})

describe('a notice', () => {
  test('of a deadline for an ack lasts until the ack', async () => {
    const on = await stage()
    const [ada, bob] = [await on.agent('ada'), await on.agent('bob')]
    const { id } = await ada.send({ to: 'bob', requiresAck: true, payload: { withinMs: 10 * minute } })
    await on.pass(15 * minute)
    expect(await saidTo(on, 'ada', id)).toEqual(['deadline bob'])
    await bob.ack(id)
    await on.space.runDue()
    expect(await saidTo(on, 'ada', id)).toEqual([])
  })

  test('that replaces another leaves out what was read meanwhile', async () => {
    const on = await stage()
    const [ada, bob] = [await on.agent('ada'), await on.agent('bob')]
    const urgent = { to: 'bob', priority: 'urgent' } as const
    const [first, second] = [await ada.send(urgent), await ada.send(urgent)]
    await on.pass(5 * minute)
    await bob.read(first.id)
    const third = await ada.send(urgent)
    await on.pass(5 * minute)
    expect((await on.told('user')).map(({ subject }) => subject)).toEqual([
      'bob has 2 unread urgent messages',
    ])
    expect(await saidTo(on, 'user', second.id)).toEqual(['unread bob'])
    expect(await saidTo(on, 'user', third.id)).toEqual(['unread bob'])
  })

  test('to the person for several reasons does not call everything undelivered', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    await on.agent('bob')
    const user = await on.space.mailbox('user')
    await user.send({ to: 'bob', ttlMs: 5 * minute })
    await ada.send({ to: 'bob', priority: 'urgent' })
    on.clock.advance(6 * minute)
    await on.space.runDue()
    expect(await on.told('user')).toMatchObject([
      { subject: '2 messages need attention', priority: 'high', payload: { notice: 'several' } },
    ])
  })

  test('is not sent for a question to a group that has expired and that its reader is done with', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const bob = await on.agent('bob')
    const { id } = await ada.send({ to: 'all', awaitingResponse: true, ttlMs: hour })
    await bob.read(id)
    await on.pass(2 * hour)
    expect(await on.space.owed()).toHaveLength(1)
    await bob.archive(id)
    expect(await on.space.owed()).toEqual([])
    await on.pass(6 * hour)
    expect(await everSaid(on, id)).toEqual([])
  })

  test('is not about what the person has come to read', async () => {
    const on = await stage()
    const ada = await on.agent('ada')
    const user = await on.space.mailbox('user')
    const { id } = await ada.send({ to: 'user', priority: 'urgent' })
    on.clock.advance(10 * minute)
    await user.check()
    const { steps } = (await on.space.show(id)).receipts[0]!
    expect(steps.map(({ state }) => state)).toEqual(['stored', 'shown'])
  })
})

test('the person owes no ack of what goes to everybody, in the roster or not', async () => {
  const on = await stage()
  const ada = await on.agent('ada')
  const user = await on.space.mailbox('user')
  await user.update({ addTags: ['project:x'] })
  await on.agent('bob')
  await ada.send({ to: 'all', requiresAck: true })
  expect((await on.space.owed()).map(({ by }) => by)).toEqual(['bob'])
})

describe('work for a role', () => {
  const work: Partial<SendInput> = { type: 'task_assignment' }

  async function busy(): Promise<{ bob: Mailbox; ada: Mailbox; on: Stage }> {
    const on = await stage()
    const ada = await on.agent('ada')
    const bob = await on.agent('bob', 'dev')
    const { id } = await ada.send({ to: 'bob', ...work })
    await bob.start(id)
    return { on, ada, bob }
  }

  test('that is also for the agent itself is shown to it, whatever it has in hand', async () => {
    const { ada, bob } = await busy()
    const both = await ada.send({ to: ['bob', 'role:dev'], ...work })
    expect((await bob.check({ budgetTokens: 1 })).messages.map(({ id }) => id)).toEqual([both.id])
  })

  test('is in the hands of the mailbox that has replied to it', async () => {
    const { on, ada } = await busy()
    const cy = await on.agent('cy', 'dev')
    const { id } = await ada.send({ to: 'role:dev', ...work })
    await cy.reply(id, { body: 'I am on it.' })
    expect(await cy.claim(id)).toMatchObject({ claim: { agent: 'cy' } })
  })
})
