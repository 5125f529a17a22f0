const controller = new AbortController()
let heeded = false

/**
 * Aborted by Ctrl-C or SIGTERM. Verbs that wait ask for it; until one does, a signal ends the process
 * at once, even in the middle of a long computation, which loses nothing.
 */
export function interruptSignal(): AbortSignal {
  if (!heeded) {
    heeded = true
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt)
  }
  return controller.signal
}

export const wasInterrupted = (): boolean => controller.signal.aborted

const breathMs = 50
let lastBreath = performance.now()

/** For long loops over what is there already: they never wait, so a signal would not get through to them. */
export async function giveWay(): Promise<void> {
  if (performance.now() - lastBreath < breathMs) return
  await new Promise(setImmediate)
  lastBreath = performance.now()
}

function interrupt(): void {
  // Who presses twice does not want to wait for a clean end.
  if (controller.signal.aborted) process.exit(130)
  controller.abort()
}
