import { titleOf } from '../../../src/conversation/words.ts'
import './thread-pane.css'
import { Fragment } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useSearch } from 'wouter-preact/use-browser-location'
import { replyTypeFor } from '../../../src/conversation/registry.ts'
import { Part } from '../data/part.ts'
import { useResource } from '../data/resource.ts'
import type { ThreadMessage } from '../data/types.ts'
import { onIntent } from '../keys/intents.ts'
import { readDraft } from '../lib/drafts.ts'
import { go, isListMove } from '../lib/go.ts'
import { line, plural, subjectOf } from '../lib/text.ts'
import { dayOf } from '../lib/time.ts'
import { markDone } from '../state/act.ts'
import { openMatters } from '../state/matters.ts'
import { markSeen, seenIn } from '../state/seen.ts'
import { threadOptions } from '../state/thread.ts'
import { Composer } from './composer.tsx'
import { Icon } from './icon.tsx'
import { lazy } from './lazy.tsx'
import { MessageCard } from './message-card.tsx'
import { Empty, Loading, Problem, TagChip } from './small.tsx'
import { usePlace } from './use-place.ts'

const Timeline = lazy(async () => (await import('../charts/matter-timeline.tsx')).MatterTimeline)
const Sequence = lazy(async () => (await import('../charts/sequence-diagram.tsx')).SequenceDiagram)
const exporting = new Part(async () => (await import('./export-thread.ts')).downloadThread)
const shownAtFirst = 40

export interface ThreadPaneProps {
  id: string
  /** The message to scroll to. */
  target?: string | undefined
  back: string
}

/** A thread with a field to reply. Opening it marks nothing as read. */
export function ThreadPane({ id, target, back }: ThreadPaneProps) {
  const { data, error } = useResource(`thread ${id}`, () => threadOptions(id))
  const messages = data.value
  if (error.value !== null && messages === undefined) return <Problem error={error.value} />
  if (messages === undefined) return <Loading />
  if (messages.length === 0) return <Empty title="Thread not found" />
  return <Thread key={id} messages={messages} target={target} back={back} />
}

function Thread({
  messages,
  target,
  back,
}: {
  messages: ThreadMessage[]
  target?: string | undefined
  back: string
}) {
  const first = messages[0]!
  const place = `thread.${first.threadId}`
  const view = viewOf(useSearch())
  const [shown, setShown] = useState(shownAtFirst)
  const [reply, setReply] = useState<ThreadMessage | null>(() => {
    const draft = readDraft(place)
    return draft === undefined
      ? null
      : (messages.find(({ id }) => id === draft.replyTo) ?? replyTarget(messages))
  })
  const wasDrafted = useRef(reply !== null)
  const head = useRef<HTMLHeadingElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const from = target === undefined ? messages.length - shown : messages.findIndex(({ id }) => id === target)
  const visible = messages.slice(Math.max(0, Math.min(from, messages.length - shown)))
  const tags = useMemo(() => [...new Set(messages.flatMap((message) => message.tags))], [messages])

  const answer = (message: ThreadMessage) => {
    // A reply that was started keeps its message; asking again only focuses the field.
    if (reply !== null) scroller.current?.parentElement?.querySelector('textarea')?.focus()
    else setReply(message)
    wasDrafted.current = false
  }
  useEffect(() => {
    if (!isListMove.peek()) head.current?.focus({ preventScroll: true })
  }, [])
  useEffect(() => onIntent('reply', () => answer(replyTarget(messages))), [messages])
  // What is new stays marked as long as the thread is open.
  const [seenBefore] = useState(() => seenIn(first.threadId))
  const firstNew = messages.find(
    ({ seq, from }) => seq > (seenBefore ?? Number.POSITIVE_INFINITY) && from !== 'user',
  )
  const hasOlder = firstNew !== undefined && firstNew !== first
  useEffect(() => void markSeen({ [first.threadId]: messages.at(-1)!.seq }), [messages])
  usePlace(scroller, `m-${target ?? (hasOlder ? firstNew.id : messages.at(-1)!.id)}`, messages.length)
  const versions = useMemo(() => previousPlans(messages), [messages])

  return (
    <>
      <header class="pane-head">
        <a class="button plain icon pane-back" href={back} aria-label="Back to list">
          <Icon name="back" />
        </a>
        <div class="pane-title">
          <h1 ref={head} tabIndex={-1}>
            <bdi>{subjectOf(titleOf(first))}</bdi>
          </h1>
          <div class="pane-facts">
            <span>{plural(messages.length, 'message')}</span>
            {tags.map((tag) => (
              <TagChip key={tag} tag={tag} />
            ))}
          </div>
        </div>
        <div class="pane-tools">
          {(['sequence', 'timeline'] as const).map((one) => (
            <a
              key={one}
              class="button plain"
              href={addressWith(view === one ? 'messages' : one)}
              aria-label={viewNames[one]}
              title={viewNames[one]}
              aria-current={view === one ? 'true' : undefined}
            >
              <Icon name={one} /> <span class="wide">{viewNames[one]}</span>
            </a>
          ))}
          <Download messages={messages} />
        </div>
      </header>
      <div class="pane-scroll" ref={scroller} tabIndex={0} role="region" aria-label="Messages">
        {view === 'timeline' ? (
          <Timeline id={first.threadId} />
        ) : view === 'sequence' ? (
          <div class="sequence-room">
            <Sequence
              messages={messages}
              label={subjectOf(titleOf(first))}
              onSelect={(id: string) => go(`/messages/${id}`)}
            />
          </div>
        ) : (
          <>
            {visible.length < messages.length && (
              <button type="button" class="button earlier" onClick={() => setShown(shown + 200)}>
                Show {plural(messages.length - visible.length, 'earlier message')}
              </button>
            )}
            {visible.map((message, n) => (
              <Fragment key={message.id}>
                {(n === 0 || dayOf(message.createdAt) !== dayOf(visible[n - 1]!.createdAt)) && (
                  <p class="day">{dayOf(message.createdAt)}</p>
                )}
                {hasOlder && message === firstNew && <p class="day new">New since you left</p>}
                <MessageCard
                  message={message}
                  receipts={message.receipts}
                  subject={sameSubject(titleOf(message), titleOf(first)) ? undefined : titleOf(message)}
                  isTarget={message.id === target}
                  previous={versions.get(message.id)}
                  onReply={() => answer(message)}
                />
              </Fragment>
            ))}
          </>
        )}
      </div>
      <footer class="pane-foot">
        {reply === null ? (
          <button type="button" class="button" onClick={() => answer(replyTarget(messages))}>
            <Icon name="reply" /> Reply <kbd>r</kbd>
          </button>
        ) : (
          <Composer
            key={reply.id}
            place={place}
            start={{ to: recipientsOf(reply, messages).join(', ') }}
            replyTo={reply.id}
            replyType={replyTypeFor(reply.type)}
            autoFocus={!wasDrafted.current}
            after={() => markDone(reply)}
            onSent={() => setReply(null)}
            onDiscard={() => setReply(null)}
            onTakenBack={() => setReply(reply)}
          />
        )}
      </footer>
    </>
  )
}

type View = 'messages' | 'sequence' | 'timeline'
const viewNames = { sequence: 'Sequence', timeline: 'Timeline' } as const

function viewOf(search: string): View {
  const view = new URLSearchParams(search).get('view')
  return view === 'sequence' || view === 'timeline' ? view : 'messages'
}

/** The address of this page with another view of the thread. */
function addressWith(view: View): string {
  const query = new URLSearchParams(location.search)
  if (view === 'messages') query.delete('view')
  else query.set('view', view)
  const words = query.toString()
  return `${location.pathname}${words === '' ? '' : `?${words}`}`
}

/** A thread as a file, or on paper. */
function Download({ messages }: { messages: readonly ThreadMessage[] }) {
  const menu = useRef<HTMLDetailsElement>(null)
  const save = async (kind: 'md' | 'html') => {
    menu.current?.removeAttribute('open')
    await exporting.want()
    exporting.code.value?.(messages, kind)
  }
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key === 'Escape') menu.current?.removeAttribute('open')
      }}
    >
      <summary class="button plain" aria-label="Save">
        <Icon name="save" /> <span class="wide">Save</span>
      </summary>
      <div class="menu-items">
        <button type="button" class="button plain" onClick={() => void save('html')}>
          As HTML
        </button>
        <button type="button" class="button plain" onClick={() => void save('md')}>
          As Markdown
        </button>
        <button type="button" class="button plain" onClick={() => print()}>
          Print
        </button>
      </div>
    </details>
  )
}

/** For each plan, the rejected one that it replaces. */
function previousPlans(messages: readonly ThreadMessage[]): Map<string, ThreadMessage> {
  const plans = messages.filter(({ type }) => type === 'plan_submission')
  return new Map(
    plans.flatMap((plan) => {
      const before = plans.find(({ id }) => id === plan.replyTo)
      return before === undefined ? [] : [[plan.id, before] as const]
    }),
  )
}

/** The message to reply to: an open request to the person, or else the last message from somebody else. */
function replyTarget(messages: readonly ThreadMessage[]): ThreadMessage {
  const asks = messages.findLast(({ id }) => openMatters.value.get(id)?.some(({ by }) => by === 'user'))
  return asks ?? messages.findLast(({ from }) => from !== 'user') ?? messages.at(-1)!
}

function recipientsOf(message: ThreadMessage, messages: readonly ThreadMessage[]): string[] {
  if (message.from !== 'user' && message.from !== 'system') return [message.from]
  const others = messages.flatMap(({ from, to }) => [from, ...to])
  const people = message.from === 'user' ? message.to : others
  return [...new Set(people)].filter((name) => name !== 'user' && name !== 'system')
}

const bare = (subject: string): string =>
  line(subject)
    .replace(/^(?:re:\s*)+/i, '')
    .toLowerCase()
const sameSubject = (a: string, b: string): boolean => bare(a) === bare(b)
