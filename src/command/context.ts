import type { Draft } from '../model/entry.ts'
import type { Settings } from '../model/settings.ts'

/** What a decision needs from outside: the time, new ids and the settings. */
export interface Context {
  /** Milliseconds since 1970. */
  now: number
  newId: () => string
  /** The settings of the space. */
  policy: Settings
}

/** The outcome of a decision: the entries to append, and the result for the caller. */
export interface Decision<T> {
  drafts: Draft[]
  result: T
}
