import { signal } from '@preact/signals'
import type { Draft } from '../lib/drafts.ts'

/** The new message that is being written in a dialog over the page. */
export const composing = signal<Partial<Draft> | null>(null)

export function openCompose(start: Partial<Draft> = {}): void {
  composing.value = start
}
