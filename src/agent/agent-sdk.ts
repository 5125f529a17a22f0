import { given } from '../base/objects.ts'
import type { UnreadCount } from '../query/count.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { brief, goOnRequest, type Moment } from './briefing.ts'
import { isTakingTool, subagentRefusal, takingToolPattern } from './subagent.ts'
import { reportWaiting } from './waiting.ts'

/** The state of an agent's mail after a hook. */
export interface AgentMailState {
  unread: UnreadCount
  /** Questions this agent sent that have no answer yet. */
  waitingFor: string[]
  waitingForResponse: boolean
}

export interface MailboxHookOptions {
  /** At the start, tell the agent who it is in the mailbox and how that works. @default true */
  instructions?: boolean
  /** How much text one hook may add, estimated in tokens. @default 2000 */
  budgetTokens?: number
  /** How often mail may keep the agent from stopping before the next prompt. @default 5 */
  turnsAtMost?: number
  /** Called after every hook. */
  onState?: (state: AgentMailState) => void
  /** Called when something goes wrong; the agent continues without its mail. */
  onError?: (error: unknown) => void
}

interface HookInput {
  hook_event_name: string
  /** Set inside a subagent. */
  agent_id?: string | undefined
  tool_name?: string | undefined
}

/** The part of the SDK's hook output that is used here. */
export interface MailboxHookOutput {
  systemMessage?: string
  hookSpecificOutput?: {
    hookEventName: 'SessionStart' | 'UserPromptSubmit' | 'PreToolUse' | 'PostToolUse' | 'Stop'
    additionalContext?: string
    permissionDecision?: 'deny'
    permissionDecisionReason?: string
  }
}

type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<MailboxHookOutput>

/** The SDK events that we handle; the value is what its `hooks` option takes. */
export type MailboxHooks = Record<
  'SessionStart' | 'UserPromptSubmit' | 'PreToolUse' | 'PostToolUse' | 'Stop' | 'SubagentStop' | 'PreCompact',
  { matcher?: string; hooks: HookCallback[] }[]
>

/**
 * The `hooks` option of `@anthropic-ai/claude-agent-sdk` for an agent with a mailbox: unread mail arrives with its
 * prompts, urgent mail after a tool, and mail that asks for something before it stops. When a subagent stops over a
 * question, the lead is told by mail and the person watching by a system message. Where the mailbox is also there as
 * MCP tools, subagents cannot take its mail.
 *
 *     query({ prompt, options: { hooks: mailboxHooks(mailbox) } })
 */
export function mailboxHooks(mailbox: Mailbox, options: MailboxHookOptions = {}): MailboxHooks {
  const { instructions = true, turnsAtMost = 5, onState, onError = () => {} } = options
  const budget = given({ budgetTokens: options.budgetTokens })
  let hasBegun = false
  let needsRecall = false
  let turns = 0
  let reported: string[] = []

  /** The text for a moment. Its mail is unread again if the hook was aborted meanwhile. */
  async function tell(moment: Moment, signal: AbortSignal): Promise<string> {
    const { text, ids } = await brief(mailbox, moment, { ...budget, recall: needsRecall })
    if (signal.aborted) {
      for (const id of ids) await mailbox.release(id)
      return ''
    }
    if (text !== '') needsRecall = false
    return text
  }

  type Event = NonNullable<MailboxHookOutput['hookSpecificOutput']>['hookEventName']
  const intoContext = (hookEventName: Event, additionalContext: string): MailboxHookOutput =>
    additionalContext === '' ? {} : { hookSpecificOutput: { hookEventName, additionalContext } }

  /** The SDK does not always report the start of a session; then the first prompt counts as the start. */
  const begin = (): Moment => {
    const moment = hasBegun || !instructions ? 'prompt' : 'start'
    hasBegun = true
    return moment
  }

  const guarded =
    (work: (input: HookInput, signal: AbortSignal) => Promise<MailboxHookOutput>): HookCallback =>
    async (input, _, { signal }) => {
      try {
        const output = await work(input, signal)
        if (onState !== undefined) onState(await stateOf(mailbox))
        return output
      } catch (error) {
        onError(error)
        return {}
      }
    }
  const on = (work: Parameters<typeof guarded>[0]) => [{ hooks: [guarded(work)] }]

  return {
    SessionStart: on(async (_, signal) => intoContext('SessionStart', await tell(begin(), signal))),
    UserPromptSubmit: on(async (_, signal) => {
      turns = 0
      return intoContext('UserPromptSubmit', await tell(begin(), signal))
    }),
    PreToolUse: [
      {
        matcher: takingToolPattern,
        hooks: [
          guarded(async ({ agent_id: subagent, tool_name: tool = '' }) =>
            subagent !== undefined && isTakingTool(tool) ? denial : {},
          ),
        ],
      },
    ],
    PostToolUse: on(async ({ agent_id: subagent }, signal) => {
      // A subagent cannot act for the agent that the mail is for.
      if (subagent !== undefined) return {}
      return intoContext('PostToolUse', await tell('tool', signal))
    }),
    Stop: on(async (_, signal) => {
      const text = turns < turnsAtMost ? await tell('stop', signal) : ''
      if (text === '') return {}
      turns++
      // This makes the agent go on. A `decision` would do so too, but its text comes twice.
      return intoContext('Stop', `${text}\n\n${goOnRequest}`)
    }),
    SubagentStop: on(async () => {
      const { ids, notice } = await reportWaiting(mailbox, reported)
      reported = [...reported, ...ids]
      return notice === '' ? {} : { systemMessage: notice }
    }),
    PreCompact: on(async () => {
      needsRecall = true
      return {}
    }),
  }
}

const denial: MailboxHookOutput = {
  hookSpecificOutput: {
    ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny' },
    permissionDecisionReason: subagentRefusal,
  },
}

async function stateOf(mailbox: Mailbox): Promise<AgentMailState> {
  const waitingFor = (await mailbox.awaited({ kind: 'question' })).map(({ id }) => id)
  return { unread: await mailbox.count(), waitingFor, waitingForResponse: waitingFor.length > 0 }
}
