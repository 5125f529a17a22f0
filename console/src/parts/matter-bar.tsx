import './matter-bar.css'
import { useLayoutEffect, useState } from 'preact/hooks'
import { matterOf } from '../../../src/conversation/registry.ts'
import type { Owed, StoredMessage, ThreadReceipt } from '../data/types.ts'
import { type Intent, onIntents } from '../keys/intents.ts'
import { line } from '../lib/text.ts'
import { since } from '../lib/time.ts'
import { waitsForYou } from '../state/act.ts'
import { answerWith, choicesFor, finish, nameOf, reply } from '../state/decisions.ts'
import { decided } from '../state/deferred.ts'
import { openMatters } from '../state/matters.ts'
import { Icon } from './icon.tsx'
import { Reason } from './reason.tsx'

const possessive = (name: string): string => (name === 'user' ? 'your' : `${line(name)}’s`)

export interface MatterBarProps {
  message: StoredMessage
  receipts: readonly ThreadReceipt[]
  onReply: () => void
}

/** The open requests of a message, and what the person can do about them. */
export function MatterBar({ message, receipts, onReply }: MatterBarProps) {
  const open = openMatters.value.get(message.id) ?? []
  const own = receipts.find(({ owner, box }) => owner === 'user' || box === 'user')
  const isUnread = own?.state === 'stored' || own?.state === 'notified' || waitsForYou(message.id)
  const { approve, reject, isAnswered, options } = choicesFor(message)
  const isOwn = open.some(({ by }) => by === 'user')
  const suggested = isOwn && isAnswered ? options : []
  const [isAsking, setAsking] = useState(false)
  const isOver = decided.value.has(message.id)
  const canDecide = !isOver && (approve !== undefined || reject !== undefined || suggested.length > 0)
  useLayoutEffect(() => {
    if (!canDecide) return
    return onIntents({
      ...(approve && { approve: () => void answerWith([message], 'approve') }),
      ...(reject && { reject: () => setAsking(true) }),
      ...Object.fromEntries(
        suggested.map((text, n): [Intent, () => void] => [`pick ${n + 1}`, () => reply(message, text)]),
      ),
    })
  }, [canDecide, message.id])
  if (isOver) return <p class="matter quiet">Decided. You can undo it for a moment.</p>
  if (open.length === 0 && !isUnread) return null
  return (
    <div class={`matter${open.some(({ overdue }) => overdue) ? ' overdue' : ''}`}>
      <p>
        {open.length === 0
          ? 'Unread'
          : open.map((one) => <Sentence key={`${one.kind} ${one.to}`} one={one} />)}
      </p>
      {isAsking && reject ? (
        <Reason
          asks={reject.button!.asks!}
          label={reject.button!.label}
          onCancel={() => setAsking(false)}
          onSubmit={(why) => {
            setAsking(false)
            answerWith([message], 'reject', why)
          }}
        />
      ) : (
        <>
          {approve && (
            <button
              type="button"
              class={`button${isOwn ? ' main' : ''}`}
              onClick={() => answerWith([message], 'approve')}
            >
              <Icon name="check" /> {nameOf(approve)} <kbd>a</kbd>
            </button>
          )}
          {reject && (
            <button type="button" class="button" onClick={() => setAsking(true)}>
              {nameOf(reject)}… <kbd>x</kbd>
            </button>
          )}
        </>
      )}
      {suggested.length > 0 && (
        <ol class="matter-options" aria-label="Suggested answers">
          {suggested.map((text, n) => (
            <li key={text}>
              <button type="button" class="button" onClick={() => reply(message, text)}>
                <kbd>{n + 1}</kbd> <bdi class="cut">{line(text)}</bdi>
              </button>
            </li>
          ))}
        </ol>
      )}
      {isAnswered && (
        // A question between others can be answered, but that is not the person's task.
        <button type="button" class={`button${isOwn ? ' main' : ''}`} onClick={onReply}>
          <Icon name="reply" /> Answer
        </button>
      )}
      {isUnread && !isAnswered && approve === undefined && (
        <button type="button" class="button" onClick={() => finish([message])}>
          <Icon name="archive" /> Done <kbd>e</kbd>
        </button>
      )}
    </div>
  )
}

const Sentence = ({ one }: { one: Owed }) => (
  <span>
    Waiting for {possessive(one.by)} {matterOf(one.kind)?.owes ?? 'acknowledgement'}
    <span class="quiet">
      {' '}
      · {since(one.since)}
      {one.overdue && ' · overdue'}
      {one.state === 'deferred' && ' · deferred'}
    </span>{' '}
  </span>
)
