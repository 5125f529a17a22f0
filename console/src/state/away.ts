import { effect, signal } from '@preact/signals'
import { overview } from './overview.ts'

/** Shorter absences are not worth a summary. */
const leastMs = 10 * 60_000
const beatMs = 30_000

/**
 * Since when the person was away from this browser, if they were away for long. It stays until they say that they have
 * seen what happened, or are away again.
 */
export const awaySince = signal<string | null>(null)
let key = ''

function lastHere(): number | undefined {
  const stored = Number(localStorage.getItem(key) ?? Number.NaN)
  return Number.isFinite(stored) ? stored : undefined
}

/** Notes that the person is here; after a long time, since when they were not. */
function beHere(): void {
  if (key === '' || document.visibilityState === 'hidden') return
  const before = lastHere()
  const now = Date.now()
  if (before !== undefined && now - before > leastMs) awaySince.value = new Date(before).toISOString()
  try {
    localStorage.setItem(key, String(now))
  } catch {
    // Storage is full or blocked: nothing is remembered.
  }
}

export const seenAway = (): void => {
  awaySince.value = null
}

/** Follows when the person is on the page. Several spaces may have been served at this address. */
export function startWatch(): void {
  effect(() => {
    const id = overview.data.value?.space.id
    if (id === undefined || key === `mailbox.here.${id}`) return
    key = `mailbox.here.${id}`
    beHere()
  })
  setInterval(beHere, beatMs)
  document.addEventListener('visibilitychange', beHere)
}
