/** A piece of work with everything that is said about it on its way through the team. */
export interface WorkItem {
  id: string
  project: string
  title: string
  /** What the lead asks for. */
  brief: string
  files: readonly string[]
  /** What the worker has to know first, and what the architect says to that. */
  question?: string
  answer?: string
  /** How the worker means to do it; what may be held against that, and the plan after it. */
  plan?: string
  doubt?: string
  revised?: string
  /** The plan is for the person to decide. */
  byPerson?: boolean
  /** What a reviewer finds. */
  comment: { path: string; line: number; body: string }
  /** Why a first try may come to nothing. */
  trouble: string
  /** A check that may fail, and what it prints. */
  check: string
  log: string
  /** What there is in the end, and what the docs say of it. */
  result: string
  doc: string
}
