/** A task, with everything the team says about it. */
export interface WorkItem {
  id: string
  project: string
  title: string
  /** What the lead asks for. */
  brief: string
  files: readonly string[]
  /** What the worker asks first, and the architect's answer. */
  question?: string
  answer?: string
  /** The worker's plan, an objection to it, and the revised plan. */
  plan?: string
  doubt?: string
  revised?: string
  /** The person decides on the plan. */
  byPerson?: boolean
  /** A review comment: `path:line text`. */
  comment: string
  /** Why a first attempt may fail. */
  trouble: string
  /** A check that may fail, and what it prints. */
  check: string
  log: string
  /** The result, and what the docs say about it. */
  result: string
  doc: string
}

/** The work of a project, by id. */
export type Project = Readonly<Record<string, Omit<WorkItem, 'id' | 'project'>>>
