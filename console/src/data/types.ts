/** What the hub answers, by the names of the library where it hands out the library's own. */
import type { Entry } from '../../../src/model/entry.ts'
import type { Priority } from '../../../src/model/message.ts'
import type { LadderStep, ReceiptState, ReceiptView } from '../../../src/model/receipt.ts'
import type { DeadLetter, DeadLetters } from '../../../src/query/dead.ts'
import type { StoredMessage } from '../../../src/query/message.ts'
import type { Owed } from '../../../src/query/owed.ts'
import type { RosterAgent } from '../../../src/query/presence.ts'
import type { ShownMessage } from '../../../src/query/show.ts'
import type { Stats } from '../../../src/query/stats.ts'
import type { ThreadSummary } from '../../../src/query/threads.ts'
import type { Overview } from '../../../src/space/survey.ts'

export type {
  DeadLetter,
  DeadLetters,
  Entry,
  LadderStep,
  Overview,
  Owed,
  Priority,
  ReceiptState,
  ReceiptView,
  RosterAgent,
  ShownMessage,
  Stats,
  StoredMessage,
  ThreadSummary,
}

export interface ThreadReceipt {
  owner: string
  box: string
  state: ReceiptState
}

export type ThreadMessage = StoredMessage & { receipts: ThreadReceipt[] }

export interface NeedsYouItem {
  kind: 'plan' | 'help' | 'question' | 'escalation' | 'ack' | 'mail' | 'notice'
  message: StoredMessage
  since: string
  until?: string | null
}

export interface Pair {
  from: string
  to: string
  messages: number
  lastAt: string
}

export interface Series {
  buckets: {
    at: string
    sent: number
    handled: number
    pending: number
    p50Ms: number | null
    p95Ms: number | null
    p99Ms: number | null
  }[]
  agents: {
    name: string
    sent: number
    received: number
    pending: number
    oldestPendingAt: string | null
  }[]
}

export interface ReplayFrame {
  seq: number
  at: string
  first: number
  last: number
  firstAt: string
  lastAt: string
  agents: { name: string; state: RosterAgent['state']; roles: string[]; unread: number }[]
  recent: {
    seq: number
    at: string
    kind: Entry['kind']
    text: string
    message?: Pick<StoredMessage, 'id' | 'from' | 'to' | 'subject' | 'type' | 'priority'>
  }[]
  totals: { messages: number }
}
