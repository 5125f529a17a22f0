import type { Moment } from '../../agent/briefing.ts'
import type { Client } from '../../model/client.ts'

/** What a client tells us with one of its events, in our words. */
export interface Call {
  /**
   * When to say what is unread; or, besides: `help` a subagent has stopped, `compact` the context is about to
   * be shortened, `end` the session is over, `wait` to wait in the background until an idle agent has mail.
   */
  moment: Moment | 'help' | 'compact' | 'end' | 'wait'
  sessionId: string | undefined
  /** After a tool of a subagent: it is told nothing, since it cannot act for the agent whose mail it is. */
  isAside?: boolean
  /** At the end of a turn: only invite the agent to go on; what it then gets as a prompt brings the mail. */
  invites?: boolean
  /** Before the context is shortened: what is said now is kept. */
  isKept?: boolean
}

/** What we say, in our words. */
export interface Said {
  /** For the agent's context. */
  context?: string
  /** The agent is not to stop: this is what it goes on with. */
  goOn?: string
  /** A prompt to start a turn with. */
  prompt?: string
  /** For the person who looks on. */
  notice?: string
}

/** One client's events and answers. Nothing is decided here. */
export interface Dialect {
  client: Client
  /** Whether it says itself which process it is; else that is the one above the shells that started us. */
  tellsPid: boolean
  /** Undefined for what is none of our business. */
  understand(event: string, input: Input): Call | undefined
  /** What to print on standard output; empty when there is nothing to say. */
  say(event: string, said: Said): string
  /** What to print when nothing is said, for one that wants to tell that from a failure. */
  silence?: string
  /**
   * How one that waits in the background wakes it: by ending with 2 and the mail on standard error, by saying
   * so on standard output, or by a command, for which it is started by ourselves.
   */
  wakes?: 'by-exit' | 'by-word' | ((sessionId: string, text: string, pid: number) => Promise<void>)
}

/**
 * Claude Code and Codex name the subagent in which an event happens. Of its tools there are many, so that they
 * are worth a look; what it is prompted with, and the like, is none of our business.
 */
export function callOf(moment: Call['moment'] | undefined, input: Input): Call | undefined {
  const isAside = input['agent_id'] !== undefined && moment !== 'help'
  if (moment === undefined || (isAside && moment !== 'tool')) return undefined
  return { moment, sessionId: textOf(input['session_id']), isAside }
}

export type Input = Readonly<Record<string, unknown>>

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** The form that Claude Code has introduced and others have taken over. */
export function sayAsJson(event: string, { context, goOn, notice }: Said, refuse: 'block' | 'deny'): string {
  const answer = {
    ...(context ? { hookSpecificOutput: { hookEventName: event, additionalContext: context } } : {}),
    ...(goOn ? { decision: refuse, reason: goOn } : {}),
    ...(notice ? { systemMessage: notice } : {}),
  }
  return Object.keys(answer).length === 0 ? '' : JSON.stringify(answer)
}
