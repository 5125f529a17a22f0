import { useEffect, useMemo } from 'preact/hooks'
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
import { MailPage, useLeaves } from './mail-page.tsx'
import { rowHeight } from './threads.tsx'

const kinds: Record<NeedsYouItem['kind'], string> = {
  plan: 'plan to approve',
  help: 'asks for help',
  question: 'question',
  escalation: 'escalation',
  ack: 'wants an ack',
  mail: 'mail',
  notice: 'notice',
}

const hrefOf = ({ message }: NeedsYouItem): string => path('needs-you', message.id)

/** What waits for the person, before anything else. */
export function NeedsYouPage({ id }: { id: string | undefined }) {
  const items = needsYou.data.value
  const open = items?.find(({ message }) => message.id === id)
  const hrefs = useMemo(() => (items ?? []).map(hrefOf), [items])
  useLeaves(hrefs, items?.findIndex(({ message }) => message.id === id) ?? -1)
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
        <p>Plans to approve, questions, escalations and mail to you come here, the most urgent first.</p>
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
          subject={item.message.subject}
          at={item.since}
        >
          <PriorityChip priority={item.message.priority} />
          <span class="chip">{kinds[item.kind]}</span>
          <span class="number">
            {item.until && Date.parse(item.until) < Date.now()
              ? `overdue for ${since(item.until)}`
              : `waits ${since(item.since)}`}
          </span>
        </Row>
      )}
    />
  )
}

/** What waits, by kind, for whoever has not chosen yet. */
function Digest({ items }: { items: readonly NeedsYouItem[] }) {
  const counts = new Map<string, number>()
  for (const { kind } of items) counts.set(kinds[kind], (counts.get(kinds[kind]) ?? 0) + 1)
  return (
    <Empty title={items.length === 1 ? 'One thing needs you' : `${items.length} things need you`}>
      <p class="chips">
        {[...counts].map(([kind, count]) => (
          <span key={kind} class="chip">
            {count} × {kind}
          </span>
        ))}
      </p>
      <p>
        <kbd>j</kbd> opens the first, <kbd>e</kbd> puts mail away, <kbd>r</kbd> answers. Looking marks nothing
        as read.
      </p>
    </Empty>
  )
}

/** With nothing to do, how the space is doing; with nobody there, how to begin. */
function Summary() {
  const data = overview.data.value
  if (data === undefined) return null
  const others = data.agents.filter(({ name }) => name !== 'user')
  if (others.length === 0 && data.totals.messages === 0)
    return (
      <Empty
        title="An empty space"
        commands={[
          'mailbox join ada',
          "mailbox --as ada send user --subject Hello --body 'I am here'",
          'mailbox init',
        ]}
      >
        <p>
          Nobody has joined yet. An agent joins by hand or with <code>mailbox init</code>, which connects
          Claude Code, Codex, Gemini CLI and OpenCode. To see a busy one first: <code>mailbox demo</code>.
        </p>
      </Empty>
    )
  const here = others.filter(({ state }) => state !== 'dead')
  const waiting = here.filter(({ state }) => state === 'waiting')
  return (
    <Empty title="All clear">
      <p>
        <a href="/agents">{plural(here.length, 'agent')}</a> here, {waiting.length} of them waiting for an
        answer. <a href="/threads">{plural(data.totals.messages, 'message')}</a> in all
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
