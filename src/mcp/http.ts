import { createMcpHandler, isLegacyRequest, type McpServer } from '@modelcontextprotocol/server'
import type { DiskSpace } from '../space/space.ts'
import { readBody, refusal } from './body.ts'
import { authInfoOf, type McpCaller } from './caller.ts'
import { Calls } from './calls.ts'
import { Changes } from './changes.ts'
import { Identity } from './identity.ts'
import { honourSubscriptions } from './resources.ts'
import { createMailboxServer } from './server.ts'
import { Sessions } from './sessions.ts'
import { watched } from './stream.ts'
import { Tasks } from './tasks.ts'
import { Undelivered } from './undelivered.ts'
import { workOf } from './wait-tool.ts'

export interface McpEndpointOptions {
  version: string
  /** @default a server for the caller's mailbox */
  serverFor?: (agent: string) => McpServer
  /** Of all agents together. @default 1000 */
  maxSessions?: number
  /** One more ends the agent's least recently used session. @default 100 */
  maxSessionsPerAgent?: number
  /** A session that is unused for this long ends. @default 30 minutes */
  sessionIdleMs?: number
  /** How long a client that has lost a stream has to take it up again. @default 5 s */
  resumeMs?: number
}

export interface McpEndpoint {
  /** Answers a request. The caller must have checked the token: the agent is the one it belongs to. */
  fetch(request: Request, caller: McpCaller): Promise<Response>
  /** How much is open: sessions of the older protocol, tool calls, and listeners for changes. */
  counts(): { sessions: number; calls: number; listeners: number }
  /** Ends sessions and streams, cancels waits, and resolves when nothing uses the space any more. */
  close(): Promise<void>
}

/** The largest message, with everything in it escaped. */
const maxBodyBytes = 4 * 1024 * 1024

/**
 * MCP over streamable HTTP, in both protocol versions. Requests that carry their own envelope are answered one by
 * one; the older protocol, which starts with a handshake, gets a session. Neither outlives its connection or its
 * idle time.
 */
export function createMcpEndpoint(space: DiskSpace, options: McpEndpointOptions): McpEndpoint {
  const { version, maxSessions = 1_000, maxSessionsPerAgent = 100, sessionIdleMs = 30 * 60_000 } = options
  const { resumeMs = 5_000 } = options
  const changes = new Changes(space)
  const running = new Set<Promise<unknown>>()
  let isClosed = false

  const newState = (name: string) => ({
    ...{ identity: new Identity(space, { name }), calls: new Calls(), tasks: new Tasks(workOf) },
  })
  // One per agent, so that simultaneous requests join it once.
  const agents = new Map<string, ReturnType<typeof newState>>()
  const stateOf = (agent: string) => {
    const state = agents.get(agent) ?? newState(agent)
    agents.set(agent, state)
    return state
  }
  const callsOfAll = () => [...agents.values()].map(({ calls }) => calls)
  const serverFor =
    options.serverFor ?? ((agent: string) => createMailboxServer(space, { version, ...stateOf(agent) }))

  const sessions = new Sessions({
    ...{ maxSessions, maxSessionsPerAgent, idleMs: sessionIdleMs, resumeMs, running },
    async serverFor(agent) {
      const server = serverFor(agent)
      await honourSubscriptions(server, changes, 'legacy')
      return server
    },
  })
  const modern = createMcpHandler(({ authInfo }) => serverFor(authInfo!.clientId), {
    legacy: 'reject',
    bus: {
      publish() {}, // Changes come from the journal only.
      subscribe: (listener) => changes.subscribe((uri) => listener({ kind: 'resource_updated', uri })),
    },
  })

  async function serveModern(request: Request, caller: McpCaller, json: unknown): Promise<Response> {
    // The SDK confirms a subscription at once, so we must be following the journal by then.
    const isListening = (json as { method?: unknown } | null)?.method === 'subscriptions/listen'
    const release = isListening ? changes.subscribe(() => {}) : () => {}
    try {
      if (isListening) await changes.ready()
      const undelivered = new Undelivered(running)
      const authInfo = authInfoOf({ ...caller, ifUndelivered: undelivered.add })
      const response = await modern.fetch(request, { parsedBody: json, authInfo })
      const over = (isWhole: boolean) => void (isWhole || undelivered.run())
      if (!caller.isStillGood()) {
        over(false)
        return refusal(401, -32_000, 'the token was revoked')
      }
      return watched(response, { mayGoOn: caller.isStillGood, delivered: caller.delivered, over })
    } finally {
      release()
    }
  }

  return {
    async fetch(request, caller) {
      if (isClosed) return refusal(503, -32_000, 'the hub is stopping: try again later')
      const body = await readBody(request, maxBodyBytes)
      if ('refused' in body) return body.refused
      if (await isLegacyRequest(request, body.json)) return sessions.serve(request, caller, body.json)
      return serveModern(request, caller, body.json)
    },
    counts: () => ({
      sessions: sessions.size,
      calls: callsOfAll().reduce((sum, { size }) => sum + size, 0),
      listeners: changes.size,
    }),
    async close() {
      isClosed = true
      await sessions.close()
      await modern.close()
      await Promise.all(callsOfAll().map((calls) => calls.settled()))
      await Promise.all(running)
    },
  }
}
