import './stats.css'
import { useMemo } from 'preact/hooks'
import { get } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import type { Entry, Series, Stats } from '../data/types.ts'
import { go } from '../lib/go.ts'
import { addressOf, boundsOf, type Range, rangeName, rangeOf, spanNames } from '../lib/range.ts'
import { path } from '../lib/route.ts'
import { compact, line, plural } from '../lib/text.ts'
import { duration, since } from '../lib/time.ts'
import { lazy } from '../parts/lazy.tsx'
import { Empty, Loading, Problem, When, Who } from '../parts/small.tsx'
import { overview } from '../state/overview.ts'
import { useSettings } from '../state/settings.ts'
import { Page } from './page.tsx'

const Charts = lazy(async () => (await import('../charts/small-multiples.tsx')).SmallMultiples)

const moves = (entries: readonly Entry[]) =>
  entries.some(({ kind }) => kind === 'message' || kind === 'receipt' || kind === 'agent')

/** With a space that does not break, because tiles are narrow. */
const ms = (value: number | null): string => (value === null ? '–' : duration(value).replace(' ', '\u00a0'))

const buckets = 60
const minuteMs = 60_000

/** Message counts, latencies and backlog: overall, over time and by agent. The time is in the URL. */
export function StatsPage({ query }: { query: URLSearchParams }) {
  const range = rangeOf(query)
  const key = addressOf(range)
  const stats = useResource('stats', () => ({
    restMs: 1_500,
    load: (_: Stats | undefined, signal: AbortSignal) => get<Stats>('/api/stats', {}, signal),
    apply: (data: Stats, entries) => ({ data, stale: moves(entries) }),
  }))
  const series = useResource(`series ${key}`, () => ({
    restMs: 3_000,
    load: (_: Series | undefined, signal: AbortSignal) => {
      const { from, to } = boundsOf(range, Date.now())
      return get<Series>(
        '/api/series',
        { from: new Date(from).toISOString(), to: new Date(to).toISOString(), buckets, agents: 'no' },
        signal,
      )
    },
    apply: (data: Series, entries) => ({
      data,
      // What is over does not change.
      stale: ('span' in range || range.to > Date.now()) && moves(entries),
    }),
  }))
  const settings = useSettings().data.value
  const settingOf = (name: string) => Number(settings?.settings.find((one) => one.key === name)?.value ?? 0)
  const [urgentMs, staleMs] = [settingOf('urgentAfterMs'), settingOf('staleAfterMs')]
  const thresholds = useMemo(
    () => ({
      'Time to read': [
        { value: urgentMs, label: 'urgent mail is escalated' },
        { value: staleMs, label: 'other mail is stale' },
      ].filter(({ value }) => value > 0),
    }),
    [urgentMs, staleMs],
  )
  const error = stats.error.value ?? series.error.value
  const data = stats.data.value
  if (error !== null && data === undefined) return <Problem error={error} />
  if (data === undefined) return <Loading />
  const found = series.data.value
  return (
    <Page title="Metrics" tools={<RangeTools range={range} />}>
      <Tiles stats={data} />
      <Warnings warnings={data.warnings} />
      {found && (
        <>
          <Charts
            buckets={found.buckets}
            events={found.events}
            thresholds={thresholds}
            onRange={(from, to) => go(addressOf({ from, to: Math.max(to, from + minuteMs) }))}
          />
          <Events events={found.events} />
        </>
      )}
      <section class="section">
        <h2>By agent</h2>
        <AgentTable stats={data} />
      </section>
    </Page>
  )
}

/** The times to choose from, and steps around what is shown. */
function RangeTools({ range }: { range: Range }) {
  const { from, to } = boundsOf(range, Date.now())
  const step = (to - from) / 2
  const moved = (start: number, end: number) =>
    addressOf({ from: start, to: Math.max(end, start + minuteMs) })
  return (
    <>
      {'from' in range && <span class="quiet number">{rangeName(range)}</span>}
      <nav class="choice" aria-label="Move in time">
        <a href={moved(from - step, to - step)} title="Earlier">
          Earlier
        </a>
        <a href={moved(from + step / 2, to - step / 2)} title="Half of the time">
          Zoom in
        </a>
        <a href={moved(from - step, to + step)} title="Twice the time">
          Zoom out
        </a>
      </nav>
      <nav class="choice" aria-label="Time range">
        {spanNames.map((span) => (
          <a
            key={span}
            href={addressOf({ span })}
            aria-current={'span' in range && range.span === span ? 'page' : undefined}
          >
            {span.replace(/(\d)(\D)/, '$1 $2')}
          </a>
        ))}
      </nav>
    </>
  )
}

/** One line, however many there are. */
function Warnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null
  if (warnings.length === 1) return <p class="warnings section">{line(warnings[0]!)}</p>
  return (
    <details class="warnings section">
      <summary>
        {plural(warnings.length, 'warning')}: {line(warnings[0]!)} and {warnings.length - 1} more
      </summary>
      <ul aria-label="Warnings">
        {warnings.map((warning) => (
          <li key={warning}>{line(warning)}</li>
        ))}
      </ul>
    </details>
  )
}

const eventNames = { died: 'died', restarted: 'is back', hub_started: 'started a hub' } as const
const countNames = {
  died: ['death'],
  restarted: ['return'],
  hub_started: ['start of a hub', 'starts of a hub'],
} as const
const eventKinds = ['died', 'restarted', 'hub_started'] as const

/** What the marks in the charts stand for. */
function Events({ events }: Pick<Series, 'events'>) {
  if (events.length === 0) return null
  const counts = eventKinds.flatMap((kind) => {
    const count = events.filter((event) => event.kind === kind).length
    const [one, many] = countNames[kind]
    return count === 0 ? [] : [plural(count, one, many)]
  })
  return (
    <details class="events section">
      <summary>Marked in the charts: {counts.join(', ')}</summary>
      <ul>
        {events.toReversed().map(({ at, kind, agent }) => (
          <li key={`${at} ${kind} ${agent}`}>
            <Who name={agent} /> {eventNames[kind]} <When at={at} />
          </li>
        ))}
      </ul>
    </details>
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
