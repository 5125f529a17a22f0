import { boxesTo, isAgentBox } from '../model/address.ts'
import { person, systemAgent } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import { asking } from '../model/reach.ts'
import type { Report } from './conversation.ts'
import { fieldsOf } from './field.ts'
import { findStep, type Kind, type MatterState, matterOf, type TakenStep, typeOf } from './registry.ts'

/**
 * A matter is what one message leaves open between its sender and a recipient until it is settled: a
 * question, a plan, a request to shut down, a task. Settling is done by messages and receipts alone, so
 * matters are derived from the journal like everything else.
 */
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

/** What a message opens besides a wish for an ack. */
export const opens = ({ type, awaitingResponse }: Pick<Message, 'type' | 'awaitingResponse'>) =>
  (typeOf(type)?.opens ?? (awaitingResponse ? 'question' : undefined)) as Kind | undefined

/** What a message wants of whoever gets it: one of {@link asking}. */
export function asksFor(message: Pick<Message, 'type' | 'awaitingResponse' | 'requiresAck'>): number {
  const kind = opens(message)
  if (kind !== undefined && matterOf(kind)?.handled !== undefined) return asking.work
  if (kind !== undefined || typeOf(message.type)?.asks) return asking.answer
  return message.requiresAck ? asking.ack : asking.nothing
}

/** A reply that asks for nothing itself. Nobody is told when it stays unread. */
export const isOnlyReply = (message: Message): boolean =>
  message.replyTo !== undefined && opens(message) === undefined

/** What a matter is about, so that another message can name it. */
export const keyOf = (message: Message, kind: Kind): string | null => matterOf(kind)?.key?.(message) ?? null

/** By when it should be settled: `withinMs` of the payload, from its sending. */
function deadlineOf({ createdAt, payload }: Pick<Message, 'createdAt' | 'payload'>): number | null {
  const within = fieldsOf(payload)['withinMs']
  const until = typeof within === 'number' && within > 0 ? Date.parse(createdAt) + within : null
  // Beyond the end of all dates there is no deadline.
  return until !== null && until <= 8.64e15 ? Math.ceil(until) : null
}

/** The step that a message takes in the conversation that it replies to; undefined when it is no reply. */
export function stepOf(message: Pick<Message, 'type' | 'payload' | 'replyTo'>): TakenStep | undefined {
  if (message.replyTo === undefined) return undefined
  const { takes, conversation } = typeOf(message.type) ?? {}
  if (takes === undefined) return findStep('question', 'answer')
  return findStep(conversation!.matter!.kind, takes(fieldsOf(message.payload)))
}

/** A matter as its message and one recipient have it. */
type Part = Pick<Matter, 'owner' | 'kind' | 'state' | 'asker'>

/** `each`: everybody who was asked still has to answer. */
type Moved = Part & { to: MatterState; each: boolean }

/**
 * Where a reply leads what the message that it replies to has left open. One answer to a question, or one verdict on
 * a plan, counts for everyone who was asked. What each agent must answer for itself, its status and whether it shuts
 * down, settles only what that agent owes; the person may answer for anybody.
 */
export function movedBy(message: Message, matters: readonly Part[]): Moved[] {
  const { from } = message
  const isOwn = matters.some(({ owner }) => owner === from)
  const isOthers = (owner: string) => (isOwn ? owner !== from : from !== person && isAgentBox(owner))
  return matters.flatMap((matter) => {
    const step = stepOn(message, matter.kind)
    if (step === undefined || (step.each && isOthers(matter.owner))) return []
    const to = next(step, matter.kind, matter.state)
    const counts = step.name !== matterOf(matter.kind)?.byReply || isAnswer(message, matter.asker)
    return to !== undefined && counts ? { ...matter, to, each: step.each ?? false } : []
  })
}

/** The step of a reply in a matter of a kind. */
function stepOn(message: Message, kind: Kind): TakenStep | undefined {
  const step = stepOf(message)
  if (step?.kind === kind) return step
  const name = matterOf(kind)?.byReply
  return name !== undefined && typeOf(message.type)?.takes === undefined ? findStep(kind, name) : undefined
}

/**
 * Whether a reply says what has become of a matter: an answer, a verdict, the end of the work, or that there will be
 * none. That somebody has begun with it, or wants to talk about it, is no reason to stop waiting.
 */
export function isOutcome(message: Message, { kind, asker }: Pick<Matter, 'kind' | 'asker'>): boolean {
  if (typeOf(message.type)?.ends?.(fieldsOf(message.payload))) return message.from !== asker
  const step = stepOn(message, kind)
  return step !== undefined && (step.name !== matterOf(kind)?.byReply || isAnswer(message, asker))
}

/** A follow-up by the asker is not an answer, nor is passing the matter on to someone else. */
export const isAnswer = (message: Message, asker: string): boolean =>
  message.from !== asker &&
  message.from !== systemAgent &&
  !settlesNothing(message) &&
  message.to.includes(asker)

function settlesNothing({ type, payload }: Message): boolean {
  const { settlesNothing: rule = false } = typeOf(type) ?? {}
  return typeof rule === 'function' ? rule(fieldsOf(payload)) : rule
}

/** What a message says of a matter that it names by its key, if it says that it is over. */
export const reportOf = ({ type, payload }: Pick<Message, 'type' | 'payload'>): Report | undefined =>
  typeOf(type)?.reports?.(fieldsOf(payload))

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

/** Where a step leads from a state of a kind of matter; undefined where it does not. */
export const next = (step: TakenStep | undefined, kind: Kind, state: MatterState): MatterState | undefined =>
  step !== undefined && step.kind === kind && step.from.includes(state) ? (step.to as MatterState) : undefined
