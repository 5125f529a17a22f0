import './search.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { previewOf, titleOf, withoutMarks } from '../../../src/conversation/words.ts'
import { operators, parseSearch } from '../../../src/query/search-terms.ts'
import { ApiError, get } from '../data/api.ts'
import type { PagedOptions } from '../data/paged.ts'
import type { StoredMessage } from '../data/types.ts'
import { go } from '../lib/go.ts'
import { snippet, wordsOfSearch } from '../lib/highlight.ts'
import { path } from '../lib/route.ts'
import { asPrefix, withoutUnfinished } from '../lib/search-completion.ts'
import { line, plural, sentence } from '../lib/text.ts'
import { Icon } from '../parts/icon.tsx'
import { Row } from '../parts/row.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Empty, Loading, PriorityChip, Problem, TypeChip } from '../parts/small.tsx'
import { ThreadPane } from '../parts/thread-pane-lazy.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { notifiedViews, toggleViewNotify } from '../state/notify.ts'
import { saveView, views } from '../state/views.ts'
import { MailPage, useListMoves } from './mail-page.tsx'
import { rowHeight, usePaged } from './threads.tsx'

/** What the hub says of a search besides the messages. */
interface Facts {
  total: number
  isMore: boolean
  notes: string[]
}
interface Answer extends Partial<Facts> {
  messages: StoredMessage[]
  next: string | null
}

const searchPages = (q: string, onFacts: (facts: Facts) => void): PagedOptions<StoredMessage> => ({
  page: async (after, signal) => {
    const counts = after === undefined ? 'true' : undefined
    const { messages, next, ...facts } = await get<Answer>(
      '/api/search',
      { q, after, counts, limit: 100 },
      signal,
    )
    if (facts.total !== undefined)
      onFacts({ total: facts.total, isMore: facts.isMore ?? false, notes: facts.notes ?? [] })
    return { items: messages, next }
  },
  idOf: ({ id }) => id,
  apply: (items, entries) => ({ items, stale: entries.some(({ kind }) => kind === 'message') }),
})

const addressOf = (q: string, id?: string): string =>
  `${id === undefined ? '/search' : path('search', id)}${q === '' ? '' : `?q=${encodeURIComponent(q)}`}`

/** Why a search makes no sense, without asking the hub: most are not finished yet. */
function problemOf(q: string): ApiError | null {
  try {
    if (q !== '') parseSearch(q)
    return null
  } catch (error) {
    const { message, hint } = error as Error & { hint?: string }
    return new ApiError('invalid', message, hint)
  }
}

/** So that letters typed at once are one search. The search before is given up when the next begins. */
const pauseMs = 25

/** Full-text search with the operators of `mailbox search`, while the person types. */
export function SearchPage({ q, id }: { q: string; id: string | undefined }) {
  const [typed, setTyped] = useState(q)
  const [facts, setFacts] = useState<Facts | null>(null)
  const isOwn = useRef(false)
  const timer = useRef<ReturnType<typeof setTimeout>>()
  useEffect(() => {
    // The address follows the field; the field follows it only when it was changed by something else.
    if (!isOwn.current) setTyped(q)
    isOwn.current = false
  }, [q])
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (text: string, isFinal: boolean) => {
    clearTimeout(timer.current)
    const next = (isFinal ? text : withoutUnfinished(text)).trim()
    if (next === q) return
    isOwn.current = true
    // What was typed on the way to a search is not worth a step in the history.
    go(addressOf(next), { replace: !isFinal && q !== '' })
  }
  const problem = problemOf(q)
  return (
    <MailPage
      title="Search"
      count={
        q !== '' && problem === null && facts !== null
          ? `${facts.total.toLocaleString('en')}${facts.isMore ? '+' : ''} ${facts.total === 1 ? 'result' : 'results'}`
          : undefined
      }
      under={
        <>
          <SearchField
            value={typed}
            autoFocus={id === undefined}
            onInput={(text) => {
              setTyped(text)
              clearTimeout(timer.current)
              timer.current = setTimeout(() => search(text, false), pauseMs)
            }}
            onSubmit={() => search(typed, true)}
          />
          {facts?.notes.map((note) => (
            <p key={note} class="search-note">
              {sentence(note)}
            </p>
          ))}
          {q !== '' && problem === null && <Saving key={q} q={asPrefix(q)} />}
        </>
      }
      list={
        problem !== null ? (
          <Problem error={problem} />
        ) : q === '' ? (
          <Hints />
        ) : (
          <Results q={q} id={id} onFacts={setFacts} />
        )
      }
      reading={id === undefined ? null : <ThreadPane key={id} id={id} target={id} back={addressOf(q)} />}
    />
  )
}

/** Keeps the search under a name, in the sidebar and for `mailbox search @NAME`. */
function Saving({ q }: { q: string }) {
  const known = views.data.value?.find(({ query }) => query === q)
  const [isNaming, setNaming] = useState(false)
  const [name, setName] = useState('')
  if (known !== undefined)
    return (
      <p class="search-note">
        Saved as <b>{line(known.name)}</b>{' '}
        <button
          type="button"
          class="button plain small"
          aria-pressed={notifiedViews.value.includes(known.name)}
          title="Desktop notifications for new mail that this search finds"
          onClick={() => void toggleViewNotify(known.name)}
        >
          <Icon name="bell" /> Notify
        </button>{' '}
        <button type="button" class="button plain small" onClick={() => void saveView(known.name, null)}>
          Remove
        </button>
      </p>
    )
  if (!isNaming)
    return (
      <p class="search-note">
        <button type="button" class="button plain small" onClick={() => setNaming(true)}>
          Save this search
        </button>
      </p>
    )
  return (
    <form
      class="search-save"
      onSubmit={(event) => {
        event.preventDefault()
        void saveView(name.trim(), q).then((isSaved) => isSaved && setNaming(false))
      }}
    >
      <input
        class="field"
        autofocus
        ref={(field) => field?.focus()}
        required
        maxLength={60}
        pattern="\S+"
        title="One word"
        aria-label="Name of the search"
        placeholder="Name, such as night-shift"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" class="button main">
        Save
      </button>
    </form>
  )
}

const Hints = () => (
  <Empty title="Search all messages">
    <p>
      Matches all words; <code>-</code> excludes. <code>"two words"</code> matches a phrase, and{' '}
      <code>plan*</code> a prefix.
    </p>
    <p class="operators">
      {operators.map((name) => (
        <code key={name} class="chip">
          {name}:
        </code>
      ))}
    </p>
    <p>
      <code>after:24h</code> and <code>before:2026-11-15</code> take dates and durations,{' '}
      <code>is:unread</code> and <code>is:mine</code> are about your own mail, and <code>is:open</code> about
      what nobody has answered.
    </p>
  </Empty>
)

interface ResultsProps {
  q: string
  id: string | undefined
  onFacts: (facts: Facts) => void
}

function Results({ q, id, onFacts }: ResultsProps) {
  const { found, more } = usePaged(`search ${q}`, () => searchPages(asPrefix(q), onFacts))
  const shown = useRef<{ q: string; items: StoredMessage[] }>()
  if (found.data.value !== undefined) shown.current = { q, items: found.data.value.items }
  // The last results stay until there are others: a list that vanishes with every letter cannot be read.
  const items = shown.current?.items
  const words = useMemo(() => wordsOfSearch(shown.current?.q ?? q, operators), [shown.current?.q])
  const hrefs = useMemo(() => (items ?? []).map((message) => addressOf(q, message.id)), [items, q])
  const selected = items?.findIndex((message) => message.id === id) ?? -1
  useListMoves(hrefs, selected)
  if (found.error.value !== null && found.data.value === undefined)
    return <Problem error={found.error.value} />
  if (items === undefined) return <Loading />
  if (items.length === 0)
    return (
      <Empty title="No results">
        <p>
          Try fewer words. Write dates as <code>2026-11-15</code>, and durations as <code>24h</code>.
        </p>
      </Empty>
    )
  return (
    <VirtualList
      label={plural(items.length, 'result')}
      items={items}
      rowHeight={rowHeight}
      keyOf={(message) => message.id}
      selected={selected}
      isBusy={found.data.value === undefined}
      onNearEnd={more}
      row={(message) => (
        <Row
          href={addressOf(q, message.id)}
          isCurrent={message.id === id}
          from={message.from}
          people={`${line(message.from)} to ${message.to.map(line).join(', ')}`}
          subject={titleOf(message)}
          preview={snippet(line(withoutMarks(message.body)) || previewOf(message), words)}
          words={words}
          at={message.createdAt}
        >
          <PriorityChip priority={message.priority} />
          <TypeChip type={message.type} />
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
