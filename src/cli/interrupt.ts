const controller = new AbortController()
let isListening = false

/**
 * Aborted by Ctrl-C or SIGTERM. Verbs that wait use it; for all others a signal ends the process at once,
 * even in the middle of a long computation, and nothing is lost.
 */
export function interruptSignal(): AbortSignal {
  if (!isListening) {
    isListening = true
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt)
  }
  return controller.signal
}

export const wasInterrupted = (): boolean => controller.signal.aborted

const yieldEveryMs = 50
let lastYield = performance.now()

/** Lets signals through in long loops over existing data, which otherwise never wait. */
export async function yieldToSignals(): Promise<void> {
  if (performance.now() - lastYield < yieldEveryMs) return
  await new Promise(setImmediate)
  lastYield = performance.now()
}

function interrupt(): void {
  // A second Ctrl-C means: do not wait for a clean end.
  if (controller.signal.aborted) process.exit(130)
  controller.abort()
}
