import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import './chart.css'
import './replay-slider.css'
import { barsOf, timeAt } from './density.ts'
import { moment, spansDays } from './text.ts'
import type { Bucket } from './types.ts'

export interface ReplaySliderProps {
  /** The first and the last entry, and when they were written. */
  first: number
  last: number
  firstAt: string
  lastAt: string
  /** The current entry, and its exact time if known. */
  seq: number
  at?: string
  onChange: (seq: number) => void
  playing: boolean
  /** Called by the play button, and with false at the end. */
  onPlay?: (playing: boolean) => void
  /** Activity over time (`sent`), drawn above the slider. */
  buckets?: readonly Bucket[]
}

/** Multiples of real time. */
const speeds = [1, 2, 5, 10, 20, 60, 300, 1_800, 7_200]
const frameMs = 100
/** The initial speed plays the whole history in about this time. */
const wholeMs = 60_000

/** Moves through the history, by hand or by playing it. */
export function ReplaySlider(props: ReplaySliderProps) {
  const { first, last, seq, at, onChange, playing, onPlay, buckets = [] } = props
  const [firstAt, lastAt] = [Date.parse(props.firstAt), Date.parse(props.lastAt)]
  const lasted = Math.max(1, lastAt - firstAt)
  const [speed, setSpeed] = useState(() => speeds.find((one) => lasted / one <= wholeMs) ?? speeds.at(-1)!)
  const bars = useMemo(() => barsOf(buckets, 'sent'), [buckets])
  usePlayback({ first, last, seq, playing, onChange, onPlay, perMs: ((last - first) / lasted) * speed })

  const share = last > first ? (seq - first) / (last - first) : 1
  const isLong = spansDays(firstAt, lastAt)
  const time = moment(at ?? timeAt(share, bars, firstAt, lastAt), isLong)
  const isAtEnd = seq >= last
  const play = () => {
    if (!playing && isAtEnd) onChange(first)
    onPlay?.(!playing)
  }
  return (
    <div class="chart replay" role="group" aria-label="Replay">
      <div class="replay-buttons">
        <button
          type="button"
          class="chart-button replay-play"
          aria-label={playing ? 'Pause' : 'Play'}
          onClick={play}
        >
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <path d={playing ? 'M3 2h4v12H3zM9 2h4v12H9z' : 'M4 2l10 6-10 6z'} />
          </svg>
        </button>
        <button
          type="button"
          class="chart-button"
          aria-label="Previous entry"
          disabled={seq <= first}
          onClick={() => onChange(seq - 1)}
        >
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <path d="M12 3v10L5 8zM3 3h2v10H3z" />
          </svg>
        </button>
        <button
          type="button"
          class="chart-button"
          aria-label="Next entry"
          disabled={isAtEnd}
          onClick={() => onChange(seq + 1)}
        >
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <path d="M4 3v10l7-5zM11 3h2v10h-2z" />
          </svg>
        </button>
        <label class="replay-speed">
          <span class="chart-hidden">Speed</span>
          <select value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
            {speeds.map((one) => (
              <option key={one} value={one}>
                {one.toLocaleString('en')}×
              </option>
            ))}
          </select>
        </label>
        <output class="replay-now" aria-hidden="true">
          <b>{time}</b> entry {seq.toLocaleString('en')} of {last.toLocaleString('en')}
        </output>
      </div>
      <div class="replay-track">
        <svg class="replay-density" viewBox="0 0 1000 40" preserveAspectRatio="none" aria-hidden="true">
          {bars.map((bar) => (
            <rect
              key={bar.at}
              class={bar.from < share ? 'is-past' : ''}
              x={bar.from * 1_000}
              width={Math.max(0, (bar.to - bar.from) * 1_000 - 0.6)}
              y={40 - 38 * bar.height}
              height={38 * bar.height}
            />
          ))}
        </svg>
        <input
          type="range"
          min={first}
          max={last}
          step={1}
          value={seq}
          aria-label="Position in history"
          aria-valuetext={`${time}, entry ${seq} of ${last}`}
          style={{ '--share': share }}
          onInput={(event) => onChange(Number(event.currentTarget.value))}
        />
        <div class="replay-ends" aria-hidden="true">
          <span>{moment(firstAt, isLong)}</span>
          <span>{moment(lastAt, isLong)}</span>
        </div>
      </div>
    </div>
  )
}

interface Playback {
  first: number
  last: number
  seq: number
  playing: boolean
  perMs: number
  onChange: (seq: number) => void
  onPlay: ((playing: boolean) => void) | undefined
}

/** Advances while playing. If the person moves the slider, it continues from there. */
function usePlayback(playback: Playback): void {
  const now = useRef(playback)
  now.current = playback
  useEffect(() => {
    if (!playback.playing) return
    let place = now.current.seq
    let before = performance.now()
    const timer = setInterval(() => {
      const { seq, last, perMs, onChange, onPlay } = now.current
      if (Math.abs(seq - Math.floor(place)) > 1) place = seq
      const time = performance.now()
      place = Math.min(last, place + (time - before) * perMs)
      before = time
      if (Math.floor(place) !== seq) onChange(Math.floor(place))
      if (place >= last) onPlay?.(false)
    }, frameMs)
    return () => clearInterval(timer)
  }, [playback.playing])
}
