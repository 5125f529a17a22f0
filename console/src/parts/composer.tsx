import './composer.css'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { act } from '../data/api.ts'
import type { StoredMessage } from '../data/types.ts'
import { parseRecipients } from '../lib/address.ts'
import { type Draft, emptyDraft, isEmpty, newKey, readDraft, writeDraft } from '../lib/drafts.ts'
import { reachOf } from '../lib/reach.ts'
import { type Template, templateOf } from '../lib/templates.ts'
import { line, plural } from '../lib/text.ts'
import { fullTime } from '../lib/time.ts'
import { busy, perform, withdraw } from '../state/act.ts'
import { discardDraft } from '../state/compose.ts'
import { offerUndo } from '../state/deferred.ts'
import { overview } from '../state/overview.ts'
import { AddressField } from './address-field.tsx'
import { ComposerOptions } from './composer-options.tsx'
import { inputOf, Preview } from './composer-preview.tsx'
import { TemplateChoice, TemplateFields } from './composer-template.tsx'
import { Icon } from './icon.tsx'
import { showToast } from './toast.tsx'

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
  /** `threadId`: undefined if it is sent later. */
  onSent?: (threadId: string | undefined) => void
  onDiscard?: () => void
  /** It was taken back, and is a draft again. */
  onTakenBack?: () => void
  autoFocus?: boolean
}

/** Writes as the person. The draft is saved on every keystroke. */
export function Composer(props: ComposerProps) {
  const { place, start = {}, replyTo, onSent, onDiscard } = props
  const [draft, setDraft] = useState(() => readDraft(place) ?? { ...emptyDraft(), ...start })
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (props.autoFocus) form.current?.querySelector('textarea')?.focus()
  }, [])
  const [isPreview, setPreview] = useState(false)
  const [isAddressing, setAddressing] = useState(false)
  const template = replyTo === undefined ? templateOf(draft.template) : undefined
  const keep = (next: Draft) => {
    setDraft(next)
    writeDraft(place, next)
  }
  const change = (part: Partial<Draft>) =>
    keep({
      // A changed text is a new message. With the old key it would count as a retry of the first one.
      ...{ ...draft, ...part, ...(draft.isTried && { key: newKey(), isTried: false }) },
      ...{ at: Date.now(), ...(replyTo !== undefined && { replyTo }) },
    })
  const send = async () => {
    const to = parseRecipients(draft.to)
    // Kept as well: if the page goes before the answer, what is changed after that is another message too.
    keep({ ...draft, isTried: true, ...(replyTo !== undefined && { replyTo }) })
    const whom = to.length > 4 ? plural(to.length, 'recipient') : to.map(line).join(', ')
    const sent = await perform('send', '', async () => {
      const { id, threadId, createdAt } = await act<StoredMessage>(
        replyTo === undefined ? 'send' : 'reply',
        inputOf(draft, replyTo, props.replyType),
      )
      // What answers later settles nothing now.
      if (draft.sendAt === '') await props.after?.()
      writeDraft(place, undefined)
      setDraft({ ...emptyDraft(), ...start })
      onSent?.(draft.sendAt === '' ? threadId : undefined)
      // A reply has settled what it answers, which taking it back would not undo.
      if (replyTo !== undefined && draft.sendAt === '') return void showToast(`Sent to ${whom}`)
      // What nobody has read yet can be taken back, and goes on as a draft.
      const takeBack = async () => {
        if (!(await withdraw(id))) return
        writeDraft(place, { ...draft, key: newKey(), isTried: false })
        props.onTakenBack?.()
      }
      const when = draft.sendAt === '' ? 'Sent' : `Scheduled for ${fullTime(createdAt).replace(/:\d\d$/, '')}`
      offerUndo(`${when} to ${whom}`, () => void takeBack(), '')
    })
    if (!sent) form.current?.querySelector<HTMLElement>('[name=body]')?.focus()
  }
  const { agents = [] } = overview.data.value ?? {}
  // A name that is being typed is not a mistake yet.
  const finished = isAddressing ? draft.to.replace(/[^,;\n]*$/, '') : draft.to
  const reach = reachOf(parseRecipients(finished), agents)
  const text = (name: 'subject' | 'body') => ({
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
      {replyTo === undefined && <TemplateChoice draft={draft} change={change} />}
      <div class="composer-line">
        <label for={`${id}to`}>To</label>
        <AddressField
          id={`${id}to`}
          name="to"
          required
          aria-describedby={`${id}reach`}
          value={draft.to}
          takesFocus={replyTo === undefined && !props.autoFocus}
          onText={(to) => change({ to })}
          onFocusIn={() => setAddressing(true)}
          onFocusOut={() => setAddressing(false)}
          onEnter={() => form.current?.querySelector<HTMLElement>('[name=subject], [name=body]')?.focus()}
        />
      </div>
      <p id={`${id}reach`} class="composer-reach" aria-live="polite">
        {reach.text}
        {reach.problems.map((problem) => (
          <span key={problem}> {problem}</span>
        ))}
      </p>
      {replyTo === undefined && (
        <div class="composer-line">
          <label for={`${id}subject`}>Subject</label>
          <input
            {...text('subject')}
            maxLength={500}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
              event.preventDefault()
              form.current?.querySelector<HTMLElement>('[name=body]')?.focus()
            }}
          />
        </div>
      )}
      {isPreview ? (
        <Preview draft={draft} replyType={props.replyType} isReply={replyTo !== undefined} />
      ) : (
        <>
          <label class="hidden" for={`${id}body`}>
            Message
          </label>
          <textarea
            {...text('body')}
            autofocus={props.autoFocus}
            placeholder={placeholderOf(template)}
            rows={template ? 2 : 4}
          />
        </>
      )}
      {template && !isPreview && <TemplateFields template={template} draft={draft} change={change} />}
      <ComposerOptions draft={draft} change={change} hasType={replyTo === undefined && !template} />
      <div class="composer-end">
        <span class="quiet">
          Sending as <b>user</b>
          {!isEmpty(draft) && draft.at > 0 && ' · Draft saved'}
        </span>
        <button
          type="button"
          class="button plain"
          aria-pressed={isPreview}
          onClick={() => setPreview(!isPreview)}
        >
          Preview
        </button>
        {onDiscard && (
          <button
            type="button"
            class="button plain"
            onClick={() => {
              discardDraft(place, () => props.onTakenBack?.())
              onDiscard()
            }}
          >
            {isEmpty(draft) || draft.at === 0 ? 'Cancel' : 'Discard'}
          </button>
        )}
        <button type="submit" class="button main" disabled={busy.value !== null}>
          <Icon name={draft.sendAt === '' ? 'send' : 'clock'} /> {draft.sendAt === '' ? 'Send' : 'Schedule'}
        </button>
      </div>
    </form>
  )
}

const placeholderOf = (template: Template | undefined): string =>
  template === undefined ? 'Write a message in Markdown' : template.bodyAbout
