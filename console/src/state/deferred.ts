import { computed, signal } from '@preact/signals'
import { act } from '../data/api.ts'
import { showError, showToast } from '../parts/toast.tsx'
import { needsYou, owed } from './matters.ts'

/** One request to the hub. */
export interface Request {
  operation: string
  input: object
}

export interface Decision {
  /** What was decided, in the past tense. */
  text: string
  /** The messages that it settles. They leave the list at once. */
  ids: readonly string[]
  requests: readonly Request[]
  /** Brings back what the person had typed, and the page they were on. */
  onUndo?: () => void
  /** The hub has refused it: keeps what the person had typed. */
  onRefused?: () => void
  /** What it says once it is undone; empty: `onUndo` says it. @default 'Undone' */
  undone?: string
}

interface Pending extends Decision {
  state: 'waiting' | 'sent'
  timer?: ReturnType<typeof setTimeout>
  dismiss?: () => void
}

/**
 * Decisions that can still be undone. Mail cannot be taken back once an agent has read it, so nothing is sent to the hub
 * before the time for undoing is over, or the page is closed.
 */
const pending = signal<readonly Pending[]>([])

/** Messages that are decided, although the hub may not know yet. */
export const decided = computed(() => new Set(pending.value.flatMap(({ ids }) => ids)))

const key = 'mailbox.undoMs'
export const undoChoices = [0, 6_000, 15_000, 30_000] as const

/** How long a decision can be undone. */
export function undoMs(): number {
  const stored = localStorage.getItem(key)
  return stored !== null && /^\d{1,5}$/.test(stored) ? Number(stored) : 6_000
}

export function setUndoMs(ms: number): void {
  localStorage.setItem(key, String(ms))
}

export function decide(decision: Decision): void {
  const one: Pending = { ...decision, state: 'waiting' }
  pending.value = [...pending.value, one]
  const ms = undoMs()
  if (ms === 0) {
    void send(one).then((isDone) => isDone && showToast(one.text))
    return
  }
  one.timer = setTimeout(() => void send(one), ms)
  one.dismiss = showToast(one.text, 'info', { ms, action: { name: 'Undo', key: 'z', run: () => undo(one) } })
}

/** Offers to take back what has been done already. */
export const offerUndo = (text: string, onUndo: () => void, undone?: string): void =>
  decide({ text, ids: [], requests: [], onUndo, ...(undone !== undefined && { undone }) })

export const canUndo = (): boolean => pending.peek().some(({ state }) => state === 'waiting')

/** Takes back the last decision. */
export function undoLast(): boolean {
  const last = pending.value.findLast(({ state }) => state === 'waiting')
  if (last !== undefined) undo(last)
  return last !== undefined
}

function undo(one: Pending): void {
  if (one.state !== 'waiting') return
  remove(one)
  const { undone = 'Undone' } = one
  if (undone !== '') showToast(undone, 'info', { ms: 2_000 })
  one.onUndo?.()
}

function remove(one: Pending): void {
  clearTimeout(one.timer)
  one.dismiss?.()
  pending.value = pending.value.filter((other) => other !== one)
}

async function send(one: Pending): Promise<boolean> {
  one.state = 'sent'
  clearTimeout(one.timer)
  one.dismiss?.()
  // Lets what depends on it see that it can no longer be undone.
  pending.value = [...pending.value]
  if (one.requests.length === 0) {
    remove(one)
    return true
  }
  const results = await Promise.allSettled(one.requests.map(({ operation, input }) => act(operation, input)))
  const failed = results.filter((result) => result.status === 'rejected')
  if (failed.length > 0) {
    showError(failed[0]!.reason)
    one.onRefused?.()
  }
  // The list must know before the messages may show up in it again.
  await Promise.all([needsYou.reload(), owed.reload()])
  remove(one)
  return failed.length === 0
}

// A page that is closed sends at once what it has promised. The browser delivers it after the page has gone.
addEventListener('pagehide', () => {
  for (const one of pending.value) {
    if (one.state !== 'waiting') continue
    one.state = 'sent'
    clearTimeout(one.timer)
    for (const { operation, input } of one.requests)
      void act(operation, input, { keepalive: true }).catch(() => {})
  }
})
