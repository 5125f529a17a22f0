import { MailboxError } from '../../src/base/errors.ts'
import {
  acceptShutdown,
  approvePlan,
  assignTask,
  deferShutdown,
  type Mailbox,
  rejectPlan,
  requestShutdown,
  requestStatus,
  respondStatus,
  submitPlan,
  updateStatus,
} from '../../src/mod.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { createChance } from './history.ts'

const names = ['ada', 'bob', 'cyd', 'user'] as const
const minute = 60_000

/**
 * Agents that talk with one another: questions, plans, requests, tasks and acks, some of them settled in one way or
 * another, some late, some never. What is due is done in between. `clock` moves on by up to hours.
 */
export async function talkThrough(
  space: DiskSpace,
  steps: number,
  seed: number,
  clock: { now: number },
): Promise<void> {
  const chance = createChance(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)]!
  await space.join('ada', { roles: ['lead'], tags: ['project:x'] })
  await space.join('bob', { roles: ['worker'], tags: ['project:x'] })
  await space.join('cyd', { roles: ['worker'] })
  const asked: { id: string; kind: string; taskId?: string }[] = []
  let tasks = 0

  async function ask(me: Mailbox): Promise<void> {
    const to = pick(['ada', 'bob', 'cyd', 'role:worker', 'role:lead', 'project:x', 'all', 'user'])
    const one = pick(['ada', 'bob', 'cyd'])
    const taskId = `T-${tasks++}`
    const opening = pick([
      async () => ({ kind: 'text', id: (await me.send({ to, awaitingResponse: true, subject: 'How?' })).id }),
      async () => ({ kind: 'text', id: (await me.send({ to, requiresAck: true, priority: 'urgent' })).id }),
      async () => ({ kind: 'plan', id: (await submitPlan(me, { to: one, subject: 'Plan', taskId })).id }),
      async () => ({ kind: 'shutdown', id: (await requestShutdown(me, one, { reason: 'x' })).id }),
      async () => ({ kind: 'status', id: (await requestStatus(me, one)).id }),
      async () => ({ kind: 'task', id: (await assignTask(me, { to, taskId, subject: 'Do' })).id, taskId }),
    ])
    asked.push(await opening())
  }

  async function settle(me: Mailbox): Promise<unknown> {
    const { id, kind, taskId = '' } = pick(asked)
    if (chance() < 0.3) return me.reply(id, { body: 'so' })
    if (kind === 'plan') return chance() < 0.5 ? approvePlan(me, id) : rejectPlan(me, id, { feedback: 'no' })
    if (kind === 'shutdown')
      return chance() < 0.5 ? acceptShutdown(me, id) : deferShutdown(me, id, { reason: 'busy' })
    if (kind === 'status') return respondStatus(me, id, { status: 'working' })
    if (kind === 'task' && chance() < 0.5)
      return updateStatus(me, { to: 'ada', taskId, status: pick(['completed', 'failed', 'in_progress']) })
    return pick([
      () => me.ack(id),
      () => me.start(id),
      () => me.done(id, { note: 'done' }),
      () => me.fail(id, { reason: 'cannot' }),
      () => me.retry(id),
      () => me.release(id),
      () => me.archive(id),
      () => me.withdraw(id),
    ])()
  }

  for (let step = 0; step < steps; step++) {
    clock.now += Math.floor(chance() ** 4 * 90 * minute)
    const name = pick(names)
    try {
      const me = await space.mailbox(name, { join: {} })
      if (asked.length === 0 || chance() < 0.35) await ask(me)
      else if (chance() < 0.3) await me.check()
      else await settle(me)
      if (chance() < 0.1) await space.runDue()
      if (chance() < 0.03 && name !== 'user') await space.leave(name, { frozen: chance() < 0.7 })
    } catch (error) {
      if (!(error instanceof MailboxError) || error.code === 'internal') throw error
    }
  }
}
