import { useMemo, useRef, useState } from 'preact/hooks'
import './chart.css'
import './traffic-matrix.css'
import { compact, plural } from './text.ts'
import { byName, byVolume, type Party, parties } from './traffic.ts'
import type { ChartAgent, Pair, Selection } from './types.ts'

export interface TrafficMatrixProps {
  agents: readonly ChartAgent[]
  pairs: readonly Pair[]
  onSelect?: (selection: Selection) => void
}

type Order = 'volume' | 'name'

/** More rows and columns than this are shown on request. */
const shownAtFirst = 40
const heats = 5

/** Message counts with senders as rows and recipients as columns. Darker means more. */
export function TrafficMatrix({ agents, pairs, onSelect }: TrafficMatrixProps) {
  const [order, setOrder] = useState<Order>('volume')
  const [whole, setWhole] = useState(false)
  const [stop, setStop] = useState<string | undefined>()
  const cells = useRef(new Map<string, HTMLButtonElement>())
  const counts = useMemo(() => countsOf(pairs), [pairs])
  const most = Math.max(1, ...pairs.map(({ messages }) => messages))
  const all = useMemo(() => parties(agents, pairs), [agents, pairs])
  const senders = all.filter(({ sent }) => sent > 0)
  const recipients = all.filter(({ received }) => received > 0)
  if (senders.length === 0) return <p class="chart chart-empty">No messages yet.</p>

  const rows = arrange(senders, order, whole)
  const columns = arrange(recipients, order, whole)
  const hidden = Math.max(senders.length - rows.length, recipients.length - columns.length)
  const order2d = rows.map(({ name }) => columns.map((column) => keyOf(name, column.name)))
  const filled = order2d.flat().filter((key) => counts.has(key))
  const current = stop !== undefined && filled.includes(stop) ? stop : filled[0]
  const go = (event: KeyboardEvent, key: string) => {
    const next = step(event.key, key, order2d, counts)
    if (next === undefined) return
    event.preventDefault()
    cells.current.get(next)?.focus()
  }

  return (
    <div class="chart traffic-matrix">
      <div class="matrix-bar">
        <div class="chart-choice" role="group" aria-label="Order">
          <OrderButton order="volume" now={order} onPick={setOrder} label="By volume" />
          <OrderButton order="name" now={order} onPick={setOrder} label="By name" />
        </div>
        {(hidden > 0 || whole) && (
          <button type="button" class="chart-button" onClick={() => setWhole(!whole)}>
            {whole ? `Show top ${shownAtFirst}` : `Show all ${all.length}`}
          </button>
        )}
        <p class="chart-note">Rows are senders, columns are recipients. Use the arrow keys to move.</p>
      </div>
      <section class="matrix-scroll" aria-label="Messages by sender and recipient">
        <table>
          <caption class="chart-hidden">Messages by sender (rows) and recipient (columns)</caption>
          <thead>
            <tr>
              <td class="matrix-corner">from \ to</td>
              {columns.map(({ name }) => (
                <th key={name} scope="col" title={name}>
                  <span>{name}</span>
                </th>
              ))}
              <th scope="col" class="matrix-sum">
                <span>total</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row" title={row.name}>
                  {row.name}
                </th>
                {columns.map((column) => {
                  const key = keyOf(row.name, column.name)
                  const count = counts.get(key)
                  if (count === undefined)
                    return <td key={key} class={row.name === column.name ? 'matrix-self' : ''} />
                  return (
                    <td key={key} class={`heat-${heatOf(count, most)}`}>
                      <button
                        type="button"
                        ref={(element: HTMLButtonElement | null) => {
                          if (element === null) cells.current.delete(key)
                          else cells.current.set(key, element)
                        }}
                        tabIndex={key === current ? 0 : -1}
                        aria-label={`${row.name} to ${column.name}: ${plural(count, 'message')}`}
                        onFocus={() => setStop(key)}
                        onKeyDown={(event: KeyboardEvent) => go(event, key)}
                        onClick={() => onSelect?.({ kind: 'pair', from: row.name, to: column.name })}
                      >
                        {compact(count)}
                      </button>
                    </td>
                  )
                })}
                <td class="matrix-sum">{compact(row.sent)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  )
}

function OrderButton(props: { order: Order; now: Order; label: string; onPick: (order: Order) => void }) {
  const { order, now, label, onPick } = props
  return (
    <button type="button" aria-pressed={order === now} onClick={() => onPick(order)}>
      {label}
    </button>
  )
}

const keyOf = (from: string, to: string): string => `${from}\n${to}`

function countsOf(pairs: readonly Pair[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { from, to, messages } of pairs) {
    const key = keyOf(from, to)
    counts.set(key, (counts.get(key) ?? 0) + messages)
  }
  return counts
}

/** Picks the busiest, then sorts them as requested. */
function arrange(all: readonly Party[], order: Order, whole: boolean): Party[] {
  const chosen = [...all].sort(byVolume).slice(0, whole ? all.length : shownAtFirst)
  return order === 'name' ? chosen.sort(byName) : chosen
}

/** 1 to 5. A square root keeps one busy pair from making all others look the same. */
const heatOf = (count: number, most: number): number =>
  Math.max(1, Math.ceil(heats * Math.sqrt(count / most)))

const moves: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/** The next number in that direction, or, if its own line has none, the nearest one beyond. */
function step(
  key: string,
  from: string,
  grid: readonly (readonly string[])[],
  counts: ReadonlyMap<string, number>,
): string | undefined {
  const move = moves[key]
  if (move === undefined) return undefined
  const row = grid.findIndex((keys) => keys.includes(from))
  const column = grid[row]?.indexOf(from) ?? -1
  let best: { key: string; cost: number } | undefined
  for (const [r, keys] of grid.entries()) {
    for (const [c, name] of keys.entries()) {
      const ahead = (r - row) * move[0] + (c - column) * move[1]
      if (ahead <= 0 || !counts.has(name)) continue
      const aside = Math.abs((r - row) * move[1]) + Math.abs((c - column) * move[0])
      const cost = ahead + aside * 100
      if (best === undefined || cost < best.cost) best = { key: name, cost }
    }
  }
  return best?.key
}
