import type { ProblemFact } from './format.ts'

/** Something that was left where it is. */
export type Problem = Pick<ProblemFact, 'place' | 'line' | 'reason'>

export const describeProblem = ({ place, line, reason }: Problem): string =>
  `${place}${line === undefined ? '' : `, line ${line}`}: ${reason}`
