import './composer.css'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { knownTypes, typeOf } from '../../../src/conversation/registry.ts'
import { act } from '../data/api.ts'
import type { Priority } from '../data/types.ts'
import { parseRecipients } from '../lib/address.ts'
import { type Draft, emptyDraft, newKey, readDraft, writeDraft } from '../lib/drafts.ts'
import { typeName } from '../lib/text.ts'
import { busy, perform } from '../state/act.ts'
import { addresses } from '../state/overview.ts'
import { Icon } from './icon.tsx'

export interface ComposerProps {
  /** Where the draft is kept: a thread, or `new`. */
  place: string
  start?: Partial<Draft>
  /** The message it replies to, which also gives it its subject. */
  replyTo?: string
  /** A reply with its own type. */
  replyType?: string | undefined
  /** Runs after it was sent. */
  after?: () => Promise<void>
  onSent?: (threadId: string) => void
  onDiscard?: () => void
  autoFocus?: boolean
}

const types = knownTypes.filter((type) => typeOf(type)?.isComposed)
const priorities: Priority[] = ['low', 'normal', 'high', 'urgent']

/** Writes as the person. The draft is saved on every keystroke. */
export function Composer(props: ComposerProps) {
  const { place, start = {}, replyTo, onSent, onDiscard } = props
  const [draft, setDraft] = useState(() => readDraft(place) ?? { ...emptyDraft(), ...start })
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (props.autoFocus) form.current?.querySelector('textarea')?.focus()
  }, [])
  /** Sending this text was attempted, and it may have arrived. */
  const isTried = useRef(false)
  const change = (part: Partial<Draft>) => {
    // A changed text is a new message. With the old key it would count as a retry of the first one.
    const next = {
      ...{ ...draft, ...part, ...(isTried.current && { key: newKey() }) },
      ...(replyTo !== undefined && { replyTo }),
    }
    isTried.current = false
    setDraft(next)
    writeDraft(place, next)
  }
  const send = async () => {
    const to = parseRecipients(draft.to)
    isTried.current = true
    const sent = await perform('send', `Sent to ${to.join(', ')}`, async () => {
      const { threadId } = await act<{ threadId: string }>(
        replyTo === undefined ? 'send' : 'reply',
        inputOf(draft, replyTo, props.replyType),
      )
      await props.after?.()
      writeDraft(place, undefined)
      setDraft({ ...emptyDraft(), ...start })
      onSent?.(threadId)
    })
    if (!sent) form.current?.querySelector<HTMLElement>('[name=body]')?.focus()
  }
  const text = (name: 'to' | 'subject' | 'body') => ({
    id: `${id}${name}`,
    name,
    class: 'field',
    value: draft[name],
    autoComplete: 'off',
    onInput: (event: { currentTarget: { value: string } }) => change({ [name]: event.currentTarget.value }),
  })
  return (
    <form
      class="composer"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
          event.preventDefault()
          form.current?.requestSubmit()
        }
      }}
    >
      <div class="composer-line">
        <label for={`${id}to`}>To</label>
        <input
          {...text('to')}
          required
          autofocus={replyTo === undefined && !props.autoFocus}
          list={`${id}addresses`}
          placeholder="ada, role:architect, #inscription, all"
        />
        <datalist id={`${id}addresses`}>
          {addresses.value.map((address) => (
            <option key={address} value={address} />
          ))}
        </datalist>
      </div>
      {replyTo === undefined && (
        <div class="composer-line">
          <label for={`${id}subject`}>Subject</label>
          <input {...text('subject')} maxLength={500} />
        </div>
      )}
      <label class="hidden" for={`${id}body`}>
        Message
      </label>
      <textarea
        {...text('body')}
        autofocus={props.autoFocus}
        placeholder="Write a message in Markdown"
        rows={4}
      />
      <Options draft={draft} change={change} isReply={replyTo !== undefined} />
      <div class="composer-end">
        <span class="quiet">
          Sending as <b>user</b>
          {draft.body !== '' && ' · Draft saved'}
        </span>
        {onDiscard && (
          <button
            type="button"
            class="button plain"
            onClick={() => {
              writeDraft(place, undefined)
              onDiscard()
            }}
          >
            {draft.body === '' && draft.subject === '' ? 'Cancel' : 'Discard'}
          </button>
        )}
        <button type="submit" class="button main" disabled={busy.value !== null}>
          <Icon name="send" /> Send
        </button>
      </div>
    </form>
  )
}

interface OptionsProps {
  draft: Draft
  change: (part: Partial<Draft>) => void
  isReply: boolean
}

const Options = ({ draft, change, isReply }: OptionsProps) => (
  <div class="composer-options">
    {!isReply && (
      <label>
        Type
        <select
          class="field"
          value={draft.type}
          onChange={(event) => change({ type: event.currentTarget.value })}
        >
          {types.map((type) => (
            <option key={type} value={type}>
              {typeName(type)}
            </option>
          ))}
        </select>
      </label>
    )}
    <label>
      Priority
      <select
        class="field"
        value={draft.priority}
        onChange={(event) => change({ priority: event.currentTarget.value as Priority })}
      >
        {priorities.map((priority) => (
          <option key={priority}>{priority}</option>
        ))}
      </select>
    </label>
    <label>
      <input
        type="checkbox"
        checked={draft.requiresAck}
        onChange={(event) => change({ requiresAck: event.currentTarget.checked })}
      />
      Request acknowledgement
    </label>
    <label>
      <input
        type="checkbox"
        checked={draft.awaitingResponse}
        onChange={(event) => change({ awaitingResponse: event.currentTarget.checked })}
      />
      Expect a reply
    </label>
  </div>
)

function inputOf(draft: Draft, replyTo: string | undefined, replyType: string | undefined): object {
  const { body, type, priority, requiresAck, awaitingResponse, key } = draft
  const tags = parseRecipients(draft.tags)
  return {
    ...(replyTo === undefined
      ? { subject: draft.subject, type }
      : { id: replyTo, ...(replyType && { type: replyType, payload: {} }) }),
    to: parseRecipients(draft.to),
    ...{ body, priority, key },
    ...(requiresAck && { requiresAck }),
    ...(awaitingResponse && { awaitingResponse }),
    ...(tags.length > 0 && { tags }),
  }
}
