import { useEffect, useMemo } from 'preact/hooks'
import { needs } from '../../../src/conversation/registry.ts'
import { titleOf } from '../../../src/conversation/words.ts'
import type { NeedsYouItem } from '../data/types.ts'
import { onFinishKey } from '../keys/intents.ts'
import { path } from '../lib/route.ts'
import { line, plural } from '../lib/text.ts'
import { since } from '../lib/time.ts'
import { Row } from '../parts/row.tsx'
import { Empty, Loading, PriorityChip, Problem } from '../parts/small.tsx'
import { ThreadPane } from '../parts/thread-pane.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { finish } from '../state/act.ts'
import { needsYou } from '../state/matters.ts'
import { overview } from '../state/overview.ts'
import { MailPage, useListMoves } from './mail-page.tsx'
import { rowHeight } from './threads.tsx'

const kindName = (kind: string): string => needs.get(kind) ?? kind

const hrefOf = ({ message }: NeedsYouItem): string => path('needs-you', message.id)

/** What needs the person: the first page. */
export function NeedsYouPage({ id }: { id: string | undefined }) {
  const items = needsYou.data.value
  const open = items?.find(({ message }) => message.id === id)
  const hrefs = useMemo(() => (items ?? []).map(hrefOf), [items])
  useListMoves(hrefs, items?.findIndex(({ message }) => message.id === id) ?? -1)
  useEffect(() => onFinishKey(() => open && void finish(open.message)), [open])
  return (
    <MailPage
      title="Needs you"
      count={items && items.length > 0 ? String(items.length) : undefined}
      list={<NeedsList items={items} id={id} />}
      reading={id === undefined ? null : <ThreadPane key={id} id={id} target={id} back="/needs-you" />}
      placeholder={items === undefined ? null : items.length === 0 ? <Summary /> : <Digest items={items} />}
    />
  )
}

function NeedsList({ items, id }: { items: readonly NeedsYouItem[] | undefined; id: string | undefined }) {
  if (needsYou.error.value !== null && items === undefined) return <Problem error={needsYou.error.value} />
  if (items === undefined) return <Loading />
  if (items.length === 0)
    return (
      <Empty title="Nothing needs you">
        <p>Plans to approve, questions, escalations and messages to you appear here, most urgent first.</p>
      </Empty>
    )
  return (
    <VirtualList
      label="What needs you"
      items={items}
      rowHeight={rowHeight}
      keyOf={({ message, kind }) => `${kind} ${message.id}`}
      selected={items.findIndex(({ message }) => message.id === id)}
      row={(item) => (
        <Row
          href={hrefOf(item)}
          isCurrent={item.message.id === id}
          from={item.message.from}
          people={line(item.message.from)}
          subject={titleOf(item.message)}
          at={item.since}
        >
          <PriorityChip priority={item.message.priority} />
          <span class="chip">{kindName(item.kind)}</span>
          <span class="number">
            {item.until && Date.parse(item.until) < Date.now()
              ? `overdue by ${since(item.until)}`
              : `waiting ${since(item.since)}`}
          </span>
        </Row>
      )}
    />
  )
}

/** What needs the person, counted by kind, until an item is selected. */
function Digest({ items }: { items: readonly NeedsYouItem[] }) {
  const counts = new Map<string, number>()
  for (const { kind } of items) counts.set(kindName(kind), (counts.get(kindName(kind)) ?? 0) + 1)
  return (
    <Empty title={plural(items.length, 'item needs you', 'items need you')}>
      <p class="chips">
        {[...counts].map(([kind, count]) => (
          <span key={kind} class="chip">
            {count} × {kind}
          </span>
        ))}
      </p>
      <p>
        <kbd>j</kbd> to open the first, <kbd>e</kbd> to mark as done, <kbd>r</kbd> to reply. Opening a message
        does not mark it as read.
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
