/** Node fires a timer that is longer than this at once. About 25 days. */
export const maxTimerMs = 2_147_483_647

/** Waits, and simply ends early when the signal is aborted. */
export const pause = (ms: number, signal: AbortSignal, ref = true): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (!ref) timer.unref()
    signal.addEventListener('abort', end)
  })

const cell = new Int32Array(new SharedArrayBuffer(4))

/** Blocks this thread without using the processor. For a few milliseconds at most. */
export const sleepSync = (ms: number): void => void Atomics.wait(cell, 0, 0, ms)

/** How long to wait before retry number `retry`, counted from 0: twice as long each time, up to a limit. */
export const backoffMs = (retry: number, firstMs: number, maxMs: number): number =>
  Math.min(maxMs, firstMs * 2 ** retry)

/** The clock that all processes of a machine share and that nobody can set, in ms. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
