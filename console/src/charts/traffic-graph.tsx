import { useMemo, useRef, useState } from 'preact/hooks'
import './chart.css'
import './traffic-graph.css'
import { bow, labelBox, neighbour, radiusOf, roomForLabels, widthOf } from './graph-drawing.ts'
import { layoutGraph, type Point } from './graph-layout.ts'
import { PairTable } from './pair-table.tsx'
import { plural } from './text.ts'
import { type Party, parties, summary, volume } from './traffic.ts'
import type { ChartAgent, Pair, Selection } from './types.ts'
import { useWidth } from './use-size.ts'

export interface TrafficGraphProps {
  agents: readonly ChartAgent[]
  pairs: readonly Pair[]
  onSelect?: (selection: Selection) => void
  /** `pointed`: only those of the participant under the pointer or the focus. @default 'all' */
  edges?: 'all' | 'pointed'
}

const margin = { x: 44, top: 22, bottom: 34 }
/** The title of the page above it and the line below it. */
const headRoom = 170
/** With more lines than this, only highlighted ones get arrowheads. */
const headsUpTo = 160

/** Who sends to whom: nodes with traffic are close, and thicker lines mean more messages. */
export function TrafficGraph({ agents, pairs, onSelect, edges = 'all' }: TrafficGraphProps) {
  const { ref, width } = useWidth<HTMLDivElement>(720)
  const [active, setActive] = useState<Selection | undefined>()
  const [stop, setStop] = useState<string | undefined>()
  const nodes = useRef(new Map<string, SVGGElement>())
  const all = useMemo(() => parties(agents, pairs), [agents, pairs])
  const layout = useLayout(all, pairs)
  // As high as the window leaves room for, under the head of the page.
  const room = Math.max(340, innerHeight - headRoom)
  const tall = Math.round(Math.min(room, Math.max(340, width * 0.7)))
  const drawing = useMemo(() => draw(all, pairs, layout, width, tall), [all, pairs, layout, width, tall])
  if (all.length === 0) return <p class="chart chart-empty">No messages yet.</p>

  const near = nearOf(active, pairs)
  const current = stop !== undefined && drawing.places.has(stop) ? stop : all[0]!.name
  const go = (event: KeyboardEvent, name: string) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      onSelect?.({ kind: 'agent', name })
      return
    }
    const next = neighbour(event.key, name, drawing.places)
    if (event.key.startsWith('Arrow')) event.preventDefault()
    if (next !== undefined) nodes.current.get(next)?.focus()
  }
  const isLit = (edge: Edge) =>
    active === undefined ||
    (active.kind === 'agent'
      ? edge.from === active.name || edge.to === active.name
      : edge.from === active.from && edge.to === active.to)
  const showsHeads = drawing.edges.length <= headsUpTo

  return (
    <div class="chart traffic-graph" ref={ref}>
      <svg
        width={width}
        height={tall}
        viewBox={`0 0 ${width} ${tall}`}
        role="group"
        aria-label={`${summary(all, pairs)} Use the arrow keys to move between participants.`}
        class={`${active === undefined ? '' : 'has-active'} ${showsHeads ? '' : 'is-dense'}`}
        onPointerLeave={() => setActive(undefined)}
      >
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it is focusable. */}
        <g aria-hidden="true">
          {drawing.edges
            .filter((edge) => edges === 'all' || (active !== undefined && isLit(edge)))
            .map((edge) => (
              <Line
                key={edge.key}
                edge={edge}
                lit={isLit(edge)}
                head={showsHeads || (active !== undefined && isLit(edge))}
                onPoint={() => setActive({ kind: 'pair', from: edge.from, to: edge.to })}
                onPick={() => onSelect?.({ kind: 'pair', from: edge.from, to: edge.to })}
              />
            ))}
        </g>
        {all.map((party) => {
          const { name } = party
          const at = drawing.places.get(name)!
          const isNear = near === undefined || near.has(name)
          return (
            <g
              key={name}
              ref={(element: SVGGElement | null) => {
                if (element === null) nodes.current.delete(name)
                else nodes.current.set(name, element)
              }}
              class={`node node-${party.kind} ${party.state === 'dead' ? 'node-dead' : ''} ${isNear ? '' : 'is-far'}`}
              transform={`translate(${at.x.toFixed(1)},${at.y.toFixed(1)})`}
              role="button"
              tabIndex={name === current ? 0 : -1}
              aria-label={describe(party)}
              onFocus={() => {
                setStop(name)
                setActive({ kind: 'agent', name })
              }}
              onBlur={() => setActive(undefined)}
              onPointerEnter={() => setActive({ kind: 'agent', name })}
              onClick={() => onSelect?.({ kind: 'agent', name })}
              onKeyDown={(event: KeyboardEvent) => go(event, name)}
            >
              <Mark party={party} radius={drawing.radius.get(name)!} />
              {(drawing.named.has(name) || (near?.has(name) && near.size <= 24)) && (
                <text x={drawing.labelX.get(name)! - at.x} y={drawing.radius.get(name)! + 13}>
                  {name}
                </text>
              )}
            </g>
          )
        })}
      </svg>
      <p class="chart-note traffic-readout">{readout(active, all, pairs, edges)}</p>
      <PairTable pairs={pairs} />
    </div>
  )
}

interface Edge {
  key: string
  from: string
  to: string
  line: string
  head: string
  width: number
}

function Line(props: { edge: Edge; lit: boolean; head: boolean; onPoint: () => void; onPick: () => void }) {
  const { edge, lit, head, onPoint, onPick } = props
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the matrix makes the pairs accessible by keyboard.
    <g class={`edge ${lit ? 'is-lit' : 'is-far'}`} onPointerEnter={onPoint} onClick={onPick}>
      <path class="edge-reach" d={edge.line} />
      <path class="edge-line" d={edge.line} stroke-width={edge.width.toFixed(1)} />
      {head && <path class="edge-head" d={edge.head} />}
    </g>
  )
}

function Mark({ party, radius }: { party: Party; radius: number }) {
  if (party.kind !== 'group') return <circle class="mark" r={radius.toFixed(1)} />
  const side = radius * 1.7
  return <rect class="mark" x={-side / 2} y={-side / 2} width={side} height={side} rx={3} />
}

/** The positions of the nodes. They change only with a new participant or a new pair. */
function useLayout(all: readonly Party[], pairs: readonly Pair[]): Map<string, Point> {
  const before = useRef(new Map<string, Point>())
  const names = all.map(({ name }) => name).sort()
  const links = pairs.map(({ from, to }) => `${from}\n${to}`).sort()
  return useMemo(() => {
    before.current = layoutGraph(names, pairs, before.current)
    return before.current
  }, [names.join('\n'), links.join('\n\n')])
}

function draw(
  all: readonly Party[],
  pairs: readonly Pair[],
  layout: ReadonlyMap<string, Point>,
  width: number,
  height: number,
) {
  const most = Math.max(1, ...all.map(volume))
  const radius = new Map(all.map((party) => [party.name, radiusOf(party, most, all.length)]))
  const inner = {
    width: Math.max(40, width - 2 * margin.x),
    height: Math.max(40, height - margin.top - margin.bottom),
  }
  const places = new Map(
    [...layout].map(([name, { x, y }]) => [
      name,
      { x: margin.x + x * inner.width, y: margin.top + y * inner.height },
    ]),
  )
  const thickest = Math.max(1, ...pairs.map(({ messages }) => messages))
  const edges: Edge[] = [...pairs]
    .filter(({ from, to }) => from !== to)
    .sort((a, b) => a.messages - b.messages)
    .map(({ from, to, messages }) => {
      const thick = widthOf(messages, thickest, pairs.length)
      return {
        key: `${from}\n${to}`,
        from,
        to,
        width: thick,
        ...bow(places.get(from)!, places.get(to)!, radius.get(to)!, thick),
      }
    })
  // The person is what people look for first.
  const first = [...all].sort((a, b) => Number(b.kind === 'person') - Number(a.kind === 'person'))
  const boxes = first.map(({ name }) => {
    const at = places.get(name)!
    const r = radius.get(name)!
    const node = { left: at.x - r, right: at.x + r, top: at.y - r, bottom: at.y + r }
    return { name, label: labelBox(name, at, r, width), node }
  })
  const labelX = new Map(boxes.map(({ name, label }) => [name, (label.left + label.right) / 2]))
  return { places, radius, edges, labelX, named: roomForLabels(boxes) }
}

/** The highlighted participant and its contacts. */
function nearOf(active: Selection | undefined, pairs: readonly Pair[]): Set<string> | undefined {
  if (active === undefined) return undefined
  if (active.kind === 'pair') return new Set([active.from, active.to])
  const near = new Set([active.name])
  for (const { from, to } of pairs) {
    if (from === active.name) near.add(to)
    if (to === active.name) near.add(from)
  }
  return near
}

const describe = ({ name, state, sent, received }: Party): string =>
  `${name}${state === '' ? '' : `, ${state}`}: sent ${sent}, received ${received}`

function readout(
  active: Selection | undefined,
  all: readonly Party[],
  pairs: readonly Pair[],
  edges: 'all' | 'pointed',
): string {
  if (active === undefined)
    return `Circles are agents, squares are roles and tags. Point at one to see ${edges === 'all' ? 'its traffic' : 'with whom it exchanges mail'}.`
  if (active.kind === 'pair') {
    const count = (from: string, to: string) =>
      pairs.find((pair) => pair.from === from && pair.to === to)?.messages ?? 0
    const back = count(active.to, active.from)
    return `${active.from} to ${active.to}: ${plural(count(active.from, active.to), 'message')}${back > 0 ? `, ${back} in return` : ''}`
  }
  const party = all.find(({ name }) => name === active.name)
  return party === undefined ? '' : describe(party)
}
