import { signal } from '@preact/signals'
import type { Priority } from '../data/types.ts'

/** An unsent message, kept in the browser until it is sent or discarded. */
export interface Draft {
  to: string
  subject: string
  body: string
  type: string
  priority: Priority
  requiresAck: boolean
  awaitingResponse: boolean
  tags: string
  /** Paths of files, a line each. */
  attachments: string
  /** How long it lives unread, such as `4h`; `never`: it does not expire; empty: as the kind of address has it. */
  life: string
  /** When it is sent, in local time as a field for it has it; empty: at once. */
  sendAt: string
  /** What it is written from; empty for a plain message. */
  template: string
  /** What was typed into the fields of the template, by name. */
  values: Record<string, string>
  /** Sending this text was attempted, and it may have arrived. */
  isTried: boolean
  /** When it was last changed, in ms. */
  at: number
  /** The message it replies to. */
  replyTo?: string
  /** Idempotency key: a retry after a lost connection does not send a second message. */
  key: string
}

/** A time as a field for local times has it. */
export function localTime(ms: number): string {
  const date = new Date(ms)
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}

const prefix = 'mailbox.draft.'

/** Browsers have no `randomUUID` on plain http, which a hub in a local network uses. */
export const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

export const emptyDraft = (): Draft => ({
  ...{ to: '', subject: '', body: '', type: 'text', priority: 'normal', tags: '', attachments: '' },
  ...{ life: '', sendAt: '', template: '', values: {}, isTried: false, at: 0 },
  ...{ requiresAck: false, awaitingResponse: false, key: newKey() },
})

function storedKeys(): Set<string> {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix))
  return new Set(keys.map((key) => key.slice(prefix.length)))
}

/** Where there are drafts: threads, or `new`. */
export const draftPlaces = signal(storedKeys())
// Another tab may save one, too.
addEventListener('storage', () => {
  draftPlaces.value = storedKeys()
})

export function readDraft(place: string): Draft | undefined {
  try {
    const text = localStorage.getItem(prefix + place)
    return text === null ? undefined : { ...emptyDraft(), ...(JSON.parse(text) as Partial<Draft>) }
  } catch {
    return undefined
  }
}

/** The recipients of a reply are not the person's work; those of a new message are. */
export const isEmpty = ({ to, replyTo, values, ...draft }: Draft): boolean =>
  [draft.subject, draft.body, draft.tags, draft.attachments, ...Object.values(values)].join('') === '' &&
  (to === '' || replyTo !== undefined)

export function writeDraft(place: string, draft: Draft | undefined): void {
  try {
    if (draft === undefined || isEmpty(draft)) localStorage.removeItem(prefix + place)
    else localStorage.setItem(prefix + place, JSON.stringify(draft))
  } catch {
    // Storage is full or blocked: the text is still in the field.
  }
  const places = storedKeys()
  if (places.size !== draftPlaces.value.size || [...places].some((one) => !draftPlaces.value.has(one)))
    draftPlaces.value = places
}
