import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'

/** What a handler gets besides the message. */
export interface AgentContext {
  mailbox: Mailbox
  /** Mail without a handler that arrived since the last task: context for the next prompt. */
  gathered: readonly InboxMessage[]
  /** Aborted when the work must end: a shutdown's deadline has passed, or the loop was stopped. */
  signal: AbortSignal
}

/** Does the work a message asks for. What it returns becomes the note of `done`; throwing fails the message. */
export type Handler = (message: InboxMessage, context: AgentContext) => unknown

/** By type of message; `default` handles every other type. Without it, such mail is gathered. */
export type AgentHandlers = Partial<Record<string, Handler>>

export interface AgentLoopOptions {
  /** Ends the loop: work in progress is aborted, and what was not started stays unread. */
  signal?: AbortSignal
  /**
   * Types that are handled while a task runs, one at a time beside it: what the task itself may have to wait for,
   * such as the plans of those it gave work to. @default none; for a lead plans and requests for help
   */
  beside?: readonly string[]
  /** Called with everything the loop does, for logs. */
  onEvent?: (event: AgentEvent) => void
}

export type AgentEvent =
  | { event: 'started' | 'done' | 'gathered'; message: InboxMessage }
  | { event: 'failed' | 'refused'; message: InboxMessage; reason: string }
  | { event: 'deferred' | 'accepted'; message: InboxMessage }

export interface AgentLoopResult {
  handled: number
  failed: number
  /** Why it ended. */
  ended: 'shutdown' | 'signal'
}
