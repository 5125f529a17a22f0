import { signal } from '@preact/signals'
import type { Draft } from '../lib/drafts.ts'

/** The letter that is being begun, over whatever page is open. */
export const composing = signal<Partial<Draft> | null>(null)

export function openCompose(start: Partial<Draft> = {}): void {
  composing.value = start
}
