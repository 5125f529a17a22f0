import type { Moment } from '../../agent/briefing.ts'
import { isTakingTool } from '../../agent/subagent.ts'
import type { Client } from '../../model/client.ts'

/** One event of a client, in our own terms. */
export interface HookEvent {
  /**
   * When to show unread mail (see `Moment`), or: `help` a subagent has stopped, `compact` the context is about to
   * be compacted, `end` the session is over, `wait` wait in the background until the idle agent has mail, `call` a
   * tool of ours that takes mail is about to be called, `delegate` a subagent is about to start.
   */
  moment: Moment | 'help' | 'compact' | 'end' | 'wait' | 'call' | 'delegate'
  sessionId: string | undefined
  /** From a tool call of a subagent. It gets no mail: it cannot act for the agent that the mail is for. */
  fromSubagent?: boolean
  /**
   * The work of a subagent that starts (`delegate`) or has ended (`tool`), for a client that does not say which tool
   * calls come from a subagent: all of them do in between.
   */
  delegation?: string
  /**
   * At the start: say nothing yet, and treat the first prompt as the start. For a client that forgets what it is told
   * now when the session is resumed.
   */
  leftToPrompt?: boolean
  /** At the end of a turn: only announce the mail. The prompt that follows brings it. */
  announceOnly?: boolean
  /** Before compaction: what we reply now survives it. */
  survivesCompaction?: boolean
}

/** What we tell the client, in our own terms. */
export interface HookReply {
  /** Added to the agent's context. */
  context?: string
  /** The agent must not stop, and continues with this. */
  continueWith?: string
  /** Starts a turn. */
  prompt?: string
  /** Shown to the person. */
  notice?: string
  /** The tool is not called, and whoever wanted to call it is told this. */
  refusal?: string
}

/** Translates one client's events and our replies. Nothing is decided here. */
export interface Dialect {
  client: Client
  /** Whether it tells us its pid. Otherwise it is the process above the shells that started us. */
  tellsPid: boolean
  /** Undefined for an event that does not concern us. */
  parse(event: string, input: HookInput): HookEvent | undefined
  /** What to print on standard output. */
  format(event: string, reply: HookReply): string
  /** What to print when there is nothing to say, for a client that must tell that from a failure. */
  emptyReply?: string
  /**
   * How to wake an idle session when mail comes:
   * - `exit`: the client runs our wait itself, and wakes when it ends with code 2 and the mail on standard error
   * - `print`: the client runs our wait itself, and wakes when it prints a prompt
   * - a function: we wait in a process of our own, and call it with the prompt
   */
  wake?: 'exit' | 'print' | ((session: { id: string; pid: number }, prompt: string) => Promise<void>)
}

export type HookInput = Readonly<Record<string, unknown>>

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** The events of Claude Code, whose names Codex has adopted. */
const claudeEvents: Record<string, HookEvent['moment']> = {
  // Fires for a new, resumed or cleared session, and after compaction.
  SessionStart: 'start',
  UserPromptSubmit: 'prompt',
  PostToolUse: 'tool',
  Stop: 'stop',
  PreToolUse: 'call',
  SubagentStop: 'help',
  PreCompact: 'compact',
  SessionEnd: 'end',
  // Not an event of the client: the name under which we are started to wait in the background.
  Rewake: 'wait',
}

/** Whether the tool that an event is about takes mail. */
export const isTaking = (input: HookInput): boolean => isTakingTool(textOf(input['tool_name']) ?? '')

/**
 * Both name the subagent that an event comes from. Its tool calls are frequent enough to be worth a look at the
 * mail; its other events do not concern us, except that it must not take the mail itself.
 */
export function parseClaudeEvent(event: string, input: HookInput): HookEvent | undefined {
  const moment = claudeEvents[event]
  const fromSubagent = input['agent_id'] !== undefined && moment !== 'help'
  if (moment === undefined || (fromSubagent && moment !== 'tool' && moment !== 'call')) return undefined
  if (moment === 'call' && !(fromSubagent && isTaking(input))) return undefined
  return { moment, sessionId: textOf(input['session_id']), fromSubagent }
}

/** The JSON that Claude Code introduced and others have adopted: with their own word for not stopping. */
export function formatClaudeReply(event: string, reply: HookReply, refusal: 'block' | 'deny'): string {
  const { context, continueWith, notice } = reply
  const output = {
    ...(context ? { hookSpecificOutput: { hookEventName: event, additionalContext: context } } : {}),
    ...(continueWith ? { decision: refusal, reason: continueWith } : {}),
    ...(notice ? { systemMessage: notice } : {}),
  }
  return Object.keys(output).length === 0 ? '' : JSON.stringify(output)
}
