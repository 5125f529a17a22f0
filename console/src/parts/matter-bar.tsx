import './matter-bar.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { actionsFor, matterOf, type NamedAction, typeOf } from '../../../src/conversation/registry.ts'
import type { Owed, StoredMessage, ThreadReceipt } from '../data/types.ts'
import { line } from '../lib/text.ts'
import { since } from '../lib/time.ts'
import { acknowledge, answer, busy, finish, waitsForYou } from '../state/act.ts'
import { openMatters } from '../state/matters.ts'
import { Icon } from './icon.tsx'

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
  const actions = open.some(({ kind }) => kind === typeOf(message.type)?.opens)
    ? actionsFor(message.type)
    : []
  const buttons = actions.filter(({ button }) => button !== undefined)
  const needsReply = open.some(({ kind }) => matterOf(kind)?.byReply)
  if (open.length === 0 && !isUnread) return null
  const mine = open.some(({ kind, by }) => kind === 'ack' && by === 'user')
  return (
    <div class={`matter${open.some(({ overdue }) => overdue) ? ' overdue' : ''}`}>
      <p>
        {open.length === 0
          ? 'Unread'
          : open.map((one) => <Sentence key={`${one.kind} ${one.to}`} one={one} />)}
      </p>
      {buttons.length > 0 && <ActionButtons message={message} actions={buttons} />}
      {needsReply && (
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
      {isUnread && !needsReply && buttons.length === 0 && !mine && (
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
    Waiting for {possessive(one.by)} {matterOf(one.kind)?.owes ?? 'acknowledgement'}
    <span class="quiet">
      {' '}
      · {since(one.since)}
      {one.overdue && ' · overdue'}
      {one.state === 'deferred' && ' · deferred'}
    </span>{' '}
  </span>
)

interface ActionButtonsProps {
  message: StoredMessage
  actions: readonly NamedAction[]
}

/** The buttons of a conversation. One that asks for a reason opens a field for it first. */
function ActionButtons({ message, actions }: ActionButtonsProps) {
  const [asking, setAsking] = useState<NamedAction | null>(null)
  const [reason, setReason] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [asking])
  if (asking === null)
    return (
      <>
        {actions.map((action, at) => (
          <button
            key={action.name}
            type="button"
            class={`button${at === 0 ? ' main' : ''}`}
            disabled={busy.value !== null}
            onClick={() => (action.button!.asks ? setAsking(action) : void answer(message, action, ''))}
          >
            {at === 0 && <Icon name="check" />} {action.button!.label}
            {action.button!.asks && '…'}
          </button>
        ))}
      </>
    )
  const { label, asks } = asking.button!
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void answer(message, asking, reason)
      }}
      onKeyDown={(event) => event.key === 'Escape' && setAsking(null)}
    >
      <input
        class="field"
        ref={field}
        required
        aria-label={asks}
        placeholder={asks}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <button type="submit" class="button bad" disabled={busy.value !== null}>
        {label}
      </button>
    </form>
  )
}
