import type { Priority } from './message.ts'

/** What a sender says; everything but `to` has a default. */
export interface SendInput {
  /** Addresses: `ada`, `role:architect`, `project:x`, `all`, or several of them. */
  to: string | readonly string[]
  /** @default '' */
  subject?: string
  /** Markdown. @default '' */
  body?: string
  /** @default 'text' */
  type?: string
  /** @default 'normal' */
  priority?: Priority
  /** Any JSON. */
  payload?: unknown
  /** Structured context of a handoff. */
  context?: Record<string, unknown>
  replyTo?: string
  threadId?: string
  /** How long the mail lives. `null`: for ever. @default by kind of address: agent and tag 24 h, all 4 h, role for ever */
  ttlMs?: number | null
  requiresAck?: boolean
  awaitingResponse?: boolean
  attachments?: readonly string[]
  tags?: readonly string[]
  swarm?: string
  /** A second send with the same key returns the first message. */
  key?: string
  traceparent?: string
  /** Agents that a group address would reach and that shall not get it. */
  exclude?: readonly string[]
  /** Keep the mail for agents that have yet to join. */
  hold?: boolean
  /**
   * Only for this run of the agent. Requests to shut down and answers to plans are for the run that is there
   * when they are sent, unless this says otherwise.
   */
  generation?: number
  /** An earlier message of yours in the same thread that this one replaces if nobody has seen it; `true`: the last. */
  supersede?: string | boolean
}
