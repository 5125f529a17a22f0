import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import type { DiskSpace } from '../space/space.ts'
import { readBody, refusal } from './body.ts'
import { authInfoOf, type McpCaller } from './caller.ts'
import { Calls } from './calls.ts'
import { Changes } from './changes.ts'
import { honourSubscriptions } from './resources.ts'
import { createMailboxServer, Identity } from './server.ts'
import { Sessions } from './sessions.ts'
import { watched } from './stream.ts'

export interface McpEndpointOptions {
  version: string
  /** What is served. @default the mailbox of the caller */
  serverFor?: (agent: string) => McpServer
  /** Of all agents together. @default 1000 */
  maxSessions?: number
  /** An agent that begins more loses the one it has not used for longest. @default 100 */
  maxSessionsPerAgent?: number
  /** A session that nobody has used for so long is over. @default 30 minutes */
  sessionIdleMs?: number
}

export interface McpEndpoint {
  /** Answers a request of a caller whose token was checked before: the agent is the one the token is for. */
  fetch(request: Request, caller: McpCaller): Promise<Response>
  /** What is open: sessions of the older protocol, calls of tools, and those who listen for changes. */
  counts(): { sessions: number; calls: number; listeners: number }
  /** Ends sessions and streams, breaks off what waits, and resolves when nothing of it touches the space any more. */
  close(): Promise<void>
}

/** A message of the largest size, with all that has to be escaped in it. */
const maxBodyBytes = 4 * 1024 * 1024

/**
 * MCP over streamable HTTP, in both eras: requests that carry their own envelope are answered one by one; the
 * older protocol, which begins with a handshake, gets a session. Nothing of either outlives its connection
 * or its idle time.
 */
export function createMcpEndpoint(space: DiskSpace, options: McpEndpointOptions): McpEndpoint {
  const { version, maxSessions = 1_000, maxSessionsPerAgent = 100, sessionIdleMs = 30 * 60_000 } = options
  const changes = new Changes(space)
  let isClosed = false

  // One for each agent, so that requests which come at once join it once.
  const desks = new Map<string, { identity: Identity; calls: Calls }>()
  const deskOf = (agent: string) => {
    const desk = desks.get(agent) ?? { identity: new Identity(space, { name: agent }), calls: new Calls() }
    desks.set(agent, desk)
    return desk
  }
  const callsOfAll = () => [...desks.values()].map(({ calls }) => calls)
  const serverFor =
    options.serverFor ?? ((agent: string) => createMailboxServer(space, { version, ...deskOf(agent) }))

  const sessions = new Sessions({
    ...{ maxSessions, maxSessionsPerAgent, idleMs: sessionIdleMs },
    async serverFor(agent) {
      const server = serverFor(agent)
      await honourSubscriptions(server, changes, 'legacy')
      return server
    },
  })
  const modern = createMcpHandler(({ authInfo }) => serverFor(authInfo!.clientId), {
    legacy: 'reject',
    bus: busOf(changes),
  })

  async function serveModern(request: Request, caller: McpCaller, json: unknown): Promise<Response> {
    const { isStillGood = () => true } = caller
    // The SDK answers a listener in the moment in which it begins to listen: by then the journal has to be followed.
    const isListening = (json as { method?: unknown } | null)?.method === 'subscriptions/listen'
    const release = isListening ? changes.subscribe(() => {}) : () => {}
    try {
      if (isListening) await changes.ready()
      const response = await modern.fetch(request, { parsedBody: json, authInfo: authInfoOf(caller) })
      if (!isStillGood()) return refusal(401, -32_000, 'the token was taken back')
      return watched(response, { mayGoOn: isStillGood, over: () => {} })
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
    },
  }
}

/** Word of changed resources, as the SDK's listeners want it. */
const busOf = (changes: Changes): ServerEventBus => ({
  publish() {}, // The journal is what tells; nobody here has anything to add.
  subscribe: (listener) => changes.subscribe((uri) => listener({ kind: 'resource_updated', uri })),
})
