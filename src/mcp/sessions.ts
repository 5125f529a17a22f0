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
import { Exchange, SentEvents } from './exchange.ts'
import { watched } from './stream.ts'
import { Undelivered } from './undelivered.ts'

export interface SessionsOptions {
  /** Creates the server for a new session of an agent. */
  serverFor(agent: string): Promise<McpServer>
  maxSessions: number
  maxSessionsPerAgent: number
  idleMs: number
  /** How long a client that has lost a stream has to take it up again. Then its calls are cancelled. */
  resumeMs: number
  /** Mail that is being made unread again. */
  running: Set<Promise<unknown>>
}

interface Session {
  agent: string
  server: McpServer
  transport: WebStandardStreamableHTTPServerTransport
  usedAt: number
  /** Open streams, including those of calls. A session with one does not expire. */
  streams: number
  /** Calls without a response yet, each with the request that it came in. */
  calls: Map<RequestId, Exchange>
  events: SentEvents
}

const sweepMs = 60_000
/** When a client that has lost a stream should come back. */
const retryMs = 500

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
    const events = new SentEvents()
    const transport = new WebStandardStreamableHTTPServerTransport({
      ...{ sessionIdGenerator: randomUUID, eventStore: events, retryInterval: retryMs },
      onsessioninitialized: (id) => void this.#open.set(id, session),
      onsessionclosed: (id) => this.#end(id),
    })
    const server = await this.#options.serverFor(agent)
    const usage = { usedAt: performance.now(), streams: 0, calls: new Map() }
    const session: Session = { agent, server, transport, events, ...usage }
    await server.connect(transport)
    return session
  }

  async #answer(session: Session, request: Request, caller: McpCaller, json: unknown): Promise<Response> {
    const { events, transport } = session
    const messages = messagesOf(json)
    const lastEventId = request.headers.get('last-event-id')
    const lost = lastEventId === null ? undefined : events.exchangeOf(lastEventId)
    const exchange =
      lost ??
      new Exchange(
        messages.filter(isJSONRPCRequest).map(({ id }) => id),
        new Undelivered(this.#options.running),
      )
    for (const id of exchange.ids) session.calls.set(id, exchange)
    session.usedAt = performance.now()
    session.streams++
    const over = (isWhole: boolean) => {
      session.streams--
      session.usedAt = performance.now()
      const { streamId, isAnswered } = exchange
      if (isWhole && (streamId === undefined || isAnswered)) return finish(session, exchange)
      const giveUp = () => abandon(session, exchange)
      const isOpen = this.#open.get(transport.sessionId ?? '') === session
      if (streamId === undefined || !isOpen || !caller.isStillGood()) return giveUp()
      exchange.lose(giveUp, this.#options.resumeMs)
    }
    const options = {
      parsedBody: json,
      authInfo: authInfoOf({
        ...caller,
        attached: exchange.attached,
        ifUndelivered: exchange.undelivered.add,
      }),
    }
    const handling = events.during(exchange, () => transport.handleRequest(request, options))
    const response = await handling.catch((error: unknown) => {
      over(false)
      throw error
    })
    // Not while another connection has the stream.
    if (lost !== undefined && response.status === 200) lost.regain()
    else if (lost !== undefined)
      return watched(response, { ...streamOf(caller), over: () => session.streams-- })
    for (const id of messages.flatMap(cancelledBy)) dismiss(session, id)
    if (response.body === null) over(true)
    return watched(response, { ...streamOf(caller), over })
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
    const closing = session?.server.close()
    for (const exchange of session?.events.open ?? []) exchange.regain()
    await closing
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#sweeper)
    await Promise.all([...this.#open.keys()].map((id) => this.#end(id)))
  }
}

const streamOf = ({ isStillGood, delivered }: McpCaller) => ({ mayGoOn: isStillGood, delivered })

const messagesOf = (json: unknown): readonly unknown[] => (json === undefined ? [] : [json].flat())

/** The call that a message cancels. Malformed messages have been refused by then. */
function cancelledBy(message: unknown): RequestId[] {
  const said = message as { method?: unknown; params?: { requestId?: RequestId } } | null
  const id = said?.method === 'notifications/cancelled' ? said.params?.requestId : undefined
  return id === undefined ? [] : [id]
}

/** Its answers have been delivered, or nobody wants them: nothing of it is kept. */
function finish({ calls, events }: Session, exchange: Exchange): void {
  for (const id of exchange.ids) calls.delete(id)
  events.forget(exchange)
}

/** Cancels the calls of a client that has gone: a wait that continued would take mail for nobody. */
function abandon(session: Session, exchange: Exchange): void {
  for (const requestId of exchange.ids) {
    const params = { requestId, reason: 'the connection is gone' }
    session.transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    forget(session, requestId)
  }
  exchange.undelivered.run()
  exchange.regain()
  finish(session, exchange)
}

/** A cancelled call gets no response, and without one the SDK would never close its stream. */
function dismiss(session: Session, requestId: RequestId): void {
  const exchange = session.calls.get(requestId)
  if (exchange === undefined) return
  if (exchange.ids.length === 1) session.transport.closeSSEStream(requestId)
  forget(session, requestId)
}

/** The SDK forgets a call when it is answered. The stream is closed, so this response goes nowhere. */
function forget({ transport }: Session, id: RequestId): void {
  const error = { code: -32_000, message: 'cancelled' }
  transport.send({ jsonrpc: '2.0', id, error }).catch(() => {})
}
