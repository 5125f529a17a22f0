import { percentile } from '../model/latency.ts'
import { type Chronicle, type LifeEvent, type Slot, slotMs } from './chronicle.ts'

export interface SeriesOptions {
  /** Times in ms. @default the last day, or since the space was created */
  from?: number
  to?: number
  /** How many buckets, 1 to 500. @default 60 */
  buckets?: number
}

export interface SeriesBucket {
  /** When it starts. */
  at: string
  sent: number
  /** Messages that were finished. */
  handled: number
  /** Unread mail of agents and roles when it ends. */
  pending: number
  /** Time from sent to first shown, for what was first shown here; null when nothing was. */
  p50Ms: number | null
  p95Ms: number | null
  p99Ms: number | null
}

export interface Series {
  buckets: SeriesBucket[]
  /** Agents that died or came back within the time, the latest of them. */
  events: LifeEvent[]
}

const dayMs = 86_400_000
const eventsAtMost = 200
const bucketsAtMost = 500

/**
 * Figures over time. Buckets are never shorter than the slots of the history, and none ends before the space was
 * created.
 */
export function series({ slots, first, events }: Chronicle, options: SeriesOptions, now: number): Series {
  const to = options.to ?? now
  const began = first === undefined ? to : Date.parse(first.at)
  const from = Math.min(Math.max(began, options.from ?? to - dayMs), to)
  const wanted = Math.min(Math.max(1, options.buckets ?? 60), bucketsAtMost)
  const stepMs = Math.max(slotMs, Math.ceil((to - from) / wanted / slotMs) * slotMs)
  const start = from - (from % stepMs)
  const buckets: SeriesBucket[] = []
  let next = slots.findIndex(({ at }) => at >= start)
  if (next < 0) next = slots.length
  let pending = slots[next - 1]?.pending ?? 0
  for (let at = start; at <= to; at += stepMs) {
    const within: Slot[] = []
    for (; next < slots.length && slots[next]!.at < at + stepMs; next++) within.push(slots[next]!)
    pending = within.at(-1)?.pending ?? pending
    buckets.push({ at: new Date(at).toISOString(), ...summarize(within), pending })
  }
  const end = start + stepMs * buckets.length
  const isWithin = ({ at }: LifeEvent) => Date.parse(at) >= start && Date.parse(at) < end
  return { buckets, events: events.filter(isWithin).slice(-eventsAtMost) }
}

function summarize(slots: readonly Slot[]) {
  const total = (count: (slot: Slot) => number) => slots.reduce((sum, slot) => sum + count(slot), 0)
  const shown = slots.flatMap(({ shownAfter }) => [...shownAfter].map(([bucket, n]) => ({ bucket, n })))
  return {
    sent: total(({ sent }) => sent),
    handled: total(({ handled }) => handled),
    p50Ms: percentile(shown, 0.5),
    p95Ms: percentile(shown, 0.95),
    p99Ms: percentile(shown, 0.99),
  }
}
