import { randomUUID } from 'node:crypto'
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  type ServerEventBus,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Space } from '../space.ts'
import { Changes } from './changes.ts'
import { honourSubscriptions } from './resources.ts'
import { createMailboxServer, Identity } from './server.ts'

export interface McpEndpointOptions {
  version: string
  /** What is served. @default the mailbox of the caller */
  serverFor?: (agent: string) => McpServer
  /** @default 1000 */
  maxSessions?: number
  /** A session that nobody has used for so long is over. @default 30 minutes */
  sessionIdleMs?: number
}

export interface McpEndpoint {
  /** Answers a request of a caller whose token was checked before: the agent is the one the token is for. */
  fetch(request: Request, caller: { agent: string }): Promise<Response>
  /** Sessions of the older protocol that are open. */
  sessions(): number
  close(): Promise<void>
}

interface Session {
  agent: string
  server: McpServer
  transport: WebStandardStreamableHTTPServerTransport
  usedAt: number
  /** Streams and calls under way; none of them lets the session run out. */
  busy: number
}

/** A message of the limit's size, as JSON in JSON. */
const maxRequestBodySize = 4 * 1024 * 1024

/**
 * MCP over streamable HTTP, in both eras: requests that carry their own envelope are answered one by one; the
 * older protocol, which begins with a handshake, gets a session. Nothing of either outlives its connection
 * or its idle time.
 */
export function createMcpEndpoint(space: Space, options: McpEndpointOptions): McpEndpoint {
  const { version, maxSessions = 1_000, sessionIdleMs = 30 * 60_000 } = options
  const changes = new Changes(space)
  const serverFor =
    options.serverFor ??
    ((agent: string) =>
      createMailboxServer(space, { version, identity: new Identity(space, { name: agent }) }))
  const modern = createMcpHandler(({ authInfo }) => serverFor(authInfo!.clientId), {
    legacy: 'reject',
    bus: busOf(changes),
    maxRequestBodySize,
  })
  const sessions = new Map<string, Session>()

  const end = async (id: string): Promise<void> => {
    const session = sessions.get(id)
    sessions.delete(id)
    await session?.server.close()
  }
  const sweeper = setInterval(() => {
    const now = performance.now()
    for (const [id, { busy, usedAt }] of sessions)
      if (busy === 0 && now - usedAt > sessionIdleMs) void end(id)
  }, 60_000)
  sweeper.unref()

  /** A session of the older protocol; it counts from the moment its handshake is answered. */
  async function begin(agent: string): Promise<Session> {
    const server = serverFor(agent)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => end(id),
      maxRequestBodySize,
    })
    const session: Session = { agent, server, transport, usedAt: performance.now(), busy: 0 }
    honourSubscriptions(server, changes, 'legacy')
    await server.connect(transport)
    return session
  }

  async function serveLegacy(request: Request, agent: string): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : sessions.get(id)
    // Another agent's session does not exist, as far as this one is concerned.
    if (id !== null && known?.agent !== agent) return refusal(404, -32001, 'there is no such session')
    if (known === undefined && sessions.size >= maxSessions)
      return refusal(503, -32000, `there are ${maxSessions} sessions already: try again later`)
    const session = known ?? (await begin(agent))
    session.usedAt = performance.now()
    const response = await session.transport.handleRequest(request)
    // Whatever came without a session and did not begin one leaves nothing behind.
    if (known === undefined && !isOpen(session)) await session.server.close()
    return tracked(response, session)
  }
  const isOpen = (session: Session): boolean => [...sessions.values()].includes(session)

  return {
    async fetch(request, { agent }) {
      if (await isLegacyRequest(request, { maxRequestBodySize })) return serveLegacy(request, agent)
      return modern.fetch(request, { authInfo: { token: '', clientId: agent, scopes: [] } })
    },
    sessions: () => sessions.size,
    async close() {
      clearInterval(sweeper)
      await Promise.all([...sessions.keys()].map(end))
      await modern.close()
    },
  }
}

/** Word of changed resources, as the SDK's listeners want it. */
const busOf = (changes: Changes): ServerEventBus => ({
  publish() {}, // The journal is what tells; nobody here has anything to add.
  subscribe: (listener) => changes.subscribe((uri) => listener({ kind: 'resource_updated', uri })),
})

/** The same answer; while its body flows the session is in use. */
function tracked(response: Response, session: Session): Response {
  if (response.body === null) return response
  session.busy++
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    session.busy--
    session.usedAt = performance.now()
  }
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        over()
        controller.close()
      } catch (error) {
        over()
        controller.error(error)
      }
    },
    cancel(reason) {
      over()
      return reader.cancel(reason)
    },
  })
  return new Response(body, response)
}

const refusal = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status })
