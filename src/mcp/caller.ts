import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'

/** Who sent a request over HTTP. The hub has checked the token. */
export interface McpCaller {
  agent: string
  /** False once the token is revoked; then everything it has open ends. */
  isStillGood: () => boolean
}

/** In the form that the SDK passes to tools. */
export const authInfoOf = ({ agent, isStillGood }: McpCaller): AuthInfo => ({
  ...{ token: '', clientId: agent, scopes: [] },
  extra: { isStillGood },
})

/** Whether the client of a call has gone, or its token was revoked. */
export function isGone({ mcpReq, http }: ServerContext): boolean {
  const { isStillGood } = (http?.authInfo?.extra ?? {}) as Partial<McpCaller>
  return mcpReq.signal.aborted || isStillGood?.() === false
}
