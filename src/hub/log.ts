import { type Logger, pino } from 'pino'
import { Rate } from './limits.ts'

export type { Logger } from 'pino'

/** JSON lines on standard error. Tokens and bodies are never logged. */
export const createLog = (): Logger =>
  pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: true }))

/** Text from strangers, cut short for the log. */
export const brief = (text: string | undefined): string | undefined => text?.slice(0, 200)

const stackChars = 2_000

/** An error for the log. Its message may quote what a stranger sent. */
export function briefError(thrown: unknown): object {
  if (!(thrown instanceof Error)) return { message: brief(String(thrown)) }
  const { name, message, stack } = thrown
  // The stack begins with the message.
  const frames = stack?.slice(Math.max(0, stack.indexOf('\n    at '))).slice(0, stackChars)
  return { type: name, message: brief(message), stack: frames }
}

/** What strangers can write into the log: so many lines at once, and then one a second. */
const linesAtOnce = 50

/** Keeps whoever has no token from filling the log: what is left out is counted in the next line. */
export class LogRate {
  readonly #rate = new Rate(1, linesAtOnce)
  #leftOut = 0

  /** What to add to a line; undefined when it is left out. */
  take(): { leftOut?: number } | undefined {
    if (!this.#rate.take('')) {
      this.#leftOut++
      return undefined
    }
    const leftOut = this.#leftOut
    this.#leftOut = 0
    return leftOut === 0 ? {} : { leftOut }
  }
}
