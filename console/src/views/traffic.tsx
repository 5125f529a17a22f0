import { useMemo } from 'preact/hooks'
import type { Selection } from '../charts/types.ts'
import { get } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import type { Pair } from '../data/types.ts'
import { isTag } from '../lib/address.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { lazy } from '../parts/lazy.tsx'
import { Empty, Loading, Problem } from '../parts/small.tsx'
import { overview } from '../state/overview.ts'
import { Page } from './page.tsx'

const Graph = lazy(async () => (await import('../charts/traffic-graph.tsx')).TrafficGraph)
const Matrix = lazy(async () => (await import('../charts/traffic-matrix.tsx')).TrafficMatrix)

const spans = { '1h': 3_600_000, '24h': 86_400_000, all: 0 } as const
type Span = keyof typeof spans
const labels: Record<string, string> = {
  ...{ graph: 'Graph', matrix: 'Matrix', '1h': '1 h', '24h': '24 h', all: 'All time' },
  ...{ folded: 'By agent', shown: 'By role' },
}
/** With more participants a graph is a ball of lines. */
const mostInGraph = 12

/** Opens the mail behind what was selected. */
function open(selection: Selection): void {
  if (selection.kind === 'pair') {
    const words = `from:${quoted(selection.from)} to:${quoted(selection.to)}`
    go(`/search?q=${encodeURIComponent(words)}`)
  } else if (isTag(selection.name)) go(path('channels', selection.name))
  else if (selection.name === 'all' || selection.name.startsWith('role:'))
    go(`/search?q=${encodeURIComponent(`to:${quoted(selection.name)}`)}`)
  else go(path('agents', selection.name))
}

const quoted = (name: string): string => (/\s/.test(name) ? `"${name}"` : name)

/** Who sends to whom, as a graph or, where that would be too much, as a matrix. */
export function TrafficPage({ query }: { query: URLSearchParams }) {
  const wanted = query.get('span') ?? 'all'
  const span: Span = Object.hasOwn(spans, wanted) ? (wanted as Span) : 'all'
  const roles = query.get('roles') === 'shown' ? 'shown' : 'folded'
  const { data, error } = useResource(`traffic ${span} ${roles}`, () => ({
    restMs: 3_000,
    load: async (_: Pair[] | undefined, signal: AbortSignal) => {
      const since = spans[span] === 0 ? undefined : new Date(Date.now() - spans[span]).toISOString()
      return (await get<{ pairs: Pair[] }>('/api/traffic', { since, roles }, signal)).pairs
    },
    apply: (pairs: Pair[], entries) => ({
      data: pairs,
      stale: entries.some(({ kind }) => kind === 'message'),
    }),
  }))
  const pairs = data.value
  const agents = overview.data.value?.agents
  const writing = useMemo(() => {
    const names = new Set(pairs?.flatMap(({ from, to }) => [from, to]))
    return (agents ?? []).filter(({ name, state }) => state !== 'dead' || names.has(name))
  }, [agents, pairs])
  if (error.value !== null && pairs === undefined) return <Problem error={error.value} />
  if (pairs === undefined || agents === undefined) return <Loading />
  const isMany = new Set(pairs.flatMap(({ from, to }) => [from, to])).size > mostInGraph
  const asked = query.get('view')
  const view = asked === 'graph' || asked === 'matrix' ? asked : isMany ? 'matrix' : 'graph'
  const href = (key: string, value: string) => {
    const next = new URLSearchParams(query)
    next.set(key, value)
    return `/traffic?${next.toString()}`
  }
  const choice = (label: string, names: readonly string[], current: string, key: string) => (
    <nav class="choice" aria-label={label}>
      {names.map((name) => (
        <a key={name} href={href(key, name)} aria-current={name === current ? 'page' : undefined}>
          {labels[name] ?? name}
        </a>
      ))}
    </nav>
  )
  return (
    <Page
      title="Traffic"
      tools={
        <>
          {choice('Mail to roles', ['folded', 'shown'], roles, 'roles')}
          {choice('View', ['graph', 'matrix'], view, 'view')}
          {choice('Time range', Object.keys(spans), span, 'span')}
        </>
      }
    >
      {pairs.length === 0 ? (
        <Empty
          title="No messages yet"
          commands={["mailbox --as ada send bob --body 'hello'", 'mailbox demo']}
        />
      ) : view === 'matrix' ? (
        <Matrix agents={writing} pairs={pairs} onSelect={open} />
      ) : (
        <Graph agents={writing} pairs={pairs} onSelect={open} edges={isMany ? 'pointed' : 'all'} />
      )}
    </Page>
  )
}
