import { effect, signal } from '@preact/signals'

/** `connecting` until the hub has answered for the first time; `reconnecting` while it cannot be reached. */
export const connection = signal<'connecting' | 'live' | 'reconnecting'>('connecting')

/** A request got no answer. Once live, only the stream decides whether the hub is gone. */
export function noteUnreachable(): void {
  if (connection.peek() === 'connecting') connection.value = 'reconnecting'
}

/** Calls the listener each time the connection becomes live. */
export function onLive(listener: () => void): () => void {
  let before = connection.peek()
  return connection.subscribe((now) => {
    const isBack = now === 'live' && before !== 'live'
    before = now
    if (isBack) listener()
  })
}

/** Resolves at once, or, while the hub is away, as soon as it is back. */
export function whenReachable(): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (connection.value === 'reconnecting') return
      resolve()
      queueMicrotask(() => stop())
    })
  })
}
