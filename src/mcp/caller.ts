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
}

/** In the form that the SDK passes to tools. */
export const authInfoOf = ({ agent, ...extra }: McpCaller): AuthInfo => ({
  ...{ token: '', clientId: agent, scopes: [], extra },
})

/**
 * Whether the client of a call has gone, or its token was revoked. While it has lost its connection, that is not known
 * yet, and what was taken for it is held.
 */
export async function isGone({ mcpReq, http }: ServerContext): Promise<boolean> {
  const { isStillGood, attached } = (http?.authInfo?.extra ?? {}) as Partial<McpCaller>
  await attached?.()
  return mcpReq.signal.aborted || isStillGood?.() === false
}

/** Makes mail unread again that was taken for a client that has gone, so that the next call finds it. */
export async function giveBack(mailbox: Mailbox, taken: readonly InboxMessage[]): Promise<never> {
  for (const { id, claimNumber } of taken) await mailbox.release(id, given({ claimNumber }))
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
