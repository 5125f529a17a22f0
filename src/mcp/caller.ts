import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'

/** Whom a request over HTTP speaks for; its token was checked before. */
export interface McpCaller {
  agent: string
  /** False once the token was taken back: then what it has open ends. @default always true */
  isStillGood?: () => boolean
}

/** As the SDK hands it on to whoever answers the request. */
export const authInfoOf = ({ agent, isStillGood }: McpCaller): AuthInfo => ({
  ...{ token: '', clientId: agent, scopes: [] },
  extra: { isStillGood },
})

/** Whether nobody is left to read the answer of a call, or nobody who may. */
export function isGone({ mcpReq, http }: ServerContext): boolean {
  const { isStillGood } = (http?.authInfo?.extra ?? {}) as Partial<McpCaller>
  return mcpReq.signal.aborted || isStillGood?.() === false
}
