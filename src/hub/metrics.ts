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
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers })
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers })
  const roster = gauge('mailbox_agents', 'Agents by state', 'state')
  const pending = gauge('mailbox_pending', 'Unread messages in the box of an agent', 'agent')
  const dead = gauge('mailbox_dead_letters', 'Dead letters')
  const mcpSessions = gauge('mailbox_mcp_sessions', 'Open MCP sessions')
  const mcpCalls = gauge('mailbox_mcp_calls', 'MCP tool calls in progress')
  const mcpListeners = gauge('mailbox_mcp_listeners', 'MCP clients subscribed to changes')
  const entries = gauge('mailbox_journal_seq', 'Sequence number of the last journal entry')
  const metrics = {
    requests: counter('mailbox_http_requests_total', 'Answered requests', 'operation', 'status'),
    seconds: new Histogram({
      name: 'mailbox_http_request_seconds',
      help: 'Time to respond, without waits and streams',
      labelNames: ['operation'],
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3],
      registers,
    }),
    refused: counter('mailbox_http_refused_total', 'Refused requests', 'reason'),
    inFlight: gauge('mailbox_http_in_flight', 'Requests in progress, including waits'),
    waits: gauge('mailbox_waits', 'Requests that wait for mail'),
    connections: gauge('mailbox_connections', 'Open sockets'),
    streams: gauge('mailbox_streams', 'Followers of the journal', 'kind'),
    streamed: counter('mailbox_streamed_entries_total', 'Entries sent to followers'),
    stalled: counter(
      'mailbox_stalled_followers_total',
      'Followers that were disconnected because they did not read',
    ),
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
