import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

/** JSON lines on standard error. Tokens and bodies are never logged. */
export const createLog = (): Logger =>
  pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: true }))

/** Text from strangers, cut short for the log. */
export const brief = (text: string | undefined): string | undefined => text?.slice(0, 200)
