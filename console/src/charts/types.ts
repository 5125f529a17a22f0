import type { LifeEvent as Life } from '../../../src/query/chronicle.ts'
import type { SeriesBucket } from '../../../src/query/series.ts'

/** The input of the charts. The hub's answers fit as they are. */
export interface ChartAgent {
  name: string
  state?: string | undefined
  roles?: readonly string[] | undefined
}

/** How many messages an agent sent to an address: an agent, `role:x`, a tag or `all`. */
export interface Pair {
  from: string
  to: string
  messages: number
  lastAt?: string | undefined
}

/** What a person selected in a chart. */
export type Selection = { kind: 'agent'; name: string } | { kind: 'pair'; from: string; to: string }

export interface ChartReceipt {
  /** The address it was sent to, and the inbox that holds it now. */
  owner: string
  box: string
  state: string
}

export interface ChartMessage {
  id: string
  from: string
  to: readonly string[]
  type: string
  subject: string
  createdAt: string
  priority?: string | undefined
  replyTo?: string | undefined
  receipts?: readonly ChartReceipt[] | undefined
}

/** A value to compare with. */
export interface Threshold {
  value: number
  label: string
}

/** A time interval and its counts; null where there is no value. */
export type Bucket = SeriesBucket
/** An agent that died or came back. */
export type LifeEvent = Life
export type BucketKey = Exclude<keyof Bucket, 'at'>
