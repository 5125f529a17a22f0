import './digest.css'
import type { ComponentChildren } from 'preact'
import type { Digest } from '../data/types.ts'
import { path } from '../lib/route.ts'
import { line, subjectOf, typeName } from '../lib/text.ts'
import { When, Who } from './small.tsx'

interface SectionProps<T> {
  title: string
  total: number
  lines: readonly T[]
  most: number | undefined
  keyOf: (one: T) => string
  row: (one: T) => ComponentChildren
}

/** One kind of what happened; the newest lines when there are too many. */
function Section<T>({ title, total, lines, most, keyOf, row }: SectionProps<T>) {
  if (total === 0) return null
  const shown = most === undefined ? lines : lines.slice(-most)
  return (
    <section>
      <h2>
        {title} <span class="quiet number">{total}</span>
      </h2>
      <ul>
        {shown.map((one) => (
          <li key={keyOf(one)}>{row(one)}</li>
        ))}
      </ul>
      {total > shown.length && <p class="quiet">and {total - shown.length} more</p>}
    </section>
  )
}

const titleOf = ({ subject, type }: { subject: string; type: string }): string =>
  subject === '' && type !== 'text' ? typeName(type) : subjectOf(subject)

const goneNames = { ended: 'its process ended', silent: 'it was silent for too long' } as const
const outcomeName = (outcome: string): string => line(outcome).replaceAll('_', ' ')

/** What happened while the person was away, each linked. `most`: lines of each kind. */
export function DigestSections({ digest, most }: { digest: Digest; most?: number }) {
  const { died, lost, blocked, needsYou, decided, finished, totals } = digest
  return (
    <div class="digest">
      <Section
        title="Died"
        total={totals.died}
        lines={died}
        most={most}
        keyOf={({ agent }) => agent}
        row={({ agent, at, reason, unread, isBack }) => (
          <>
            <Who name={agent} /> {goneNames[reason]}
            {isBack ? <span class="chip good">back</span> : unread > 0 && <>, {unread} unread</>}
            <When at={at} />
          </>
        )}
      />
      <Section
        title="Not delivered"
        total={totals.lost}
        lines={lost}
        most={most}
        keyOf={({ id, recipient }) => `${id} ${recipient}`}
        row={(one) => (
          <>
            <a href={path('dead', `${one.id} ${one.recipient}`)}>
              <bdi>{titleOf(one)}</bdi>
            </a>
            <span>
              from <Who name={one.from} /> to <Who name={one.recipient} />
            </span>
            <When at={one.at} />
            {one.reason !== '' && <span class="says">{line(one.reason)}</span>}
          </>
        )}
      />
      <Section
        title="Blocked"
        total={totals.blocked}
        lines={blocked}
        most={most}
        keyOf={({ agent, id }) => `${agent} ${id}`}
        row={(one) => (
          <>
            <span>
              <Who name={one.agent} /> waits for {one.for === 'user' ? <b>you</b> : <Who name={one.for} />}:{' '}
              <a href={path('messages', one.id)}>
                <bdi>{subjectOf(one.subject)}</bdi>
              </a>
            </span>
            <When at={one.since} />
          </>
        )}
      />
      <Section
        title="Waiting for you"
        // In the summary they are in the list beside it.
        total={most === undefined ? totals.needsYou : 0}
        lines={needsYou}
        most={most}
        keyOf={({ id }) => id}
        row={(one) => (
          <>
            <a href={path('needs-you', one.id)}>
              <bdi>{titleOf(one)}</bdi>
            </a>
            <span>
              from <Who name={one.from} />
            </span>
            {one.frees.length > 1 && <span class="chip good">frees {one.frees.length}</span>}
            <When at={one.at} />
          </>
        )}
      />
      <Section
        title="Decided"
        total={totals.decided}
        lines={decided}
        most={most}
        keyOf={({ id, kind, by }) => `${id} ${kind} ${by}`}
        row={(one) => (
          <>
            <a href={`${path('threads', one.threadId)}?m=${encodeURIComponent(one.answer)}`}>
              <bdi>{titleOf(one)}</bdi>
            </a>
            <span>
              {outcomeName(one.outcome)} by <Who name={one.by} />
            </span>
            <When at={one.at} />
            {one.says !== '' && <span class="says">{line(one.says)}</span>}
          </>
        )}
      />
      <Section
        title="Finished"
        total={totals.finished + totals.failed}
        lines={finished}
        most={most}
        keyOf={({ id, by }) => `${id} ${by}`}
        row={(one) => (
          <>
            <a href={path('messages', one.id)}>
              <bdi>{titleOf(one)}</bdi>
            </a>
            <span class={one.outcome === 'failed' ? 'chip bad' : undefined}>{outcomeName(one.outcome)}</span>
            <span>
              by <Who name={one.by} />
            </span>
            <When at={one.at} />
            {one.note !== undefined && <span class="says">{line(one.note)}</span>}
          </>
        )}
      />
    </div>
  )
}
