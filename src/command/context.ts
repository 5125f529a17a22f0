import type { Draft, LateDraft } from '../model/entry.ts'
import type { Settings } from '../model/settings.ts'

/** What a decision needs from outside: the time, new ids and the settings. */
export interface Context {
  /** Milliseconds since 1970. */
  now: number
  /**
   * The time by which claims and mail end. A process whose clock cannot be trusted ends nothing: for it that
   * time never comes. @default now
   */
  endsBy?: number
  newId: () => string
  /** The settings of the space. */
  policy: Settings
}

/** The outcome of a decision: the entries to append, and the result for the caller. */
export interface Decision<T, D = Draft> {
  drafts: D[]
  result: T
}
/** One with entries that name one another. */
export type LateDecision<T> = Decision<T, Draft | LateDraft>

/** The time by which claims and mail end, in ms since 1970. */
export const endsBy = (context: Context): number => context.endsBy ?? context.now
