import { signal } from '@preact/signals'
import { act } from '../data/api.ts'
import type { StoredMessage } from '../data/types.ts'
import { showError, showToast } from '../parts/toast.tsx'
import { needsYou, owed } from './matters.ts'

/** The action in progress, so that a double click does not act twice. */
export const busy = signal<string | null>(null)

/** Performs one action and shows the outcome, unless `done` is empty. Returns whether it succeeded. */
export async function perform(what: string, done: string, work: () => Promise<unknown>): Promise<boolean> {
  if (busy.value !== null) return false
  busy.value = what
  try {
    await work()
    if (done !== '') showToast(done)
    // Show the effect at once.
    void needsYou.refresh()
    void owed.refresh()
    return true
  } catch (error) {
    showError(error)
    return false
  } finally {
    busy.value = null
  }
}

/** Whether a message in the person's inbox still needs them. */
export const waitsForYou = (id: string): boolean =>
  needsYou.data.value?.some(({ message }) => message.id === id) ?? false

/** Marks a message as done if it is to the person. Mail to others is left alone. */
export async function markDone(message: Pick<StoredMessage, 'id' | 'to'>): Promise<void> {
  if (!message.to.includes('user') && !waitsForYou(message.id)) return
  // The reply is sent. If another tab has marked the message as done already, that is fine.
  await act('done', { id: message.id }).catch(() => {})
}

export const requestShutdown = (to: string, reason: string) =>
  perform(`shutdown ${to}`, `Shutdown requested from ${to}`, () =>
    act('request-shutdown', { to, ...(reason !== '' && { reason }) }),
  )

export const askStatus = (to: string) =>
  perform(`status ${to}`, `Status requested from ${to}`, () => act('request-status', { to }))

/** Takes back a message that nobody has read yet. */
export const withdraw = (id: string) => perform(`withdraw ${id}`, 'Not sent', () => act('withdraw', { id }))
