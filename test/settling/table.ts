/**
 * docs/settling.md as data: what each act comes to for each kind of mail. It is written from that page, not from the
 * code, and `table.test.ts` tries every cell.
 */

/** Kinds of mail, by what they ask for. */
export const kinds = {
  text: { asks: 'nothing' },
  request: { asks: 'nothing' },
  ack: { asks: 'nothing', ack: true },
  question: { asks: 'question' },
  status: { asks: 'status' },
  plan: { asks: 'plan' },
  shutdown: { asks: 'shutdown' },
  task: { asks: 'task' },
  handoff: { asks: 'task' },
  ci: { asks: 'task', ack: true },
  review: { asks: 'task', ack: true },
} as const satisfies Record<string, { asks: string; ack?: true }>
export type MailKind = keyof typeof kinds
export type Asks = (typeof kinds)[MailKind]['asks']

export const addresses = ['direct', 'role', 'tag', 'all'] as const
export type Address = (typeof addresses)[number]

/** How far the mail is when somebody acts. Lapsed: it was claimed, and the claim has run out. */
export const starts = ['unread', 'read', 'claimed', 'lapsed'] as const
export type Start = (typeof starts)[number]

export const acts = [
  ...(['ack', 'ack message', 'reply', 'answer', 'reject', 'defer'] as const),
  ...(['report done', 'report failed', 'done', 'done with note', 'fail', 'archive'] as const),
  ...(['withdraw', 'person answers'] as const),
]
export type Act = (typeof acts)[number]

/** What an act comes to. */
export interface Outcome {
  /** The copy of whoever acts; null: the act changes nothing about it. */
  copy: 'acked' | 'archived' | 'failed' | 'withdrawn' | null
  /** Whether an ack that was wanted has come. */
  acked: boolean
  /** What becomes of what it asks for. */
  matter: 'open' | 'deferred' | 'failed' | 'settled'
  /** What whoever asked is sent: the type, and the status if it has one. */
  told: string | null
  /** What a member of a group does counts for the group, or for itself alone. */
  forGroup: boolean
}

export const untouched: Outcome = { copy: null, acked: false, matter: 'open', told: null, forGroup: false }
const received: Outcome = { ...untouched, copy: 'acked', acked: true }
const over: Outcome = { copy: 'archived', acked: true, matter: 'settled', told: null, forGroup: true }
const closed: Outcome = { ...over, told: 'status_update closed', forGroup: false }

/** Every act on every kind of mail; what is not named cannot be done. */
export const table: Record<Act, Partial<Record<Asks, Outcome>>> = {
  ack: each(received),
  'ack message': each({ ...received, told: 'ack' }),
  reply: {
    nothing: { ...over, told: 'response' },
    question: { ...over, told: 'response' },
    status: { ...over, told: 'response' },
    plan: { ...received, told: 'response' },
    shutdown: { ...received, told: 'response' },
    task: { ...received, told: 'response' },
  },
  answer: {
    status: { ...over, told: 'status_response' },
    plan: { ...over, told: 'plan_approval' },
    shutdown: { ...over, told: 'shutdown_response' },
  },
  reject: { plan: { ...over, told: 'plan_approval' } },
  defer: { shutdown: { ...received, matter: 'deferred', told: 'shutdown_response' } },
  'report done': { task: { ...over, told: 'status_update completed' } },
  'report failed': {
    task: { ...over, copy: 'failed', matter: 'failed', told: 'status_update failed', forGroup: false },
  },
  done: {
    nothing: over,
    question: closed,
    status: closed,
    plan: closed,
    shutdown: closed,
    task: { ...over, told: 'status_update completed' },
  },
  'done with note': {
    nothing: over,
    question: { ...over, told: 'response' },
    status: { ...over, told: 'response' },
    plan: closed,
    shutdown: closed,
    task: { ...over, told: 'status_update completed' },
  },
  fail: {
    nothing: { ...over, copy: 'failed' },
    question: { ...closed, copy: 'failed' },
    status: { ...closed, copy: 'failed' },
    plan: { ...closed, copy: 'failed' },
    shutdown: { ...closed, copy: 'failed' },
    task: { ...closed, copy: 'failed', matter: 'failed', told: 'status_update failed' },
  },
  archive: {
    nothing: over,
    question: closed,
    status: closed,
    plan: closed,
    shutdown: closed,
    task: { ...closed, matter: 'failed', told: 'status_update failed' },
  },
  withdraw: each({ ...over, copy: 'withdrawn' }),
  'person answers': {
    nothing: { ...untouched, told: 'response' },
    question: { ...over, told: 'response' },
    status: { ...over, told: 'status_response' },
    plan: { ...over, told: 'plan_approval' },
    shutdown: { ...over, told: 'shutdown_response' },
    task: { ...untouched, told: 'response' },
  },
}

function each(outcome: Outcome): Record<Asks, Outcome> {
  return {
    ...{ nothing: outcome, question: outcome, status: outcome },
    ...{ plan: outcome, shutdown: outcome, task: outcome },
  }
}
