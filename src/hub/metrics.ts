import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Space } from '../space/api.ts'
import type { McpDoor } from './app.ts'

const streamKinds = ['sse', 'websocket'] as const
export type StreamKind = (typeof streamKinds)[number]

/** What the hub counts, and what it reads from the space when the metrics are requested. */
export function createMetrics(space: Space, mcp?: McpDoor) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const roster = new Gauge({
    name: 'mailbox_agents',
    help: 'Agents by state',
    labelNames: ['state'],
    registers,
  })
  const pending = new Gauge({
    name: 'mailbox_pending',
    help: 'Unread messages in the box of an agent',
    labelNames: ['agent'],
    registers,
  })
  const dead = gauge('mailbox_dead_letters', 'Dead letters')
  const mcpSessions = gauge('mailbox_mcp_sessions', 'Open MCP sessions')
  const mcpCalls = gauge('mailbox_mcp_calls', 'MCP tool calls in progress')
  const mcpListeners = gauge('mailbox_mcp_listeners', 'MCP clients subscribed to changes')
  const entries = gauge('mailbox_journal_seq', 'Sequence number of the last journal entry')
  const metrics = {
    requests: new Counter({
      name: 'mailbox_http_requests_total',
      help: 'Answered requests',
      labelNames: ['operation', 'status'],
      registers,
    }),
    seconds: new Histogram({
      name: 'mailbox_http_request_seconds',
      help: 'Time to respond, without waits and streams',
      labelNames: ['operation'],
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3],
      registers,
    }),
    refused: new Counter({
      name: 'mailbox_http_refused_total',
      help: 'Refused requests',
      labelNames: ['reason'],
      registers,
    }),
    inFlight: gauge('mailbox_http_in_flight', 'Requests in progress, including waits'),
    waits: gauge('mailbox_waits', 'Requests that wait for mail'),
    connections: gauge('mailbox_connections', 'Open sockets'),
    streams: new Gauge({
      name: 'mailbox_streams',
      help: 'Followers of the journal',
      labelNames: ['kind'],
      registers,
    }),
    streamed: new Counter({
      name: 'mailbox_streamed_entries_total',
      help: 'Entries sent to followers',
      registers,
    }),
    stalled: new Counter({
      name: 'mailbox_stalled_followers_total',
      help: 'Followers that were disconnected because they did not read',
      registers,
    }),
  }
  for (const kind of streamKinds) metrics.streams.set({ kind }, 0)
  return {
    ...metrics,
    contentType: registry.contentType,
    /** Everything, in the Prometheus format. */
    async print(): Promise<string> {
      const [agents, stats, seq] = await Promise.all([space.agents(), space.stats(), space.lastSeq()])
      roster.reset()
      for (const { state } of agents) roster.inc({ state })
      pending.reset()
      for (const { name, pending: n } of stats.agents) pending.set({ agent: name }, n)
      dead.set(stats.deadLetters)
      entries.set(seq)
      const open = mcp?.counts() ?? { sessions: 0, calls: 0, listeners: 0 }
      mcpSessions.set(open.sessions)
      mcpCalls.set(open.calls)
      mcpListeners.set(open.listeners)
      return registry.metrics()
    },
  }
}

export type Metrics = ReturnType<typeof createMetrics>
