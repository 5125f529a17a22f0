import './stats.css'
import { useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import type { Entry, Series, Stats } from '../data/types.ts'
import { path } from '../lib/route.ts'
import { compact, line } from '../lib/text.ts'
import { duration, since } from '../lib/time.ts'
import { lazy } from '../parts/lazy.tsx'
import { Empty, Loading, Problem } from '../parts/small.tsx'
import { overview } from '../state/overview.ts'
import { Page } from './page.tsx'

const Charts = lazy(async () => (await import('../charts/small-multiples.tsx')).SmallMultiples)

const moves = (entries: readonly Entry[]) =>
  entries.some(({ kind }) => kind === 'message' || kind === 'receipt')
const hourMs = 3_600_000
const spans = { '15 min': hourMs / 4, '1 h': hourMs, '24 h': 24 * hourMs, '7 d': 168 * hourMs } as const
type Span = keyof typeof spans

/** With a space that does not break, because tiles are narrow. */
const ms = (value: number | null): string => (value === null ? '–' : duration(value).replace(' ', '\u00a0'))

/** Message counts, latencies and backlog: overall, over time and by agent. */
export function StatsPage() {
  const [span, setSpan] = useState<Span>('15 min')
  const stats = useResource('stats', () => ({
    restMs: 1_500,
    load: (_: Stats | undefined, signal: AbortSignal) => get<Stats>('/api/stats', {}, signal),
    apply: (data: Stats, entries) => ({ data, stale: moves(entries) }),
  }))
  const series = useResource(`series ${span}`, () => ({
    restMs: 3_000,
    load: (_: Series | undefined, signal: AbortSignal) => {
      const to = Date.now()
      const from = new Date(to - spans[span]).toISOString()
      return get<Series>('/api/series', { from, to: new Date(to).toISOString(), buckets: 60 }, signal)
    },
    apply: (data: Series, entries) => ({ data, stale: moves(entries) }),
  }))
  const error = stats.error.value ?? series.error.value
  const data = stats.data.value
  if (error !== null && data === undefined) return <Problem error={error} />
  if (data === undefined) return <Loading />
  return (
    <Page
      title="Metrics"
      tools={
        <div class="choice" role="group" aria-label="Time range">
          {(Object.keys(spans) as Span[]).map((name) => (
            <button key={name} type="button" aria-pressed={span === name} onClick={() => setSpan(name)}>
              {name}
            </button>
          ))}
        </div>
      }
    >
      <Tiles stats={data} />
      {data.warnings.length > 0 && (
        <ul class="warnings section" aria-label="Warnings">
          {data.warnings.map((warning) => (
            <li key={warning}>{line(warning)}</li>
          ))}
        </ul>
      )}
      {series.data.value && <Charts buckets={series.data.value.buckets} />}
      <section class="section">
        <h2>By agent</h2>
        <AgentTable stats={data} />
      </section>
    </Page>
  )
}

const Tiles = ({ stats: { all, deadLetters } }: { stats: Stats }) => (
  <dl class="tiles">
    <Tile name="Sent" value={compact(all.sent)} under={`${compact(all.received)} read`} />
    <Tile
      name="Unread"
      value={compact(all.pending)}
      under={all.oldestWaiting === null ? 'none' : `oldest ${since(all.oldestWaiting)}`}
    />
    <Tile name="Unacknowledged" value={compact(all.unacked)} under="read, ack requested" />
    <Tile
      name="Time to read (p50)"
      value={ms(all.shown.p50)}
      under={`p95\u00a0${ms(all.shown.p95)}, p99\u00a0${ms(all.shown.p99)}`}
    />
    <Tile
      name="Time to finish (p50)"
      value={ms(all.done.p50)}
      under={`p95\u00a0${ms(all.done.p95)}, p99\u00a0${ms(all.done.p99)}`}
    />
    <Tile
      name="Dead letters"
      value={compact(deadLetters)}
      under={deadLetters === 0 ? 'none' : 'not delivered'}
    />
  </dl>
)

const Tile = ({ name, value, under }: { name: string; value: string; under: string }) => (
  <div class="tile">
    <dt>{name}</dt>
    <dd>
      {value}
      <div class="under">{under}</div>
    </dd>
  </div>
)

const columns = [
  'Sent',
  'Received',
  'Unread',
  'Oldest unread',
  'Unacknowledged',
  'Time to read (p95)',
  'Time to finish (p95)',
] as const

function AgentTable({ stats }: { stats: Stats }) {
  const active = stats.agents.filter(({ sent, received, pending }) => sent + received + pending > 0)
  if (active.length === 0)
    return <Empty title="No data yet" commands={['mailbox demo', "mailbox send ada --body 'hello'"]} />
  const rows = active.toSorted((a, b) => b.sent + b.received - a.sent - a.received)
  const known = new Set(overview.data.value?.agents.map(({ name }) => name))
  return (
    <div class="table-room">
      <table class="table">
        <thead>
          <tr>
            <th>Agent</th>
            {columns.map((name) => (
              <th key={name} class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((agent) => (
            <tr key={agent.name}>
              <td>
                {known.has(agent.name) ? (
                  <a class="who" href={path('agents', agent.name)}>
                    <bdi>{line(agent.name)}</bdi>
                  </a>
                ) : (
                  <bdi>{line(agent.name)}</bdi>
                )}
              </td>
              <td class="number">{compact(agent.sent)}</td>
              <td class="number">{compact(agent.received)}</td>
              <td class="number">{compact(agent.pending)}</td>
              <td class="number">{agent.oldestWaiting === null ? '–' : since(agent.oldestWaiting)}</td>
              <td class="number">{compact(agent.unacked)}</td>
              <td class="number">{ms(agent.shown.p95)}</td>
              <td class="number">{ms(agent.done.p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
