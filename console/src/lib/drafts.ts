import { signal } from '@preact/signals'
import type { Priority } from '../data/types.ts'

/** What somebody has begun to write. Kept in the browser until it is sent or thrown away. */
export interface Draft {
  to: string
  subject: string
  body: string
  type: string
  priority: Priority
  requiresAck: boolean
  awaitingResponse: boolean
  tags: string
  /** Sent along, so that a second try after a broken connection is not a second message. */
  key: string
}

const prefix = 'mailbox.draft.'

export const emptyDraft = (): Draft => ({
  ...{ to: '', subject: '', body: '', type: 'text', priority: 'normal', tags: '' },
  ...{ requiresAck: false, awaitingResponse: false, key: crypto.randomUUID() },
})

function storedKeys(): Set<string> {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix))
  return new Set(keys.map((key) => key.slice(prefix.length)))
}

/** The places that have a draft: a thread, or `new`. */
export const draftPlaces = signal(storedKeys())
// Another tab may write one as well.
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

export function writeDraft(place: string, draft: Draft | undefined): void {
  try {
    if (draft === undefined || (draft.body === '' && draft.subject === ''))
      localStorage.removeItem(prefix + place)
    else localStorage.setItem(prefix + place, JSON.stringify(draft))
  } catch {
    // A full or forbidden store: the text is still in the field.
  }
  const places = storedKeys()
  if (places.size !== draftPlaces.value.size || [...places].some((one) => !draftPlaces.value.has(one)))
    draftPlaces.value = places
}
