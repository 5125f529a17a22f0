import './matter-timeline.css'
import { get } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import type { Trace } from '../data/types.ts'
import { path, segment } from '../lib/route.ts'
import { line, subjectOf, typeName } from '../lib/text.ts'
import { clockSeconds, clockTime, duration, fullTime } from '../lib/time.ts'
import { type TimelineRow, timelineOf } from '../lib/trace.ts'
import { stateName } from '../parts/ladder.tsx'
import { Loading, Problem, Who } from '../parts/small.tsx'
import { openMatters } from '../state/matters.ts'

const phaseNames = { waiting: 'unread', read: 'read', working: 'in progress', over: '' } as const
const ticks = 4
const shortMs = ticks * 60_000

/** A matter from the first question to the last step: one line for each message, on one axis of time. */
export function MatterTimeline({ id }: { id: string }) {
  const { data, error } = useResource(`trace ${id}`, () => ({
    load: (_: Trace | undefined, signal: AbortSignal) =>
      get<Trace>(`/api/threads/${segment(id)}/trace`, {}, signal),
    apply: (known: Trace, entries) => ({
      data: known,
      stale: entries.some(
        (entry) =>
          (entry.kind === 'message' && entry.message.threadId === id) ||
          (entry.kind === 'receipt' &&
            entry.changes.some((change) => known.messages.some((message) => message.id === change.id))),
      ),
    }),
  }))
  if (error.value !== null && data.value === undefined) return <Problem error={error.value} />
  if (data.value === undefined) return <Loading />
  const { messages, isMore } = data.value
  const open = messages.flatMap((message) => openMatters.value.get(message.id) ?? [])
  const { start, end, rows } = timelineOf(messages, open.length > 0 ? Date.now() : undefined)
  const spansDays = new Date(start).toDateString() !== new Date(end).toDateString()
  const isShort = end - start < shortMs
  /** What the axis says: the same minute twice says nothing. */
  const name = (at: number) => {
    if (end - start < ticks * 1_000) return at === start ? '0' : `+${duration(at - start)}`
    const time = new Date(at).toISOString()
    return spansDays ? fullTime(time) : isShort ? clockSeconds(time) : clockTime(time)
  }
  return (
    <div class="timeline">
      <p>
        {open.length === 0 ? 'Took ' : 'Open for '}
        <b>{duration(end - start)}</b>
        {open.length > 0 && (
          <>
            , waiting for{' '}
            {[...new Set(open.map(({ by }) => by))].map((by, n) => (
              <span key={by}>
                {n > 0 && ', '}
                {by === 'user' ? <b>you</b> : <Who name={by} />}
              </span>
            ))}
          </>
        )}
        <span class="quiet"> · since {fullTime(new Date(start).toISOString())}</span>
      </p>
      <p class="timeline-legend" aria-hidden="true">
        {(['waiting', 'read', 'working'] as const).map((kind) => (
          <span key={kind}>
            <i class={`phase ${kind}`} /> {phaseNames[kind]}
          </span>
        ))}
      </p>
      <ol class="timeline-rows" aria-label="Steps in order">
        {rows.map((row) => (
          <Row key={row.message.id} row={row} />
        ))}
      </ol>
      <div class="timeline-axis" aria-hidden="true">
        {Array.from({ length: ticks + 1 }, (_, n) => (
          <span key={n}>
            {n % 2 === 0 || !(spansDays || isShort) ? name(start + ((end - start) * n) / ticks) : ''}
          </span>
        ))}
      </div>
      {isMore && <p class="quiet">There are more messages in this thread.</p>}
    </div>
  )
}

function Row({ row: { message, phases, steps } }: { row: TimelineRow }) {
  const { id, from, to, type, subject, createdAt } = message
  return (
    <li>
      <div class="timeline-name">
        <Who name={from} />
        <span class="quiet"> to {to.map(line).join(', ')}</span>
        <a class="cut" href={path('messages', id)}>
          <bdi>{subject === '' && type !== 'text' ? typeName(type) : subjectOf(subject)}</bdi>
        </a>
      </div>
      <div class="timeline-lane" aria-hidden="true">
        {phases.map((phase) => (
          <i
            key={phase.from}
            class={`phase ${phase.kind}`}
            style={{ '--from': String(phase.from), '--to': String(phase.to) }}
          />
        ))}
        {steps.map(({ share, state, recipient }) => (
          <i key={`${state} ${recipient} ${share}`} class="step" style={{ '--from': String(share) }} />
        ))}
      </div>
      <ol class="timeline-steps">
        <li>
          <span>sent</span> <time dateTime={createdAt}>{clockTime(createdAt)}</time>
        </li>
        {steps.map(({ state, at, by, recipient, sinceMs, note }) => (
          <li key={`${state} ${recipient} ${at}`} title={fullTime(at)}>
            <span>
              {stateName(state)} {by === recipient ? <>by {line(by)}</> : <>for {line(recipient)}</>}
            </span>{' '}
            <time dateTime={at}>+{duration(sinceMs)}</time>
            {note !== undefined && <span class="quiet"> {line(note)}</span>}
          </li>
        ))}
      </ol>
    </li>
  )
}
