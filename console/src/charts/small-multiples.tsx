import './time-series.css'
import { TimeSeries, type TimeSeriesProps } from './time-series.tsx'
import type { Bucket } from './types.ts'

export interface SmallMultiplesProps {
  buckets: readonly Bucket[]
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

/** Several charts over the same time range, side by side. */
export function SmallMultiples({ buckets, panels = defaultPanels }: SmallMultiplesProps) {
  return (
    <div class="small-multiples">
      {panels.map((panel) => (
        <TimeSeries key={panel.title} {...panel} buckets={buckets} group="small-multiples" />
      ))}
    </div>
  )
}
