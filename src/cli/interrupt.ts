const controller = new AbortController()
let isListening = false
/** The exit code of a verb that a signal ended. */
let code: number | undefined

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

/**
 * The same for a verb that runs until it is told to stop. SIGTERM, from whatever manages services here, is then
 * its proper end; Ctrl-C stays an interruption.
 */
export function serviceSignal(): AbortSignal {
  isService = true
  return interruptSignal()
}

let isService = false

/** Undefined unless a signal has ended the verb. */
export const interruptCode = (): number | undefined => code

export const wasInterrupted = (): boolean => controller.signal.aborted

const yieldEveryMs = 50
let lastYield = 0

/** Lets signals through in long loops over existing data, which otherwise never wait. */
export async function yieldToSignals(): Promise<void> {
  if (performance.now() - lastYield < yieldEveryMs) return
  await new Promise(setImmediate)
  lastYield = performance.now()
}

function interrupt(name: NodeJS.Signals): void {
  // A second Ctrl-C means: do not wait for a clean end.
  if (controller.signal.aborted) process.exit(130)
  code = isService && name === 'SIGTERM' ? 0 : 130
  controller.abort()
}
