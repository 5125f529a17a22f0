import type { ComponentChildren } from 'preact'
import { plural } from '../lib/text.ts'
import { fullTime } from '../lib/time.ts'
import { DigestSections } from '../parts/digest.tsx'
import { Empty, Loading, Problem } from '../parts/small.tsx'
import { awaySince } from '../state/away.ts'
import { useDigest } from '../state/digest.ts'
import { Page } from './page.tsx'

const spans = ['1h', '24h', '7d']

/** What was decided and finished, who is blocked and what died since a time. */
export function AwayPage({ since: wanted }: { since: string | undefined }) {
  const since = wanted ?? awaySince.value ?? '24h'
  const { data, error } = useDigest(since)
  const digest = data.value
  const choice = (value: string, name: ComponentChildren) => (
    <a
      key={value}
      href={`/away?since=${encodeURIComponent(value)}`}
      aria-current={since === value ? 'page' : undefined}
    >
      {name}
    </a>
  )
  return (
    <Page
      title="While you were away"
      tools={
        <nav class="choice" aria-label="Time range">
          {awaySince.value !== null && choice(awaySince.value, 'Since you left')}
          {spans.map((span) => choice(span, span.replace(/(\d)(\D)/, '$1 $2')))}
        </nav>
      }
    >
      {error.value !== null && digest === undefined ? (
        <Problem error={error.value} />
      ) : digest === undefined ? (
        <Loading />
      ) : (
        <>
          <p class="quiet">
            Since {fullTime(digest.since)}: {plural(digest.totals.messages, 'message')}
            {digest.totals.answered > 0 &&
              `, ${plural(digest.totals.answered, 'question')} answered between agents`}
            .
          </p>
          <DigestSections digest={digest} />
          {Object.values(digest.totals).every((count) => count === 0) && (
            <Empty title="Nothing happened">
              <p>No mail, no deaths, nothing decided in this time.</p>
            </Empty>
          )}
        </>
      )}
    </Page>
  )
}
