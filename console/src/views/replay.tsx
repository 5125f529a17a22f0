import './replay.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get } from '../data/api.ts'
import type { ReplayFrame, Series } from '../data/types.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { line, plural } from '../lib/text.ts'
import { clockTime, fullTime } from '../lib/time.ts'
import { lazy } from '../parts/lazy.tsx'
import { Empty, Loading, Problem, StateDot } from '../parts/small.tsx'
import { showError } from '../parts/toast.tsx'
import { Page } from './page.tsx'

const Slider = lazy(async () => (await import('../charts/replay-slider.tsx')).ReplaySlider)

/** The space as it was after any entry. The URL holds the sequence number. */
export function ReplayPage({ at }: { at: number | undefined }) {
  const [frame, setFrame] = useState<ReplayFrame>()
  const [wanted, setWanted] = useState(at)
  const [isPlaying, setPlaying] = useState(false)
  const buckets = useBuckets(frame)
  useEffect(() => {
    if (at !== undefined) setWanted(at)
  }, [at])
  const problem = useFrame(wanted, setFrame)
  if (frame === undefined) return problem === null ? <Loading /> : <Problem error={problem} />
  if (frame.last === 0)
    return (
      <Page title="Replay">
        <Empty title="Nothing to replay yet" commands={['mailbox join ada', 'mailbox demo']} />
      </Page>
    )
  return (
    <Page title="Replay">
      <div class="replay">
        <Slider
          first={frame.first}
          last={frame.last}
          firstAt={frame.firstAt}
          lastAt={frame.lastAt}
          seq={wanted ?? frame.seq}
          {...(frame.seq === (wanted ?? frame.seq) && { at: frame.at })}
          onChange={(seq: number) => {
            setWanted(seq)
            go(`/replay?at=${seq}`, { replace: true, isListMove: true })
          }}
          playing={isPlaying}
          onPlay={setPlaying}
          {...(buckets && { buckets })}
        />
        <Picture frame={frame} />
      </div>
    </Page>
  )
}

const Picture = ({ frame }: { frame: ReplayFrame }) => (
  <div class="columns">
    <section class="section">
      <header>
        <h2>Recent activity</h2>
        <span class="quiet">{plural(frame.totals.messages, 'message')} so far</span>
      </header>
      <ol class="replay-log">
        {frame.recent
          .toSorted((a, b) => b.seq - a.seq)
          .map((entry) => (
            <li key={entry.seq}>
              <time class="quiet number" dateTime={entry.at} title={fullTime(entry.at)}>
                {clockTime(entry.at)}
              </time>
              <span class="quiet number">{entry.seq}</span>
              {entry.message === undefined ? (
                <bdi>{line(entry.text)}</bdi>
              ) : (
                <a href={path('messages', entry.message.id)}>
                  <bdi>{line(entry.text)}</bdi>
                </a>
              )}
            </li>
          ))}
      </ol>
    </section>
    <section class="section">
      <header>
        <h2>Agents</h2>
        <span class="quiet">{frame.agents.filter(({ state }) => state !== 'dead').length} active</span>
      </header>
      <ul class="replay-agents">
        {frame.agents.map((agent) => (
          <li key={agent.name}>
            <StateDot state={agent.state} />
            <bdi class="cut">{line(agent.name)}</bdi>
            {agent.unread > 0 && <span class="number quiet">{agent.unread} unread</span>}
          </li>
        ))}
      </ul>
    </section>
  </div>
)

const retryMs = 2_000

/**
 * The frame at a sequence number, or the last one. One request at a time: while the slider moves, the next
 * request is for the position it has when the answer arrives.
 */
function useFrame(wanted: number | undefined, take: (frame: ReplayFrame) => void): ApiError | null {
  const [problem, setProblem] = useState<ApiError | null>(null)
  const next = useRef<{ at: number | undefined }>()
  const isAsking = useRef(false)
  const isHere = useRef(true)
  useEffect(() => {
    isHere.current = true
    return () => {
      isHere.current = false
    }
  }, [])
  useEffect(() => {
    next.current = { at: wanted }
    if (isAsking.current) return
    const ask = async () => {
      isAsking.current = true
      while (next.current !== undefined && isHere.current) {
        const request = next.current
        next.current = undefined
        try {
          const frame = await get<ReplayFrame>('/api/replay', { at: request.at })
          if (!isHere.current) break
          take(frame)
          setProblem(null)
        } catch (error) {
          const found = error instanceof ApiError ? error : new ApiError('internal', String(error))
          setProblem(found)
          if (!found.isTransient) continue
          next.current ??= request
          await new Promise((resolve) => setTimeout(resolve, retryMs))
        }
      }
      isAsking.current = false
    }
    void ask()
  }, [wanted, take])
  return problem
}

function useBuckets(frame: ReplayFrame | undefined): Series['buckets'] | undefined {
  const [buckets, setBuckets] = useState<Series['buckets']>()
  const from = frame?.firstAt
  const to = frame?.lastAt
  useEffect(() => {
    if (from === undefined || to === undefined || from === to) return
    get<Series>('/api/series', { from, to, buckets: 120, agents: 'no' }).then(
      ({ buckets: found }) => setBuckets(found),
      showError,
    )
  }, [from, to])
  return buckets
}
