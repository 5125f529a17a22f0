import { boxesTo } from '../model/address.ts'
import type { Message } from '../model/message.ts'

/**
 * A matter is what one message leaves open between its sender and a recipient until it is settled: a
 * question, a plan, a request to shut down, a task. Settling is done by messages and receipts alone, so
 * matters are derived from the journal like everything else.
 */
export const kinds = ['question', 'status', 'plan', 'shutdown', 'task', 'ack'] as const
export type Kind = (typeof kinds)[number]

export const matterStates = [
  'open',
  'answered',
  'approved',
  'rejected',
  'revised',
  'deferred',
  'accepted',
  'done',
  'failed',
  'acked',
  /** The message was withdrawn or is a dead letter: nobody owes anything any more. */
  'void',
] as const
export type MatterState = (typeof matterStates)[number]

export interface Matter {
  /** The message that opened it, and the address that owes something. */
  seq: number
  id: string
  owner: string
  kind: Kind
  state: MatterState
  asker: string
  /** What it is about: the agent's plan for a task, or the task. */
  key: string | null
  /** When it was opened, and by when it should be settled, in ms. */
  since: number
  until: number | null
  /** How often somebody was told that it is overdue. */
  level: number
}

export const isOpenMatter = (state: MatterState): boolean => state === 'open' || state === 'deferred'

interface Step {
  kind: Kind
  from: readonly MatterState[]
  to: MatterState
}

/** The conversations as a table: which step leads from where to where. Whatever is not in it is refused. */
const steps = {
  answer: { kind: 'question', from: ['open'], to: 'answered' },
  respond: { kind: 'status', from: ['open'], to: 'answered' },
  approve: { kind: 'plan', from: ['open'], to: 'approved' },
  reject: { kind: 'plan', from: ['open'], to: 'rejected' },
  revise: { kind: 'plan', from: ['rejected'], to: 'revised' },
  accept: { kind: 'shutdown', from: ['open', 'deferred'], to: 'accepted' },
  defer: { kind: 'shutdown', from: ['open', 'deferred'], to: 'deferred' },
  finish: { kind: 'task', from: ['open', 'failed'], to: 'done' },
  fail: { kind: 'task', from: ['open'], to: 'failed' },
} as const satisfies Record<string, Step>
export type StepName = keyof typeof steps

type Asked = Pick<Message, 'type' | 'awaitingResponse'>

/** Messages whose recipient is to do something, and says so by finishing them. */
const taskTypes = ['task_assignment', 'handoff', 'fix_ci_failure', 'fix_review_comments']

/** What a message opens besides a wish for an ack. */
export function opens({ type, awaitingResponse }: Asked): Exclude<Kind, 'ack'> | undefined {
  if (type === 'plan_submission') return 'plan'
  if (type === 'shutdown_request') return 'shutdown'
  if (type === 'status_request') return 'status'
  if (taskTypes.includes(type)) return 'task'
  return type === 'help_request' || awaitingResponse ? 'question' : undefined
}

/** What a matter is about, so that another message can name it. */
export function keyOf(message: Pick<Message, 'id' | 'from' | 'to' | 'payload'>, kind: Kind): string | null {
  const task = textOf(message, 'taskId')
  if (kind === 'plan') return `${message.from} ${task ?? ''}`
  return kind === 'task' ? (task ?? message.id) : null
}

/** By when it should be settled: `within` of the payload, in ms from its sending. */
function deadlineOf({ createdAt, payload }: Pick<Message, 'createdAt' | 'payload'>): number | null {
  const within = fieldsOf(payload)['withinMs']
  const until = typeof within === 'number' && within > 0 ? Date.parse(createdAt) + within : null
  // Beyond the end of all dates there is no deadline.
  return until !== null && until <= 8.64e15 ? Math.ceil(until) : null
}

/** The step that a message takes in a conversation that it answers; undefined when it is only talk. */
export function stepOf(message: Pick<Message, 'type' | 'payload' | 'replyTo'>): StepName | undefined {
  const { approved, accepted } = fieldsOf(message.payload)
  switch (message.type) {
    case 'plan_approval':
      return approved === true ? 'approve' : 'reject'
    case 'shutdown_response':
      return accepted === true ? 'accept' : 'defer'
    case 'status_response':
      return 'respond'
    case 'plan_submission':
      return message.replyTo === undefined ? undefined : 'revise'
    default:
      return message.replyTo === undefined ? undefined : 'answer'
  }
}

/** What a report on a task says of it, if it says that it is over. */
export function taskReport({
  type,
  payload,
}: Pick<Message, 'type' | 'payload'>): { task: string; step: StepName } | undefined {
  const { taskId, status } = fieldsOf(payload)
  if (type !== 'status_update' || typeof taskId !== 'string') return undefined
  if (status === 'completed') return { task: taskId, step: 'finish' }
  return status === 'failed' ? { task: taskId, step: 'fail' } : undefined
}

/** The matters a message opens, one for each address. */
export function openedBy(message: Message, seq: number): Matter[] {
  const { id, from: asker, requiresAck } = message
  const kind = opens(message)
  const found: Kind[] = [...(kind === undefined ? [] : [kind]), ...(requiresAck ? ['ack' as const] : [])]
  return found.flatMap((one) =>
    boxesTo(message.to).map((owner) => ({
      ...{ seq, id, owner, kind: one, state: 'open' as const, asker, key: keyOf(message, one) },
      ...{ since: Date.parse(message.createdAt), until: deadlineOf(message), level: 0 },
    })),
  )
}

/** Where a step leads from a state; undefined where it does not. */
export function next(step: StepName, kind: Kind, state: MatterState): MatterState | undefined {
  const { kind: of, from, to } = steps[step]
  return of === kind && (from as readonly MatterState[]).includes(state) ? to : undefined
}

export const fieldsOf = (payload: unknown): Record<string, unknown> =>
  payload !== null && typeof payload === 'object' && !Array.isArray(payload)
    ? (payload as Record<string, unknown>)
    : {}

function textOf({ payload }: Pick<Message, 'payload'>, field: string): string | undefined {
  const value = fieldsOf(payload)[field]
  return typeof value === 'string' && value !== '' ? value : undefined
}
