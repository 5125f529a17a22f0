import { randomUUID } from 'node:crypto'
import {
  isInitializeRequest,
  isJSONRPCRequest,
  type McpServer,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { refusal } from './body.ts'
import { authInfoOf, type McpCaller } from './caller.ts'
import { watched } from './stream.ts'

export interface SessionsOptions {
  /** Creates the server for a new session of an agent. */
  serverFor(agent: string): Promise<McpServer>
  maxSessions: number
  maxSessionsPerAgent: number
  idleMs: number
}

interface Session {
  agent: string
  server: McpServer
  transport: WebStandardStreamableHTTPServerTransport
  usedAt: number
  /** Open streams, including those of calls. A session with one does not expire. */
  streams: number
  /** Calls without a response yet, each with those from the same request. */
  calls: Map<RequestId, readonly RequestId[]>
}

const sweepMs = 60_000

/** The sessions of the older protocol: from the handshake until the client ends them, or they expire. */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #open = new Map<string, Session>()
  readonly #sweeper: NodeJS.Timeout
  #isClosed = false

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(sweepMs, options.idleMs))
    this.#sweeper.unref()
  }

  get size(): number {
    return this.#open.size
  }

  async serve(request: Request, caller: McpCaller, json: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : this.#open.get(id)
    // For this agent, another agent's session does not exist.
    if (id !== null && known?.agent !== caller.agent) return refusal(404, -32_001, 'there is no such session')
    if (known !== undefined) return this.#answer(known, request, caller, json)
    if (!messagesOf(json).some((one) => isInitializeRequest(one)))
      return refusal(400, -32_000, 'there is no session yet: send initialize first')
    if (!(await this.#makeRoom(caller.agent)))
      return refusal(503, -32_000, 'too many sessions: end one, or try again later')
    const session = await this.#begin(caller.agent)
    const response = await this.#answer(session, request, caller, json)
    const { sessionId } = session.transport
    // A handshake that failed, or came too late, leaves nothing behind.
    if (sessionId === undefined) await session.server.close()
    else if (this.#isClosed) await this.#end(sessionId)
    return response
  }

  async #begin(agent: string): Promise<Session> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#open.set(id, session),
      onsessionclosed: (id) => this.#end(id),
    })
    const server = await this.#options.serverFor(agent)
    const session = { agent, server, transport, usedAt: performance.now(), streams: 0, calls: new Map() }
    await server.connect(transport)
    return session
  }

  async #answer(session: Session, request: Request, caller: McpCaller, json: unknown): Promise<Response> {
    const messages = messagesOf(json)
    const ids = messages.filter(isJSONRPCRequest).map(({ id }) => id)
    for (const id of ids) session.calls.set(id, ids)
    session.usedAt = performance.now()
    session.streams++
    const over = (isWhole: boolean) => {
      session.streams--
      session.usedAt = performance.now()
      for (const id of ids) session.calls.delete(id)
      if (!isWhole) for (const id of ids) abandon(session, id)
    }
    const options = { parsedBody: json, authInfo: authInfoOf(caller) }
    const response = await session.transport.handleRequest(request, options).catch((error: unknown) => {
      over(false)
      throw error
    })
    for (const id of messages.flatMap(cancelledBy)) dismiss(session, id)
    if (response.body === null) over(true)
    return watched(response, { mayGoOn: caller.isStillGood, over })
  }

  /** Ends the agent's least recently used session when there are too many. */
  async #makeRoom(agent: string): Promise<boolean> {
    const { maxSessions, maxSessionsPerAgent } = this.#options
    const own = [...this.#open].filter(([, session]) => session.agent === agent)
    if (own.length < maxSessionsPerAgent && this.#open.size < maxSessions) return true
    const idle = own.filter(([, { streams }]) => streams === 0)
    const [oldest] = idle.sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (oldest !== undefined) await this.#end(oldest[0])
    return oldest !== undefined
  }

  #sweep(): void {
    const before = performance.now() - this.#options.idleMs
    for (const [id, { streams, usedAt }] of this.#open)
      if (streams === 0 && usedAt < before) void this.#end(id).catch(() => {})
  }

  async #end(id: string): Promise<void> {
    const session = this.#open.get(id)
    this.#open.delete(id)
    await session?.server.close()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#sweeper)
    await Promise.all([...this.#open.keys()].map((id) => this.#end(id)))
  }
}

const messagesOf = (json: unknown): readonly unknown[] => (json === undefined ? [] : [json].flat())

/** The call that a message cancels. Malformed messages have been refused by then. */
function cancelledBy(message: unknown): RequestId[] {
  const said = message as { method?: unknown; params?: { requestId?: RequestId } } | null
  const id = said?.method === 'notifications/cancelled' ? said.params?.requestId : undefined
  return id === undefined ? [] : [id]
}

/**
 * Cancels a call whose client has gone. The protocol does not require that, but streams cannot be resumed here, and
 * a wait that continued would take mail for nobody.
 */
function abandon(session: Session, requestId: RequestId): void {
  const params = { requestId, reason: 'the connection is gone' }
  session.transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  forget(session, requestId)
}

/** A cancelled call gets no response, and without one the SDK would never close its stream. */
function dismiss(session: Session, requestId: RequestId): void {
  const together = session.calls.get(requestId)
  if (together === undefined) return
  if (together.length === 1) session.transport.closeSSEStream(requestId)
  forget(session, requestId)
}

/** The SDK forgets a call when it is answered. The stream is closed, so this response goes nowhere. */
function forget({ transport }: Session, id: RequestId): void {
  const error = { code: -32_000, message: 'cancelled' }
  transport.send({ jsonrpc: '2.0', id, error }).catch(() => {})
}
