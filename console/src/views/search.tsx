import './search.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { get } from '../data/api.ts'
import type { PagedOptions } from '../data/paged.ts'
import type { StoredMessage } from '../data/types.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { line } from '../lib/text.ts'
import { Icon } from '../parts/icon.tsx'
import { Row } from '../parts/row.tsx'
import { Empty, Loading, PriorityChip, Problem, TypeChip } from '../parts/small.tsx'
import { ThreadPane } from '../parts/thread-pane.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { MailPage, useLeaves } from './mail-page.tsx'
import { rowHeight, usePaged } from './threads.tsx'

const operators = ['from:', 'to:', 'tag:', 'type:', 'is:unread', 'has:attachment', 'before:', 'after:', '-']

const searchPages = (q: string): PagedOptions<StoredMessage> => ({
  page: async (after, signal) => {
    const { messages, next } = await get<{ messages: StoredMessage[]; next: string | null }>(
      '/api/search',
      { q, after, limit: 100 },
      signal,
    )
    return { items: messages, next }
  },
  idOf: ({ id }) => id,
  apply: (items, entries) => ({ items, stale: entries.some(({ kind }) => kind === 'message') }),
})

const addressOf = (q: string, id?: string): string =>
  `${id === undefined ? '/search' : path('search', id)}?q=${encodeURIComponent(q)}`

/** Full text, and the operators of `mailbox search`. */
export function SearchPage({ q, id }: { q: string; id: string | undefined }) {
  const [typed, setTyped] = useState(q)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setTyped(q), [q])
  useEffect(() => {
    if (id === undefined) field.current?.focus()
  }, [id])
  const add = (operator: string) => {
    setTyped(`${typed.trimEnd()} ${operator}`.trimStart())
    field.current?.focus()
  }
  return (
    <MailPage
      title="Search"
      under={
        <>
          <form
            class="search-form"
            role="search"
            onSubmit={(event) => {
              event.preventDefault()
              go(addressOf(typed.trim()))
            }}
          >
            <Icon name="search" />
            <input
              ref={field}
              class="field"
              type="search"
              aria-label="Search all mail"
              placeholder="from:ada plan -type:ack"
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </form>
          <div class="operators">
            {operators.map((operator) => (
              <button
                key={operator}
                type="button"
                class="chip"
                onClick={() => add(operator)}
                aria-label={`Add ${operator === '-' ? 'a minus, which negates' : operator}`}
              >
                {operator}
              </button>
            ))}
          </div>
        </>
      }
      list={q === '' ? <Hints /> : <Results key={q} q={q} id={id} />}
      reading={id === undefined ? null : <ThreadPane key={id} id={id} target={id} back={addressOf(q)} />}
    />
  )
}

const Hints = () => (
  <Empty title="What are you looking for?">
    <p>
      Words find mail that has all of them; <code>"two words"</code> keeps them together; <code>plan*</code>{' '}
      finds beginnings; <code>-</code> leaves out. <code>is:unread</code> is about your own mail.
    </p>
  </Empty>
)

function Results({ q, id }: { q: string; id: string | undefined }) {
  const { found, more } = usePaged(`search ${q}`, () => searchPages(q))
  const items = found.data.value?.items
  const hrefs = useMemo(() => (items ?? []).map((message) => addressOf(q, message.id)), [items, q])
  const selected = items?.findIndex((message) => message.id === id) ?? -1
  useLeaves(hrefs, selected)
  if (found.error.value !== null && items === undefined) return <Problem error={found.error.value} />
  if (items === undefined) return <Loading />
  if (items.length === 0)
    return (
      <Empty title="Nothing found">
        <p>Fewer words find more. Dates are written as 2026-11-15 or 24h.</p>
      </Empty>
    )
  return (
    <VirtualList
      label="Results"
      items={items}
      rowHeight={rowHeight}
      keyOf={(message) => message.id}
      selected={selected}
      onNearEnd={more}
      row={(message) => (
        <Row
          href={addressOf(q, message.id)}
          isCurrent={message.id === id}
          from={message.from}
          people={`${line(message.from)} to ${message.to.map(line).join(', ')}`}
          subject={message.subject}
          at={message.createdAt}
        >
          <PriorityChip priority={message.priority} />
          <TypeChip type={message.type} />
          <bdi class="cut">{line(message.body.slice(0, 200))}</bdi>
        </Row>
      )}
      end={found.data.value?.isFull ? 'There is more. Add a word or a date.' : undefined}
    />
  )
}
