/** Types whose payload has a schema (payload.ts); apart from it, so that others need not load the schemas. */
const typedNames = [
  'plan_submission',
  'plan_approval',
  'shutdown_request',
  'shutdown_response',
  'status_request',
  'status_response',
  'status_update',
  'task_assignment',
  'help_request',
  'escalation',
  'fix_ci_failure',
  'fix_review_comments',
] as const
export type TypedName = (typeof typedNames)[number]

export const isTyped = (type: string | undefined): boolean => typedNames.some((name) => name === type)
