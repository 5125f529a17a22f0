import { batch, signal } from '@preact/signals'
import { openStream } from './api.ts'
import { connection } from './connection.ts'
import { token } from './session.ts'
import { readEvents } from './stream.ts'
import type { Entry } from './types.ts'

/** The last entry this page has applied. */
const seq = signal(0)

type Listener = (entries: readonly Entry[]) => void
const listeners = new Set<Listener>()

export function onEntries(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The hub sends a comment every 15 s. Two missing ones mean the connection is dead. */
const silenceMs = 40_000
const firstPauseMs = 400
const longestPauseMs = 8_000

/**
 * Follows the journal from a sequence number for as long as there is a token. After a break it resumes after
 * the last entry it has seen, so nothing is missed and nothing arrives twice.
 */
export async function goLive(after: number, signal: AbortSignal): Promise<void> {
  seq.value = after
  let pauseMs = firstPauseMs
  while (!signal.aborted && token.value !== null) {
    try {
      await followOnce(signal, () => {
        pauseMs = firstPauseMs
        connection.value = 'live'
      })
    } catch {
      // Whatever went wrong, retry. A rejected token ends the loop.
    }
    if (signal.aborted) return
    connection.value = 'reconnecting'
    await pause(pauseMs * (0.75 + Math.random() / 2), signal)
    pauseMs = Math.min(longestPauseMs, pauseMs * 2)
  }
}

async function followOnce(outer: AbortSignal, onOpen: () => void): Promise<void> {
  const ending = new AbortController()
  const end = () => ending.abort()
  outer.addEventListener('abort', end)
  let timer = setTimeout(end, silenceMs)
  const onBytes = () => {
    clearTimeout(timer)
    timer = setTimeout(end, silenceMs)
  }
  try {
    const { body } = await openStream(seq.value, ending.signal)
    if (body === null) return
    onOpen()
    for await (const events of readEvents(body, onBytes))
      apply(events.map(({ data }) => JSON.parse(data) as Entry))
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', end)
    ending.abort()
  }
}

function apply(entries: readonly Entry[]): void {
  const fresh = entries.filter((entry) => entry.seq > seq.value)
  if (fresh.length === 0) return
  batch(() => {
    seq.value = fresh.at(-1)!.seq
    for (const listener of [...listeners]) listener(fresh)
  })
}

/** A pause that ends early when the network is back or the person returns to the tab. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer)
      removeEventListener('online', over)
      document.removeEventListener('visibilitychange', over)
      signal.removeEventListener('abort', over)
      resolve()
    }
    const timer = setTimeout(over, ms)
    addEventListener('online', over)
    document.addEventListener('visibilitychange', over)
    signal.addEventListener('abort', over)
  })
}
