import type * as z from 'zod/mini'
import type { receiptChangeSchema } from './schemas.ts'

/**
 * The steps of one message for one recipient:
 *
 * `stored -> notified -> shown -> acked -> processing -> completed | failed -> archived`
 *
 * and three other ends: `expired`, `dead`, `withdrawn`.
 * `shown` means that the text is in the agent's context, not just queued for it.
 */
export const receiptStates = [
  'stored',
  'notified',
  'shown',
  'acked',
  'processing',
  'completed',
  'failed',
  'archived',
  'expired',
  'dead',
  'withdrawn',
] as const
export type ReceiptState = (typeof receiptStates)[number]

/** unread: nobody has seen it. open: seen, not finished. closed: finished, one way or another. */
export const receiptClasses = ['unread', 'open', 'closed'] as const
export type ReceiptClass = (typeof receiptClasses)[number]

export function classOf(state: ReceiptState): ReceiptClass {
  switch (state) {
    case 'stored':
    case 'notified':
      return 'unread'
    case 'shown':
    case 'acked':
    case 'processing':
    case 'failed':
      return 'open'
    default:
      return 'closed'
  }
}

/** The recipient has acknowledged the message or done more than that. */
export const isAcked = (state: ReceiptState): boolean =>
  ['acked', 'processing', 'completed', 'failed', 'archived'].includes(state)

/**
 * What changed a receipt: the states themselves, the steps that lead back to `stored` (`released`, `retried`,
 * `repeated` without an ack, `revived` when its agent is back), and notes that change no state: `escalated`,
 * `stale`, `overdue` (the answer is late), `extended`.
 */
export const receiptSteps = [
  ...receiptStates,
  'claimed',
  'released',
  'retried',
  'repeated',
  'revived',
  'escalated',
  'stale',
  'overdue',
  'extended',
] as const
export type ReceiptStep = (typeof receiptSteps)[number]

/**
 * A change of one receipt, as the journal records it. The decision is taken with the exclusive right to
 * append, so what it saw (`was`) is exact, and folding the journal into counts needs no lookup.
 */
export type ReceiptChange = z.infer<typeof receiptChangeSchema>

/** Whether the recipient sees the message for the first time. */
export const showsFirst = ({ state, was = 'stored' }: ReceiptChange): boolean =>
  classOf(was) === 'unread' && classOf(state) !== 'unread' && !isDeadLetter(state) && state !== 'withdrawn'

export const finishes = ({ state, was }: ReceiptChange): boolean =>
  (state === 'archived' || state === 'completed') && was !== 'completed' && was !== 'archived'

/** One receipt as the index keeps it. */
export interface Receipt {
  seq: number
  owner: string
  box: string
  rank: number
  state: ReceiptState
  /** How often it was claimed, and how often work on it has failed. */
  attempts: number
  failures: number
  /** End of the claim in ms, if it is claimed. */
  claimUntil: number | null
  /** When the message expires, in ms. */
  expiresAt: number | null
  /** When an ack is overdue, in ms, and how often the message was shown again without one. */
  ackBy: number | null
  repeats: number
  /** One of {@link escalation}. */
  level: number
  /** When it last became unread, in ms. */
  since: number
  /** The state it had before it became a dead letter, if it is one. */
  before: ReceiptState | null
  /** The agent got it as a member of a group. */
  viaGroup: boolean
  /** It has been seen, whatever its state is now. */
  seen: boolean
}

/**
 * How far a message was escalated. `person`: the person was told, and nothing more will be done about it.
 * `muted`: nobody is notified that it is unread; a missing ack is handled separately. `silent`: it was imported, so
 * nobody is notified of anything that becomes of it by itself.
 */
export const escalation = { none: 0, lead: 1, person: 2, muted: 3, silent: 4 } as const

/** A dead letter cannot reach anyone, and its sender is notified. */
export const isDeadLetter = (state: ReceiptState): boolean => state === 'dead' || state === 'expired'

/** The state at a time: unread mail past its expiry has expired, even if that is not recorded yet. */
export function stateNow({ state, expiresAt }: Receipt, now: number): ReceiptState {
  return classOf(state) === 'unread' && expiresAt !== null && expiresAt <= now ? 'expired' : state
}

/** A step that was taken: when, and by whom. */
export interface LadderStep {
  state: ReceiptStep
  at: string
  by: string
  note?: string
}

/** What the sender sees of one recipient. */
export interface ReceiptView {
  recipient: string
  state: ReceiptState
  claimedBy?: string
  attempts: number
  /** How often it was shown again without an ack. */
  repeats: number
  steps: LadderStep[]
}
