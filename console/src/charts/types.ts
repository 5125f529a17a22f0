/** What the charts are given. The hub's own answers fit as they are. */
export interface ChartAgent {
  name: string
  state?: string | undefined
  roles?: readonly string[] | undefined
}

/** How much one agent wrote to one address, as it was written: an agent, `role:x`, a tag or `all`. */
export interface Pair {
  from: string
  to: string
  messages: number
  lastAt?: string | undefined
}

/** What a person picked in a chart. */
export type Selection = { kind: 'agent'; name: string } | { kind: 'pair'; from: string; to: string }

export interface ChartReceipt {
  /** The address whose copy it is, and whose inbox holds it now. */
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

/** A stretch of time and what was counted in it; null where there is nothing to say. */
export type Bucket = { at: string } & { [key: string]: number | string | null }
