import './frees.css'
import type { NeedsYouItem } from '../data/types.ts'
import { path } from '../lib/route.ts'
import { line, plural, subjectOf } from '../lib/text.ts'
import { Who } from './small.tsx'

/** `ada, bob and 2 more` */
function namesOf(agents: readonly string[]): string {
  const names = agents.slice(0, agents.length > 3 ? 2 : 3).map(line)
  const rest = agents.length - names.length
  if (rest > 0) return `${names.join(', ')} and ${rest} more`
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names.join('')
}

export const freesSentence = ({ frees }: NeedsYouItem): string =>
  frees.length === 0
    ? ''
    : `Answer this and ${frees.length === 1 ? `${line(frees[0]!.agent)} goes on` : `${plural(frees.length, 'agent')} go on`}`

const mostOpen = 6

/** Who can go on once this is answered, and who waits for whom. */
export function Frees({ item, isOpen = false }: { item: NeedsYouItem; isOpen?: boolean }) {
  const { frees } = item
  if (frees.length === 0) return null
  if (frees.length === 1) return <p class="frees">{freesSentence(item)}.</p>
  return (
    <details class="frees" open={isOpen && frees.length <= mostOpen}>
      <summary>
        {freesSentence(item)}: {namesOf(frees.map(({ agent }) => agent))}
      </summary>
      <ol aria-label="Who waits for whom">
        {frees.toReversed().map((wait) => (
          <li key={wait.agent}>
            <Who name={wait.agent} /> waits for {wait.for === 'user' ? <b>you</b> : <Who name={wait.for} />}:{' '}
            <a href={path('messages', wait.id)}>{subjectOf(wait.subject)}</a>
          </li>
        ))}
      </ol>
    </details>
  )
}
