import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** JSON lines on standard error. Tokens and bodies are never handed to it. */
export const createLog = (): Logger =>
  pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: true }))

/** A header as the log keeps it: strangers write these. */
export const brief = (text: string | undefined): string | undefined => text?.slice(0, 200)
