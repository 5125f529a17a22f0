import { get } from '../data/api.ts'
import type { PagedOptions } from '../data/paged.ts'
import type { AuditLines } from '../data/types.ts'
import { line } from '../lib/text.ts'
import { fullTime } from '../lib/time.ts'
import { Empty, Loading, Problem } from '../parts/small.tsx'
import { Page } from './page.tsx'
import { usePaged } from './threads.tsx'

type Event = AuditLines['events'][number]

/** Entries that the journal has besides mail. */
const audited = ['audit', 'key', 'repair', 'damage', 'agent']

const auditPages = (): PagedOptions<Event> => ({
  page: async (after, signal) => {
    const { events, next } = await get<AuditLines>('/api/audit', { after, limit: 100 }, signal)
    return { items: events, next }
  },
  idOf: ({ seq }) => String(seq),
  apply: (items, entries) => ({ items, stale: entries.some(({ kind }) => audited.includes(kind)) }),
})

/** What happened besides mail: refusals, credentials, settings, imports, repairs, and who came and went. */
export function AuditPage() {
  const { found, more } = usePaged('audit', auditPages)
  const data = found.data.value
  if (found.error.value !== null && data === undefined) return <Problem error={found.error.value} />
  if (data === undefined) return <Loading />
  return (
    <Page title="Audit">
      {data.items.length === 0 ? (
        <Empty title="Nothing yet">
          <p>
            What is refused, tokens, keys, settings, imports and repairs appear here, and who comes and goes.
          </p>
        </Empty>
      ) : (
        <div class="table-room">
          <table class="table audit">
            <thead>
              <tr>
                <th>When</th>
                <th>What happened</th>
                <th class="number">Entry</th>
              </tr>
            </thead>
            <tbody>
              {data.items.map(({ seq, at, text }) => (
                <tr key={seq}>
                  <td class="when">
                    <time class="quiet number" dateTime={at}>
                      {fullTime(at)}
                    </time>
                  </td>
                  <td>
                    <bdi>{line(text)}</bdi>
                  </td>
                  <td class="number">{seq}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {data.next !== null && (
        <p>
          <button type="button" class="button" onClick={more}>
            Show more
          </button>
        </p>
      )}
    </Page>
  )
}
