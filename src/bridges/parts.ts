import type { BridgedSpace } from '../space/bridged.ts'
import type { Folder, Host } from './folder.ts'
import type { Format } from './format.ts'
import type { Lag } from './lag.ts'
import type { Memory } from './memory.ts'
import type { Problem } from './problem.ts'

export const directions = ['in', 'out', 'both'] as const
export type Direction = (typeof directions)[number]

/** What a bridge has done since it was started. */
export interface Tally {
  /** Messages that were brought here, and written there. */
  brought: number
  written: number
  /** States that were taken over from there, and from here. */
  statesIn: number
  statesOut: number
  /** Agents that joined. */
  agents: number
  /** What was left where it is because it cannot be read or is refused. */
  problems: number
}

/** What the parts of one bridge share. */
export interface Parts {
  readonly space: BridgedSpace
  readonly format: Format
  readonly folder: Folder
  readonly memory: Memory
  /** What the space calls the folder. */
  readonly path: string
  readonly direction: Direction
  /** Nothing is changed on either side; only the tally says what would be. */
  readonly dry: boolean
  /** A lock that is held for longer is reported. */
  readonly lockPatienceMs: number
  readonly tally: Tally
  readonly lag: Lag
  /** Tells of a problem, once. */
  readonly report: (problem: Problem) => void
  /** The bridge is to end: what is not begun is for the next. */
  readonly isEnding: () => boolean
  /** Something has to wait: look again soon. */
  readonly again: () => void
}

export const noTally = (): Tally => ({
  ...{ brought: 0, written: 0, statesIn: 0, statesOut: 0, agents: 0, problems: 0 },
})

export const hostOf = (space: Pick<BridgedSpace, 'id' | 'place' | 'roster'>): Host => ({
  dir: space.place,
  id: space.id,
  get agents() {
    return space.roster
  },
})
