import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { nextPage, type Paged, type PagedOptions, pagedOptions } from '../data/paged.ts'
import { type Resource, useResource } from '../data/resource.ts'
import type { ThreadSummary } from '../data/types.ts'
import { onIntents } from '../keys/intents.ts'
import { draftPlaces } from '../lib/drafts.ts'
import { segment } from '../lib/route.ts'
import { compact, line, plural } from '../lib/text.ts'
import { BulkBar, useSelecting } from '../parts/bulk-bar.tsx'
import { Row } from '../parts/row.tsx'
import { Loading, PriorityChip, Problem, TypeChip } from '../parts/small.tsx'
import { showError } from '../parts/toast.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { askSnooze, finish } from '../state/decisions.ts'
import { offerUndo } from '../state/deferred.ts'
import { openNeeds } from '../state/open-needs.ts'
import { isNew, markSeen } from '../state/seen.ts'
import { clearSelection, select, selection } from '../state/selection.ts'
import { type ThreadFilter, threadPages } from '../state/threads.ts'
import { useListMoves } from './mail-page.tsx'

export const rowHeight = 76

/** A list that loads another page when its end is near. */
export function usePaged<T>(key: string, make: () => PagedOptions<T>) {
  const options = useMemo(make, [key])
  const found: Resource<Paged<T>> = useResource(key, () => pagedOptions(options))
  const isAsking = useRef(false)
  const more = useCallback(() => {
    const known = found.data.peek()
    if (isAsking.current || known === undefined || known.next === null || known.isFull) return
    isAsking.current = true
    nextPage(known, options)
      .then((data) => {
        // Keep what arrived at the top meanwhile.
        const fresh = found.data.peek()!.items.filter((item) => !known.items.includes(item))
        const ids = new Set(fresh.map(options.idOf))
        found.data.value = {
          ...data,
          items: [...fresh, ...data.items.filter((item) => !ids.has(options.idOf(item)))],
        }
      }, showError)
      .finally(() => {
        isAsking.current = false
      })
  }, [found, options])
  return { found, more }
}

export interface ThreadListProps {
  filter: ThreadFilter
  /** The URL of the list; a thread's id is appended to it. */
  base: string
  query?: string
  current: string | undefined
  empty: preact.ComponentChildren
}

export function ThreadList({ filter, base, query = '', current, empty }: ThreadListProps) {
  const { found, more } = usePaged(`threads ${filter.tag ?? ''} ${filter.agent ?? ''}`, () =>
    threadPages(filter),
  )
  const items = found.data.value?.items
  const hrefs = useMemo(
    () => (items ?? []).map(({ id }) => `${base}/${segment(id)}${query}`),
    [items, base, query],
  )
  const selected = items?.findIndex(({ id }) => id === current) ?? -1
  useListMoves(hrefs, selected)
  useSelecting(useMemo(() => (items ?? []).map(({ id }) => id), [items]))
  if (found.error.value !== null && items === undefined) return <Problem error={found.error.value} />
  if (items === undefined) return <Loading />
  if (items.length === 0) return <>{empty}</>
  return (
    <>
      <BulkBar>
        <BulkActions threads={items.filter(({ id }) => selection.value.has(id))} />
      </BulkBar>
      <VirtualList
        label="Threads"
        items={items}
        rowHeight={rowHeight}
        keyOf={({ id }) => id}
        selected={selected}
        onNearEnd={more}
        row={(thread) => (
          <ThreadRow
            thread={thread}
            href={`${base}/${segment(thread.id)}${query}`}
            isCurrent={thread.id === current}
          />
        )}
        end={found.data.value?.isFull ? 'There are more threads. Use search to narrow them down.' : undefined}
      />
    </>
  )
}

/** Marking as seen is for this browser; marking as done settles what is in them for the person. */
function BulkActions({ threads }: { threads: readonly ThreadSummary[] }) {
  const ids = new Set(threads.map(({ id }) => id))
  const own = (openNeeds.value ?? [])
    .map(({ message }) => message)
    .filter(({ threadId }) => ids.has(threadId))
  const keys = [...ids]
  const mark = () => {
    const restore = markSeen(Object.fromEntries(threads.map(({ id, lastSeq }) => [id, lastSeq])))
    clearSelection()
    return () => {
      restore()
      select(keys)
    }
  }
  const seen = () => offerUndo(`Marked ${plural(threads.length, 'thread')} as seen`, mark())
  const done = () => (own.length === 0 ? seen() : finish(own, mark()))
  const snooze = () => askSnooze(own, clearSelection, () => select(keys))
  useLayoutEffect(() => (ids.size === 0 ? undefined : onIntents({ finish: done, snooze })))
  return (
    <>
      <button type="button" class="button small" onClick={seen}>
        Mark as seen
      </button>
      {own.length > 0 && (
        <>
          <button type="button" class="button small" onClick={done}>
            Done: {plural(own.length, 'message')} to you <kbd>e</kbd>
          </button>
          <button type="button" class="button small" onClick={snooze}>
            Snooze <kbd>h</kbd>
          </button>
        </>
      )}
    </>
  )
}

function ThreadRow({ thread, href, isCurrent }: { thread: ThreadSummary; href: string; isCurrent: boolean }) {
  const { subject, messages, participants, lastFrom, lastAt, lastType, priority, preview } = thread
  const others = participants.filter((name) => name !== lastFrom)
  return (
    <Row
      href={href}
      isCurrent={isCurrent}
      from={lastFrom}
      people={[lastFrom, ...others].map(line).join(', ')}
      subject={subject}
      at={lastAt}
      // What the system says begins with ids.
      preview={lastFrom === 'system' ? undefined : preview}
      isNew={isNew(thread) && !isCurrent}
      selectKey={thread.id}
    >
      {draftPlaces.value.has(`thread.${thread.id}`) && <span class="chip warn">draft</span>}
      <PriorityChip priority={priority} />
      <TypeChip type={lastType} />
      {messages > 1 && (
        <span class="number" title={plural(messages, 'message')}>
          {compact(messages)}
        </span>
      )}
    </Row>
  )
}
