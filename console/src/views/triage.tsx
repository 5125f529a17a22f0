import './triage.css'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { titleOf } from '../../../src/conversation/words.ts'
import { useResource } from '../data/resource.ts'
import type { NeedsYouItem, StoredMessage } from '../data/types.ts'
import { type Intent, onIntents } from '../keys/intents.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { line, plural, subjectOf } from '../lib/text.ts'
import { Frees } from '../parts/frees.tsx'
import { Icon } from '../parts/icon.tsx'
import { MessageCard } from '../parts/message-card.tsx'
import { kindName, Waited } from '../parts/need.tsx'
import { Reason } from '../parts/reason.tsx'
import { Empty, Loading, Problem } from '../parts/small.tsx'
import { answerWith, askSnooze, choicesFor, finish, nameOf, reply } from '../state/decisions.ts'
import { isForPerson, needsYou } from '../state/matters.ts'
import { openNeeds } from '../state/open-needs.ts'
import { threadOptions } from '../state/thread.ts'

/** What needs the person, one at a time. The order stays while they work, and what arrives meanwhile comes last. */
export function TriagePage({ id }: { id: string | undefined }) {
  const items = openNeeds.value?.filter(isForPerson)
  const order = useRef<string[]>([])
  const [texts] = useState(() => new Map<string, string>())
  if (needsYou.error.value !== null && items === undefined) return <Problem error={needsYou.error.value} />
  if (items === undefined) return <Loading />
  const open = new Map(items.map((item) => [item.message.id, item]))
  order.current.push(...[...open.keys()].filter((one) => !order.current.includes(one)))
  const ids = order.current
  const current = id ?? ids.find((one) => open.has(one))
  const item = current === undefined ? undefined : open.get(current)
  const at = current === undefined ? -1 : ids.indexOf(current)
  if (item === undefined) return <Over left={items.length} total={ids.length} id={id} />
  const isOpen = (one: string) => open.has(one)
  const next = ids.slice(at + 1).find(isOpen) ?? ids.slice(0, at).find(isOpen)
  const previous = ids.slice(0, at).findLast(isOpen)
  const show = (one: string | undefined) =>
    go(one === undefined ? '/triage' : path('triage', one), { replace: true })
  return (
    <Item
      key={item.message.id}
      item={item}
      place={`${at + 1} of ${ids.length}`}
      share={(ids.length - items.length) / ids.length}
      texts={texts}
      onNext={() => show(next)}
      onSkip={() => next !== undefined && show(next)}
      onPrevious={() => previous !== undefined && show(previous)}
      onUndo={() => show(item.message.id)}
    />
  )
}

function Over({ left, total, id }: { left: number; total: number; id: string | undefined }) {
  useLayoutEffect(() =>
    onIntents({
      leave: () => go('/needs-you'),
      triage: () => go('/triage', { replace: true }),
      next: () => left > 0 && go('/triage', { replace: true }),
    }),
  )
  return (
    <div class="triage-over">
      <Empty title={left > 0 ? 'This no longer needs you' : 'All clear'}>
        {left > 0 ? (
          <p>
            <a class="button main" href="/triage">
              {plural(left, 'item')} left <kbd>t</kbd>
            </a>
          </p>
        ) : (
          <p>
            {total > 0 && id === undefined ? `${plural(total, 'item')} done. ` : ''}
            <a href="/needs-you">Back to the list</a> <kbd>Esc</kbd>, or <kbd>z</kbd> to undo the last
            decision.
          </p>
        )}
      </Empty>
    </div>
  )
}

interface ItemProps {
  item: NeedsYouItem
  place: string
  share: number
  /** Answers that were begun, by message. */
  texts: Map<string, string>
  onNext: () => void
  onSkip: () => void
  onPrevious: () => void
  onUndo: () => void
}

function Item({ item, place, share, texts, onNext, onSkip, onPrevious, onUndo }: ItemProps) {
  const { message } = item
  const { approve, reject, options } = choicesFor(message)
  // A notification has links that name an answer. Following one decides nothing: it only puts the focus there.
  const [named] = useState(() => new URLSearchParams(location.search).get('choose'))
  const isNamed = (action: typeof approve) =>
    named !== null && named === (typeof action === 'object' ? action.step : action)
  const [mode, setMode] = useState<'choose' | 'reject' | 'answer'>(
    texts.has(message.id) ? 'answer' : isNamed(reject) ? 'reject' : 'choose',
  )
  const head = useRef<HTMLHeadingElement>(null)
  const chosen = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    if (mode === 'choose') (chosen.current ?? head.current)?.focus({ preventScroll: true })
  }, [mode])
  const yes = () => answerWith([message], 'approve', '', onUndo) && onNext()
  const done = () => {
    finish([message], onUndo)
    onNext()
  }
  const answer = (body: string, isTyped = false) => {
    texts.delete(message.id)
    const keep = () => void (isTyped && texts.set(message.id, body))
    reply(
      message,
      body,
      () => {
        keep()
        onUndo()
      },
      keep,
    )
    onNext()
  }
  const snooze = () => askSnooze([message], onNext, onUndo)
  const picks = Object.fromEntries(
    options.map((text, n): [Intent, () => void] => [`pick ${n + 1}`, () => answer(text)]),
  )
  useLayoutEffect(() =>
    onIntents({
      ...(approve && { approve: yes }),
      ...(reject && { reject: () => setMode('reject') }),
      ...{ reply: () => setMode('answer'), finish: done, snooze, next: onSkip, previous: onPrevious },
      ...{ leave: () => go(path('needs-you', message.id)), ...picks },
    }),
  )
  return (
    <div class="triage">
      <header class="triage-head">
        <a class="button plain icon pane-back" href={path('needs-you', message.id)} aria-label="Back to list">
          <Icon name="back" />
        </a>
        <span class="number" role="status">
          {place}
        </span>
        <progress value={share} max={1} aria-label="Done" />
        <button type="button" class="button plain small" onClick={onPrevious}>
          <kbd>k</kbd> Previous
        </button>
        <button type="button" class="button plain small" onClick={onSkip}>
          <kbd>j</kbd> Skip
        </button>
      </header>
      <div class="triage-scroll" tabIndex={0} role="region" aria-label="Message">
        <div class="triage-item">
          <p class="quiet triage-kind">
            <span class="chip">{kindName(item.kind)}</span> <Waited item={item} />
          </p>
          <h1 ref={head} tabIndex={-1}>
            <bdi>{subjectOf(titleOf(message))}</bdi>
          </h1>
          <Frees item={item} isOpen />
          <div class="alone">
            <MessageCard message={message} receipts={[]} isPlain onReply={() => setMode('answer')} />
          </div>
          <Context message={message} />
        </div>
      </div>
      <footer class="triage-foot">
        {mode === 'reject' && reject ? (
          <Reason
            asks={reject.button!.asks!}
            label={reject.button!.label}
            onCancel={() => setMode('choose')}
            onSubmit={(why) => {
              answerWith([message], 'reject', why, onUndo)
              onNext()
            }}
          />
        ) : mode === 'answer' ? (
          <Answer
            to={message.from}
            start={texts.get(message.id) ?? ''}
            onChange={(text) => texts.set(message.id, text)}
            onSend={(text) => answer(text, true)}
            onCancel={() => setMode('choose')}
          />
        ) : (
          <>
            {options.length > 0 && (
              <ol class="triage-options" aria-label="Suggested answers">
                {options.map((text, n) => (
                  <li key={text}>
                    <button
                      type="button"
                      class="button"
                      ref={named === String(n + 1) ? chosen : null}
                      onClick={() => answer(text)}
                    >
                      <kbd>{n + 1}</kbd> <bdi class="cut">{line(text)}</bdi>
                    </button>
                  </li>
                ))}
              </ol>
            )}
            <div class="triage-actions">
              {approve && (
                <button
                  type="button"
                  class="button main"
                  ref={isNamed(approve) ? chosen : null}
                  onClick={yes}
                >
                  {nameOf(approve)} <kbd>a</kbd>
                </button>
              )}
              {reject && (
                <button type="button" class="button" onClick={() => setMode('reject')}>
                  {nameOf(reject)}… <kbd>x</kbd>
                </button>
              )}
              <button
                type="button"
                class={`button${approve === undefined ? ' main' : ''}`}
                onClick={() => setMode('answer')}
              >
                Answer <kbd>r</kbd>
              </button>
              <button type="button" class="button" onClick={snooze}>
                Snooze <kbd>h</kbd>
              </button>
              <button type="button" class="button" onClick={done}>
                Done <kbd>e</kbd>
              </button>
            </div>
          </>
        )}
      </footer>
    </div>
  )
}

/** The messages before it in its thread. */
function Context({ message }: { message: StoredMessage }) {
  const { data } = useResource(`thread ${message.threadId}`, () => threadOptions(message.threadId))
  const earlier = data.value?.filter(({ seq }) => seq < message.seq) ?? []
  if (earlier.length === 0) return null
  return (
    <details class="triage-context">
      <summary>{plural(earlier.length, 'earlier message')} in this thread</summary>
      {earlier.slice(-10).map((one) => (
        <MessageCard
          key={one.id}
          message={one}
          receipts={one.receipts}
          isPlain
          onReply={() => go(path('threads', one.threadId))}
        />
      ))}
    </details>
  )
}

interface AnswerProps {
  to: string
  start: string
  onChange: (text: string) => void
  onSend: (text: string) => void
  onCancel: () => void
}

function Answer({ to, start, onChange, onSend, onCancel }: AnswerProps) {
  const [text, setText] = useState(start)
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const submit = () => text.trim() !== '' && onSend(text)
  return (
    <form
      class="triage-answer"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
        else if (event.key === 'Escape') {
          event.stopPropagation()
          onCancel()
        }
      }}
    >
      <textarea
        ref={field}
        class="field"
        rows={3}
        aria-label={`Answer ${line(to)}`}
        placeholder={`Answer ${line(to)} in Markdown`}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          onChange(event.currentTarget.value)
        }}
      />
      <div class="triage-actions">
        <button type="submit" class="button main">
          <Icon name="send" /> Send <kbd>Ctrl Enter</kbd>
        </button>
        <button type="button" class="button plain" onClick={onCancel}>
          Cancel <kbd>Esc</kbd>
        </button>
      </div>
    </form>
  )
}
