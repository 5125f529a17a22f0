import { titleOf } from '../../../src/conversation/words.ts'
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
import { ThreadPane } from '../parts/thread-pane-lazy.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { MailPage, useListMoves } from './mail-page.tsx'
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

/** Full-text search with the operators of `mailbox search`. */
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
              aria-label="Search all messages"
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
                aria-label={operator === '-' ? 'Exclude' : `Add ${operator}`}
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
  <Empty title="Search all messages">
    <p>
      Matches all words; <code>-</code> excludes. <code>"two words"</code> matches a phrase, and{' '}
      <code>plan*</code> a prefix. <code>is:unread</code> applies to your own mail.
    </p>
  </Empty>
)

function Results({ q, id }: { q: string; id: string | undefined }) {
  const { found, more } = usePaged(`search ${q}`, () => searchPages(q))
  const items = found.data.value?.items
  const hrefs = useMemo(() => (items ?? []).map((message) => addressOf(q, message.id)), [items, q])
  const selected = items?.findIndex((message) => message.id === id) ?? -1
  useListMoves(hrefs, selected)
  if (found.error.value !== null && items === undefined) return <Problem error={found.error.value} />
  if (items === undefined) return <Loading />
  if (items.length === 0)
    return (
      <Empty title="No results">
        <p>Try fewer words. Write dates as 2026-11-15.</p>
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
          subject={titleOf(message)}
          at={message.createdAt}
        >
          <PriorityChip priority={message.priority} />
          <TypeChip type={message.type} />
          <bdi class="cut">{line(message.body.slice(0, 200))}</bdi>
        </Row>
      )}
      end={
        found.data.value?.isFull
          ? 'There are more results. Add a word or a date to narrow them down.'
          : undefined
      }
    />
  )
}
