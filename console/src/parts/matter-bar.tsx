import './matter-bar.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Owed, StoredMessage, ThreadReceipt } from '../data/types.ts'
import { line } from '../lib/text.ts'
import { since } from '../lib/time.ts'
import { acknowledge, approve, busy, finish, reject, waitsForYou } from '../state/act.ts'
import { openMatters } from '../state/matters.ts'
import { Icon } from './icon.tsx'

const sentences: Record<Owed['kind'], (whose: string) => string> = {
  question: (whose) => `Waiting for ${whose} answer`,
  status: (whose) => `Waiting for ${whose} status`,
  plan: (whose) => `Waiting for ${whose} approval`,
  shutdown: (whose) => `Waiting for ${whose} shutdown`,
  task: (whose) => `Waiting for ${whose} work`,
  ack: (whose) => `Waiting for ${whose} acknowledgement`,
}
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
  const settled = (kind: Owed['kind']) => open.some((one) => one.kind === kind)
  const needsWord = settled('question') || settled('plan') || settled('status')
  if (open.length === 0 && !isUnread) return null
  const mine = open.some(({ kind, by }) => kind === 'ack' && by === 'user')
  return (
    <div class={`matter${open.some(({ overdue }) => overdue) ? ' overdue' : ''}`}>
      <p>
        {open.length === 0
          ? 'Unread'
          : open.map((one) => <Sentence key={`${one.kind} ${one.to}`} one={one} />)}
      </p>
      {settled('plan') && <PlanButtons message={message} />}
      {(settled('question') || settled('status')) && (
        <button type="button" class="button main" onClick={onReply}>
          <Icon name="reply" /> Answer
        </button>
      )}
      {mine && (
        <button
          type="button"
          class="button"
          disabled={busy.value !== null}
          onClick={() => void acknowledge(message)}
        >
          <Icon name="check" /> Acknowledge
        </button>
      )}
      {isUnread && !needsWord && !mine && (
        <button
          type="button"
          class="button"
          disabled={busy.value !== null}
          onClick={() => void finish(message)}
        >
          <Icon name="archive" /> Done
        </button>
      )}
    </div>
  )
}

const Sentence = ({ one }: { one: Owed }) => (
  <span>
    {sentences[one.kind](possessive(one.by))}
    <span class="quiet">
      {' '}
      · {since(one.since)}
      {one.overdue && ' · overdue'}
      {one.state === 'deferred' && ' · deferred'}
    </span>{' '}
  </span>
)

function PlanButtons({ message }: { message: StoredMessage }) {
  const [isRejecting, setRejecting] = useState(false)
  const [feedback, setFeedback] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isRejecting) field.current?.focus()
  }, [isRejecting])
  if (!isRejecting)
    return (
      <>
        <button
          type="button"
          class="button main"
          disabled={busy.value !== null}
          onClick={() => void approve(message, '')}
        >
          <Icon name="check" /> Approve
        </button>
        <button type="button" class="button" onClick={() => setRejecting(true)}>
          Reject…
        </button>
      </>
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void reject(message, feedback)
      }}
      onKeyDown={(event) => event.key === 'Escape' && setRejecting(false)}
    >
      <input
        class="field"
        ref={field}
        required
        aria-label="What should change"
        placeholder="What should change"
        value={feedback}
        onInput={(event) => setFeedback(event.currentTarget.value)}
      />
      <button type="submit" class="button bad" disabled={busy.value !== null}>
        Reject
      </button>
    </form>
  )
}
