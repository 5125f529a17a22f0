import './time-series.css'
import { TimeSeries, type TimeSeriesProps } from './time-series.tsx'
import type { Bucket, LifeEvent, Threshold } from './types.ts'

export interface SmallMultiplesProps {
  buckets: readonly Bucket[]
  /** Marked in every chart. */
  events?: readonly LifeEvent[]
  /** Lines to compare with, by the title of the chart. */
  thresholds?: Readonly<Record<string, readonly Threshold[]>>
  /** Lets the person choose a part of the time, by dragging; in ms. */
  onRange?: (from: number, to: number) => void
  /** One chart each, with a shared cursor. @default the figures of /api/series */
  panels?: readonly Pick<TimeSeriesProps, 'title' | 'lines' | 'unit'>[]
}

const defaultPanels: NonNullable<SmallMultiplesProps['panels']> = [
  {
    title: 'Messages',
    unit: '',
    lines: [
      { key: 'sent', label: 'sent' },
      { key: 'handled', label: 'completed', color: 'ok' },
    ],
  },
  {
    title: 'Time to read',
    unit: 'ms',
    lines: [
      { key: 'p50Ms', label: 'p50' },
      { key: 'p95Ms', label: 'p95', color: 'warn' },
      { key: 'p99Ms', label: 'p99', color: 'danger' },
    ],
  },
  { title: 'Unread', unit: '', lines: [{ key: 'pending', label: 'unread', color: 'warn' }] },
]

const none: readonly Threshold[] = []

/** Several charts over the same time range, side by side. */
export function SmallMultiples(props: SmallMultiplesProps) {
  const { buckets, events = [], thresholds = {}, onRange, panels = defaultPanels } = props
  return (
    <div class="small-multiples">
      {panels.map((panel) => (
        <TimeSeries
          key={panel.title}
          {...panel}
          buckets={buckets}
          events={events}
          thresholds={thresholds[panel.title] ?? none}
          onRange={onRange}
          group="small-multiples"
        />
      ))}
    </div>
  )
}
