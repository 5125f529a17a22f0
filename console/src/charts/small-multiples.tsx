import './time-series.css'
import { TimeSeries, type TimeSeriesProps } from './time-series.tsx'
import type { Bucket } from './types.ts'

export interface SmallMultiplesProps {
  buckets: readonly Bucket[]
  /** What to draw, each in a chart of its own; their cursors go together. @default what /api/series counts */
  panels?: readonly Pick<TimeSeriesProps, 'title' | 'lines' | 'unit'>[]
}

const usual: NonNullable<SmallMultiplesProps['panels']> = [
  {
    title: 'Messages',
    unit: '',
    lines: [
      { key: 'sent', label: 'sent' },
      { key: 'handled', label: 'handled', color: 'ok' },
    ],
  },
  {
    title: 'Time to handle',
    unit: 'ms',
    lines: [
      { key: 'p50Ms', label: 'p50' },
      { key: 'p95Ms', label: 'p95', color: 'warn' },
      { key: 'p99Ms', label: 'p99', color: 'danger' },
    ],
  },
  { title: 'Pending', unit: '', lines: [{ key: 'pending', label: 'waiting', color: 'warn' }] },
]

/** Several charts over the same time, side by side. */
export function SmallMultiples({ buckets, panels = usual }: SmallMultiplesProps) {
  return (
    <div class="small-multiples">
      {panels.map((panel) => (
        <TimeSeries key={panel.title} {...panel} buckets={buckets} group="small-multiples" />
      ))}
    </div>
  )
}
