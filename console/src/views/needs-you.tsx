import './needs-you.css'
import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { previewOf, titleOf } from '../../../src/conversation/words.ts'
import type { NeedsYouItem } from '../data/types.ts'
import { onIntents } from '../keys/intents.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { line, plural, subjectOf } from '../lib/text.ts'
import { fullTime } from '../lib/time.ts'
import { BulkBar, useSelecting } from '../parts/bulk-bar.tsx'
import { Frees, freesSentence } from '../parts/frees.tsx'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { kindName, Waited } from '../parts/need.tsx'
import { Reason } from '../parts/reason.tsx'
import { Row } from '../parts/row.tsx'
import { Empty, Loading, PriorityChip, Problem } from '../parts/small.tsx'
import { ThreadPane } from '../parts/thread-pane-lazy.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { awaySince, seenAway } from '../state/away.ts'
import { answerWith, askSnooze, choicesFor, finish, wake } from '../state/decisions.ts'
import { digestFigures, useDigest } from '../state/digest.ts'
import { isForPerson, needsYou } from '../state/matters.ts'
import { openNeeds } from '../state/open-needs.ts'
import { overview } from '../state/overview.ts'
import { clearSelection, select, selection } from '../state/selection.ts'
import { MailPage, useListMoves } from './mail-page.tsx'
import { rowHeight } from './threads.tsx'

const DigestSections = lazy(async () => (await import('../parts/digest.tsx')).DigestSections)

type Section = NeedsYouItem['section']
interface Head {
  head: Section
  items: NeedsYouItem[]
}

const sectionNames: Record<Section, string> = {
  blocked: 'Agents are blocked',
  asked: 'Asked of you',
  info: 'For your information',
  snoozed: 'Snoozed',
}
const sections = Object.keys(sectionNames) as Section[]
const headHeight = 44

const hrefOf = ({ message }: NeedsYouItem): string => path('needs-you', message.id)
const messagesOf = (items: readonly NeedsYouItem[]) => items.map(({ message }) => message)

/** What needs the person: the first page. */
export function NeedsYouPage({ id }: { id: string | undefined }) {
  const items = openNeeds.value
  const [closed, setClosed] = useState<ReadonlySet<Section>>(new Set(['snoozed']))
  const shown = useMemo(() => items?.filter(({ section }) => !closed.has(section)) ?? [], [items, closed])
  const open = items?.find(({ message }) => message.id === id)
  const at = shown.findIndex(({ message }) => message.id === id)
  const hrefs = useMemo(() => shown.map(hrefOf), [shown])
  const keys = useMemo(() => shown.map(({ message }) => message.id), [shown])
  useListMoves(hrefs, at)
  useSelecting(keys)
  const asked = items?.filter(isForPerson) ?? []
  const chosen = shown.filter(({ message }) => selection.value.has(message.id))
  const isBulk = chosen.length > 0
  const subjects = isBulk ? messagesOf(chosen) : open === undefined ? [] : [open.message]
  /** After a decision the next item is opened by itself; undoing it returns to this one. */
  const act = (work: (onUndo: () => void) => void) => () => {
    if (subjects.length === 0) return
    const next = shown[at + 1] ?? shown[at - 1]
    const here = id === undefined ? '/needs-you' : path('needs-you', id)
    work(() => go(here))
    clearSelection()
    if (!isBulk && next !== undefined) go(hrefOf(next), { replace: true, isListMove: true })
    else if (!isBulk) go('/needs-you', { replace: true })
  }
  const approve = act((onUndo) => void answerWith(subjects, 'approve', '', onUndo))
  const done = act((onUndo) => finish(subjects, onUndo))
  const snooze = () =>
    askSnooze(
      subjects,
      act(() => {}),
      () => id && go(path('needs-you', id)),
    )
  const canApprove = subjects.some((message) => choicesFor(message).approve !== undefined)
  useLayoutEffect(
    () =>
      onIntents({
        finish: done,
        snooze,
        ...(isBulk && canApprove && { approve }),
        ...(asked.length > 0 && { triage: () => go(triageFrom(open)) }),
      }),
    [subjects, asked.length],
  )
  return (
    <MailPage
      title="Needs you"
      count={asked.length > 0 ? String(asked.length) : undefined}
      tools={
        asked.length > 0 && (
          <a class="button main small" href={triageFrom(open)}>
            <Icon name="play" /> Triage <kbd>t</kbd>
          </a>
        )
      }
      under={
        <>
          {awaySince.value !== null && <AwayLine since={awaySince.value} />}
          <BulkBar>
            <BulkActions items={chosen} onApprove={approve} onDone={done} onSnooze={snooze} />
          </BulkBar>
        </>
      }
      list={<NeedsList items={items} id={id} closed={closed} setClosed={setClosed} />}
      reading={
        id === undefined ? null : (
          <>
            {open !== undefined && (open.frees.length > 0 || open.snoozedUntil !== undefined) && (
              <div class="needs-frees">
                {open.snoozedUntil !== undefined && (
                  <p>
                    Snoozed until {fullTime(open.snoozedUntil)}{' '}
                    <button type="button" class="button small" onClick={() => wake(open.message)}>
                      Show now
                    </button>
                  </p>
                )}
                <Frees item={open} />
              </div>
            )}
            <ThreadPane key={id} id={id} target={id} back="/needs-you" />
          </>
        )
      }
      placeholder={
        items === undefined ? null : awaySince.value !== null ? (
          <AwaySummary since={awaySince.value} />
        ) : items.length === 0 ? (
          <Summary />
        ) : (
          <Counts items={items} />
        )
      }
    />
  )
}

/** Says in one line what happened while the person was away; on a narrow screen there is no room for more. */
function AwayLine({ since }: { since: string }) {
  const digest = useDigest(since).data.value
  if (digest === undefined) return null
  const figures = digestFigures(digest)
  if (figures.length === 0) return null
  return (
    <p class="away-line" role="status">
      <span>
        <a href="/away">While you were away</a>: {figures.join(', ')}.
      </span>
      <button type="button" class="button plain small" onClick={seenAway}>
        Dismiss
      </button>
    </p>
  )
}

const linesInSummary = 4

function AwaySummary({ since }: { since: string }) {
  const digest = useDigest(since).data.value
  if (digest === undefined) return <Loading />
  return (
    <div class="away-summary" tabIndex={0} role="region" aria-label="While you were away">
      <h2>
        <a href="/away">While you were away</a>
      </h2>
      <p class="quiet">Since {fullTime(digest.since)}</p>
      <DigestSections digest={digest} most={linesInSummary} />
    </div>
  )
}

const triageFrom = (open: NeedsYouItem | undefined): string =>
  open !== undefined && isForPerson(open) ? path('triage', open.message.id) : '/triage'

interface BulkActionsProps {
  items: readonly NeedsYouItem[]
  onApprove: () => void
  onDone: () => void
  onSnooze: () => void
}

function BulkActions({ items, onApprove, onDone, onSnooze }: BulkActionsProps) {
  const [isAsking, setAsking] = useState(false)
  const messages = messagesOf(items)
  const count = (which: 'approve' | 'reject') =>
    messages.filter((message) => choicesFor(message)[which] !== undefined).length
  const rejected = count('reject')
  useLayoutEffect(
    () => (rejected === 0 ? undefined : onIntents({ reject: () => setAsking(true) })),
    [rejected],
  )
  if (isAsking)
    return (
      <Reason
        asks="What should change"
        label={`Reject ${rejected}`}
        onCancel={() => setAsking(false)}
        onSubmit={(why) => {
          const keys = messages.map(({ id }) => id)
          setAsking(false)
          answerWith(messages, 'reject', why, () => select(keys))
          clearSelection()
        }}
      />
    )
  return (
    <>
      {count('approve') > 0 && (
        <button type="button" class="button small" onClick={onApprove}>
          Approve {count('approve')} <kbd>a</kbd>
        </button>
      )}
      {rejected > 0 && (
        <button type="button" class="button small" onClick={() => setAsking(true)}>
          Reject {rejected}… <kbd>x</kbd>
        </button>
      )}
      <button type="button" class="button small" onClick={onDone}>
        Done <kbd>e</kbd>
      </button>
      <button type="button" class="button small" onClick={onSnooze}>
        Snooze <kbd>h</kbd>
      </button>
    </>
  )
}

interface NeedsListProps {
  items: readonly NeedsYouItem[] | undefined
  id: string | undefined
  closed: ReadonlySet<Section>
  setClosed: (next: ReadonlySet<Section>) => void
}

function NeedsList({ items, id, closed, setClosed }: NeedsListProps) {
  const rows = useMemo(() => grouped(items ?? [], closed), [items, closed])
  if (needsYou.error.value !== null && items === undefined) return <Problem error={needsYou.error.value} />
  if (items === undefined) return <Loading />
  if (items.length === 0)
    return (
      <Empty title="Nothing needs you">
        <p>Plans to approve, questions, escalations and messages to you appear here.</p>
      </Empty>
    )
  const toggle = (section: Section) => {
    const next = new Set(closed)
    if (!next.delete(section)) next.add(section)
    setClosed(next)
  }
  return (
    <VirtualList
      label="What needs you"
      items={rows}
      rowHeight={rowHeight}
      heightOf={(row) => ('head' in row ? headHeight : rowHeight)}
      keyOf={(row) => ('head' in row ? row.head : row.message.id)}
      selected={rows.findIndex((row) => 'message' in row && row.message.id === id)}
      row={(row) =>
        'head' in row ? (
          <SectionHead row={row} isOpen={!closed.has(row.head)} onToggle={() => toggle(row.head)} />
        ) : (
          <NeedRow item={row} isCurrent={row.message.id === id} />
        )
      }
    />
  )
}

function grouped(items: readonly NeedsYouItem[], closed: ReadonlySet<Section>): (Head | NeedsYouItem)[] {
  return sections.flatMap((head) => {
    const own = items.filter(({ section }) => section === head)
    return own.length === 0 ? [] : [{ head, items: own }, ...(closed.has(head) ? [] : own)]
  })
}

const SectionHead = ({ row, isOpen, onToggle }: { row: Head; isOpen: boolean; onToggle: () => void }) => (
  <div class="needs-head">
    <h2>
      <button type="button" aria-expanded={isOpen} onClick={onToggle}>
        <Icon name="down" /> {sectionNames[row.head]} <span class="number">{row.items.length}</span>
      </button>
    </h2>
    {row.head === 'info' && (
      <button type="button" class="button plain small" onClick={() => finish(messagesOf(row.items))}>
        All done
      </button>
    )}
  </div>
)

const NeedRow = ({ item, isCurrent }: { item: NeedsYouItem; isCurrent: boolean }) => (
  <Row
    href={hrefOf(item)}
    isCurrent={isCurrent}
    from={item.message.from}
    people={line(item.message.from)}
    subject={titleOf(item.message)}
    at={item.since}
    // What the system says begins with ids.
    preview={item.message.from === 'system' ? undefined : previewOf(item.message)}
    selectKey={item.message.id}
  >
    <PriorityChip priority={item.message.priority} />
    <span class="chip">{kindName(item.kind)}</span>
    {item.frees.length > 1 && <span class="chip good">frees {item.frees.length}</span>}
    <Waited item={item} />
  </Row>
)

/** What needs the person, counted by kind, until an item is selected. */
function Counts({ items }: { items: readonly NeedsYouItem[] }) {
  const asked = items.filter(isForPerson)
  const counts = new Map<string, number>()
  for (const { kind } of asked) counts.set(kindName(kind), (counts.get(kindName(kind)) ?? 0) + 1)
  const first = asked[0]
  return (
    <Empty
      title={
        asked.length === 0 ? 'Nothing needs you' : plural(asked.length, 'item needs you', 'items need you')
      }
    >
      <p class="chips">
        {[...counts].map(([kind, count]) => (
          <span key={kind} class="chip">
            {count} × {kind}
          </span>
        ))}
      </p>
      {first !== undefined && first.frees.length > 0 && (
        <p>
          <a href={hrefOf(first)}>{subjectOf(titleOf(first.message))}</a>: {freesSentence(first)}.
        </p>
      )}
      <p>
        <kbd>t</kbd> to triage one at a time, <kbd>j</kbd> to open the first, <kbd>s</kbd> to select,{' '}
        <kbd>?</kbd> for all shortcuts. Opening a message does not mark it as read.
      </p>
    </Empty>
  )
}

/** Nothing to do: an overview of the space, or how to start in an empty one. */
function Summary() {
  const data = overview.data.value
  if (data === undefined) return null
  const others = data.agents.filter(({ name }) => name !== 'user')
  if (others.length === 0 && data.totals.messages === 0)
    return (
      <Empty
        title="This space is empty"
        commands={[
          'mailbox join ada',
          "mailbox --as ada send user --subject Hello --body 'I am here'",
          'mailbox init',
        ]}
      >
        <p>
          No agents have joined yet. Join one by hand, or run <code>mailbox init</code> to connect Claude
          Code, Codex, Gemini CLI and OpenCode. To explore a busy space first, run <code>mailbox demo</code>.
        </p>
      </Empty>
    )
  const here = others.filter(({ state }) => state !== 'dead')
  const waiting = here.filter(({ state }) => state === 'waiting')
  return (
    <Empty title="All clear">
      <p>
        <a href="/agents">{plural(here.length, 'active agent')}</a>, {waiting.length} waiting for a reply.{' '}
        <a href="/threads">{plural(data.totals.messages, 'message')}</a> in total
        {data.dead > 0 && (
          <>
            , <a href="/dead">{plural(data.dead, 'dead letter')}</a>
          </>
        )}
        .
      </p>
    </Empty>
  )
}
