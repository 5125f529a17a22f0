import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { DiskSpace } from '../space/space.ts'
import type { McpDoor } from './app.ts'

const streamKinds = ['sse', 'websocket'] as const
export type StreamKind = (typeof streamKinds)[number]

/** What the hub counts, and what is counted of the space when somebody asks. */
export function createMetrics(space: DiskSpace, mcp?: McpDoor) {
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
    help: 'Unread messages in the own box of an agent',
    labelNames: ['agent'],
    registers,
  })
  const dead = gauge('mailbox_dead_letters', 'Dead letters')
  const mcpSessions = gauge('mailbox_mcp_sessions', 'Sessions of MCP that are open')
  const mcpCalls = gauge('mailbox_mcp_calls', 'Calls of MCP tools that are under way')
  const mcpListeners = gauge('mailbox_mcp_listeners', 'MCP clients that are told of changes')
  const entries = gauge('mailbox_journal_seq', 'The last entry of the journal')
  const metrics = {
    requests: new Counter({
      name: 'mailbox_http_requests_total',
      help: 'Answered requests',
      labelNames: ['operation', 'status'],
      registers,
    }),
    seconds: new Histogram({
      name: 'mailbox_http_request_seconds',
      help: 'Time to answer, without waits and streams',
      labelNames: ['operation'],
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3],
      registers,
    }),
    refused: new Counter({
      name: 'mailbox_http_refused_total',
      help: 'Requests that were not let in',
      labelNames: ['reason'],
      registers,
    }),
    inFlight: gauge('mailbox_http_in_flight', 'Requests that are being answered, waits among them'),
    waits: gauge('mailbox_waits', 'Long polls that wait for mail'),
    connections: gauge('mailbox_connections', 'Open sockets'),
    streams: new Gauge({
      name: 'mailbox_streams',
      help: 'Followers of the journal',
      labelNames: ['kind'],
      registers,
    }),
    streamed: new Counter({
      name: 'mailbox_streamed_entries_total',
      help: 'Entries handed to followers',
      registers,
    }),
    stalled: new Counter({
      name: 'mailbox_stalled_followers_total',
      help: 'Followers that were let go because they did not read',
      registers,
    }),
  }
  for (const kind of streamKinds) metrics.streams.set({ kind }, 0)
  return {
    ...metrics,
    contentType: registry.contentType,
    /** Everything, as Prometheus reads it. */
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
