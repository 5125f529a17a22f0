import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import './chart.css'
import './time-series.css'
import { clock, compact, duration, moment, spansDays } from './text.ts'
import { marksPlugin } from './time-marks.ts'
import type { Bucket, BucketKey, LifeEvent, Threshold } from './types.ts'
import { useWidth } from './use-size.ts'

interface SeriesLine {
  /** The field of the buckets. */
  key: BucketKey
  label: string
  /** @default by position */
  color?: LineColor
}

type LineColor = 'accent' | 'ok' | 'warn' | 'danger' | 'ink-2'

export interface TimeSeriesProps {
  title: string
  buckets: readonly Bucket[]
  lines: readonly SeriesLine[]
  /** `ms` is shown as a duration; anything else follows the number. */
  unit: string
  /** Marked as lines across the chart. */
  events?: readonly LifeEvent[]
  /** A line is drawn where the values come near one. */
  thresholds?: readonly Threshold[]
  /** Lets the person choose a part of the time, by dragging; in ms. */
  onRange?: ((from: number, to: number) => void) | undefined
  /** Charts of the same group share their cursor. */
  group?: string
  /** @default 160 */
  height?: number
}

const colorOrder: LineColor[] = ['accent', 'warn', 'danger', 'ok', 'ink-2']
/** So that lines differ by more than their colour. */
const dashes = [[], [6, 3], [2, 3], [10, 3, 2, 3]]
const fallbacks: Record<string, string> = {
  accent: '#2559c7',
  ok: '#1a7f37',
  warn: '#8a5a00',
  danger: '#b3261e',
  'ink-2': '#5b5f66',
  line: '#d5d8dd',
}

/** Values over time, as a chart and as a table. */
export function TimeSeries(props: TimeSeriesProps) {
  const { title, buckets, lines, unit, group, height = 160 } = props
  const { events = noEvents, thresholds = noThresholds, onRange } = props
  const { ref, width } = useWidth<HTMLDivElement>(360)
  const [cursor, setCursor] = useState<number | null>(null)
  const plot = useRef<uPlot | null>(null)
  const theme = useTheme()
  const data = useMemo(() => columnsOf(buckets, lines), [buckets, lines])
  const latest = useRef({ data, width, events, thresholds, onRange })
  latest.current = { data, width, events, thresholds, onRange }
  const isEmpty = buckets.length === 0

  // New lines or colours need a new chart, before anybody sees the old one in front of the new colours. New data and
  // sizes update the existing one.
  const shape = lines.map(({ key, color }) => `${key} ${color ?? ''}`).join('\n')
  useLayoutEffect(() => {
    const target = ref.current
    if (target === null || isEmpty) return
    const options = optionsOf({
      width: latest.current.width,
      height,
      lines,
      unit,
      group,
      target,
      onCursor: setCursor,
      latest,
    })
    const made = new uPlot(options, latest.current.data, target)
    plot.current = made
    return () => {
      plot.current = null
      made.destroy()
    }
  }, [shape, unit, group, height, theme, isEmpty])
  useEffect(() => plot.current?.setData(data), [data])
  useEffect(() => plot.current?.redraw(false), [events, thresholds])
  useEffect(() => plot.current?.setSize({ width, height }), [width, height])

  const isLong = !isEmpty && spansDays(buckets[0]!.at, buckets.at(-1)!.at)
  const at = cursor !== null && cursor < buckets.length ? cursor : buckets.length - 1
  return (
    <figure class="chart time-series">
      <figcaption>
        <b>{title}</b>
        {!isEmpty && (
          <span class="chart-note">{cursor === null ? 'latest' : moment(buckets[at]!.at, isLong)}</span>
        )}
      </figcaption>
      <ul class="series-legend">
        {lines.map((line, index) => (
          <li key={line.key}>
            <Swatch line={line} index={index} />
            {line.label} <b>{isEmpty ? '–' : formatValue(buckets[at]![line.key], unit)}</b>
          </li>
        ))}
        {thresholds
          .filter(({ value }) => isReached(value, buckets, lines))
          .map(({ value, label }) => (
            <li key={label} class="series-over">
              over {formatValue(value, unit)}: {label}
            </li>
          ))}
      </ul>
      {isEmpty ? (
        <p class="chart-empty">No data in this time range.</p>
      ) : (
        <div ref={ref} class="series-plot" role="img" aria-label={inWords(title, buckets, lines, unit)} />
      )}
      {!isEmpty && <SeriesTable title={title} buckets={buckets} lines={lines} unit={unit} isLong={isLong} />}
    </figure>
  )
}

const isReached = (value: number, buckets: readonly Bucket[], lines: readonly SeriesLine[]): boolean =>
  buckets.some((bucket) => lines.some(({ key }) => (bucket[key] ?? 0) > value))

function Swatch({ line, index }: { line: SeriesLine; index: number }) {
  return (
    <svg class="series-swatch" viewBox="0 0 20 8" width="20" height="8" aria-hidden="true">
      <path
        class={`line-${colorOf(line, index)}`}
        d="M0 4h20"
        stroke-width="2.5"
        stroke-dasharray={dashes[index % dashes.length]!.join(' ')}
      />
    </svg>
  )
}

function SeriesTable(
  props: Pick<TimeSeriesProps, 'title' | 'buckets' | 'lines' | 'unit'> & { isLong: boolean },
) {
  const { title, buckets, lines, unit, isLong } = props
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="series-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title} as a table</summary>
      {isOpen && (
        <section tabIndex={0} aria-label={`${title} as a table`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {lines.map(({ key, label }) => (
                  <th key={key} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {[...buckets].reverse().map((bucket) => (
                <tr key={bucket.at}>
                  <th scope="row">{moment(bucket.at, isLong)}</th>
                  {lines.map(({ key }) => (
                    <td key={key}>{formatValue(bucket[key], unit)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  )
}

interface PlotOptions {
  width: number
  height: number
  lines: readonly SeriesLine[]
  unit: string
  group: string | undefined
  target: HTMLElement
  onCursor: (at: number | null) => void
  latest: { readonly current: Pick<TimeSeriesProps, 'events' | 'thresholds' | 'onRange'> }
}

const noEvents: readonly LifeEvent[] = []
const noThresholds: readonly Threshold[] = []
/** A shorter drag is a click. */
const leastDragPx = 6

function optionsOf(given: PlotOptions): uPlot.Options {
  const { width, height, lines, unit, group, target, onCursor, latest } = given
  const style = getComputedStyle(target)
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim() || fallbacks[name]!
  const font = `11px ${style.fontFamily}`
  const axis = { stroke: color('ink-2'), font, ticks: { show: false }, border: { show: false } }
  const hairline = { stroke: color('line'), width: 1 }
  return {
    width,
    height,
    legend: { show: false },
    // The last time on the axis needs half of its width.
    padding: [8, 28, 0, 0],
    cursor: {
      y: false,
      points: { size: 6 },
      drag: { x: latest.current.onRange !== undefined, y: false, setScale: false },
      ...(group === undefined ? {} : { sync: { key: group } }),
    },
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 64,
        size: 26,
        values: (_plot, splits) => splits.map((at) => clock(at * 1_000, isFine(splits))),
      },
      {
        ...axis,
        grid: hairline,
        space: 34,
        size: 52,
        values: (_plot, splits) => splits.map((value) => (unit === 'ms' ? duration(value) : compact(value))),
      },
    ],
    series: [
      {},
      ...lines.map((line, index) => ({
        label: line.label,
        stroke: color(colorOf(line, index)),
        width: 1.75,
        dash: dashes[index % dashes.length]!,
        // A value without neighbours has no line: it is a dot.
        points: { show: true, size: 5, filter: isolated },
        spanGaps: false,
      })),
    ],
    hooks: {
      setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width: dragged } = plot.select
          if (dragged < leastDragPx) return
          const at = (px: number) => Math.round(plot.posToVal(px, 'x') * 1_000)
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          latest.current.onRange?.(at(left), at(left + dragged))
        },
      ],
    },
    plugins: [
      marksPlugin(latest, {
        died: color('danger'),
        restarted: color('ok'),
        hub_started: color('accent'),
        line: color('warn'),
      }),
    ],
  }
}

function isolated(plot: uPlot, series: number): number[] {
  const values = plot.data[series]!
  return [...values.keys()].filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  )
}

/** Ticks less than a minute apart show seconds. */
const isFine = (splits: readonly number[]): boolean => splits.length > 1 && splits[1]! - splits[0]! < 60

const colorOf = ({ color }: SeriesLine, index: number): LineColor =>
  color ?? colorOrder[index % colorOrder.length]!

function columnsOf(buckets: readonly Bucket[], lines: readonly SeriesLine[]): uPlot.AlignedData {
  const times = buckets.map(({ at }) => Date.parse(at) / 1_000)
  return [times, ...lines.map(({ key }) => buckets.map((bucket) => bucket[key]))]
}

function formatValue(value: number | null, unit: string): string {
  if (value === null) return '–'
  return unit === 'ms' ? duration(value) : `${compact(value)} ${unit}`.trim()
}

function inWords(
  title: string,
  buckets: readonly Bucket[],
  lines: readonly SeriesLine[],
  unit: string,
): string {
  const parts = lines.map(({ key, label }) => {
    const values = buckets.flatMap((bucket) => bucket[key] ?? [])
    if (values.length === 0) return `${label}: no data`
    return `${label}: latest ${formatValue(values.at(-1)!, unit)}, highest ${formatValue(Math.max(...values), unit)}`
  })
  return `${title}. ${parts.join('; ')}.`
}

/** Changes with the colours, because a canvas does not follow style sheets. */
function useTheme(): number {
  const [theme, setTheme] = useState(0)
  useEffect(() => {
    const change = () => setTheme((before) => before + 1)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', change)
    const observer = new MutationObserver(change)
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['class', 'data-theme'] })
    return () => {
      dark.removeEventListener('change', change)
      observer.disconnect()
    }
  }, [])
  return theme
}
