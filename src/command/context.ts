import type { Draft } from '../model/entry.ts'
import type { Settings } from '../model/settings.ts'

/** What a decision cannot find out by itself: the time, unused ids, and the settings. */
export interface Context {
  /** Milliseconds since 1970. */
  now: number
  newId: () => string
  /** The settings of the space. */
  policy: Settings
}

/** What a decision comes to: the entries to append, and what its caller is told. */
export interface Decision<T> {
  drafts: Draft[]
  result: T
}
