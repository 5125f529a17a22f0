import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'
import { MailboxError } from '../base/errors.ts'
import { given, isObject } from '../base/objects.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'

/** Who sent a request over HTTP. The hub has checked the token. */
export interface McpCaller {
  agent: string
  /** False once the token is revoked; then everything it has open ends. */
  isStillGood: () => boolean
  /** Resolves when the client has a connection, or is given up. @default at once */
  attached?: () => Promise<void>
  /** Resolves when the connection is done with the answer: whether all of it was written. @default it always is */
  delivered?: Promise<boolean>
  /** Takes what undoes a call whose answer does not reach its client. */
  ifUndelivered?: (undo: () => Promise<unknown>) => void
}

/** In the form that the SDK passes to tools. */
export const authInfoOf = ({ agent, ...extra }: McpCaller): AuthInfo => ({
  ...{ token: '', clientId: agent, scopes: [], extra },
})

const callerOf = ({ http }: ServerContext) => (http?.authInfo?.extra ?? {}) as Partial<McpCaller>

/**
 * Whether the client of a call has gone, or its token was revoked. While it has lost its connection, that is not known
 * yet, and what was taken for it is held.
 */
export async function isGone(context: ServerContext): Promise<boolean> {
  const { isStillGood, attached } = callerOf(context)
  await attached?.()
  return context.mcpReq.signal.aborted || isStillGood?.() === false
}

/**
 * Mail that was taken for a client becomes unread again if the client has gone, or goes before the answer reaches it,
 * so that the next call finds it.
 */
export async function orGiveBack(
  mailbox: Mailbox,
  taken: readonly InboxMessage[],
  context: ServerContext,
): Promise<void> {
  const giveBack = async () => {
    for (const { id, claimNumber } of taken) await mailbox.release(id, given({ claimNumber }))
  }
  if (!(await isGone(context))) return callerOf(context).ifUndelivered?.(giveBack)
  await giveBack()
  throw new MailboxError('interrupted', 'the call was cancelled', { hint: 'nothing was taken' })
}

/**
 * Whether a call comes from a subagent. Only Codex says so, which has a thread for each; in other clients their hooks
 * or plugin stop such calls.
 */
export function isSubagent({ mcpReq }: ServerContext): boolean {
  const {
    threadId,
    sessionId,
    'x-codex-turn-metadata': turn,
  } = (mcpReq._meta ?? {}) as Record<string, unknown>
  if (isObject(turn) && turn['thread_source'] !== undefined) return turn['thread_source'] === 'subagent'
  return typeof threadId === 'string' && typeof sessionId === 'string' && threadId !== sessionId
}
