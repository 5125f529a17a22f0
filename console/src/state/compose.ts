import { signal } from '@preact/signals'
import { type Draft, isEmpty, newKey, readDraft, writeDraft } from '../lib/drafts.ts'
import { offerUndo } from './deferred.ts'

interface Composing {
  /** Where its draft is kept. */
  place: string
  start: Partial<Draft>
}

/** The new message that is being written in a dialog over the page. */
export const composing = signal<Composing | null>(null)

/** Goes on with the draft that was begun; to somebody else, it is another message. */
export function openCompose(start: Partial<Draft> = {}): void {
  const known = readDraft('new')
  const place = start.to && known && known.to !== start.to ? `new.${start.to}` : 'new'
  composing.value = { place, start }
}

/** Opens a draft that was kept. */
export function openDraft(place: string): void {
  composing.value = { place, start: {} }
}

/** Begins another message; the draft that is open is kept. */
export function openAnother(): void {
  composing.value = { place: `new.${newKey()}`, start: {} }
}

/** Removes a draft, which can be undone. */
export function discardDraft(place: string, onUndo?: () => void): void {
  const draft = readDraft(place)
  writeDraft(place, undefined)
  if (draft === undefined || isEmpty(draft)) return
  offerUndo('Draft discarded', () => {
    writeDraft(place, draft)
    onUndo?.()
  })
}
