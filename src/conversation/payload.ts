import * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import type { TypedName } from './typed.ts'

/**
 * What the payload of each known type may say. Types that are not here take any JSON. Fields that are not
 * named here are kept as they are: other programs put their own beside ours.
 */
const text = z.string()
const texts = z.array(z.string())
const withinMs = z.optional(z.number().check(z.positive()))

const payloads = {
  plan_submission: z.looseObject({ taskId: z.optional(text), withinMs }),
  plan_approval: z.looseObject({ approved: z.boolean(), feedback: z.optional(text) }),
  shutdown_request: z.looseObject({ reason: z.optional(text), withinMs }),
  shutdown_response: z.looseObject({ accepted: z.boolean(), reason: z.optional(text) }),
  status_request: z.looseObject({ withinMs }),
  status_response: z.looseObject({ status: z.optional(text), progress: z.optional(z.number()) }),
  status_update: z.looseObject({
    taskId: z.optional(text),
    status: z.optional(text),
    progress: z.optional(z.number()),
  }),
  task_assignment: z.looseObject({ taskId: z.optional(text), withinMs }),
  help_request: z.looseObject({ withinMs }),
  escalation: z.looseObject({
    level: z.optional(z.union([text, z.number()])),
    reason: z.optional(text),
    related: z.optional(texts),
  }),
  fix_ci_failure: z.looseObject({
    url: z.optional(text),
    check: z.optional(text),
    branch: z.optional(text),
    commit: z.optional(text),
    log: z.optional(text),
  }),
  fix_review_comments: z.looseObject({
    url: z.optional(text),
    comments: z.optional(
      z.array(z.looseObject({ body: text, path: z.optional(text), line: z.optional(z.number()) })),
    ),
  }),
} as const satisfies Record<TypedName, z.ZodMiniType>

/** Types whose payload says what they mean: as an answer they cannot do without. */
const needed = ['plan_approval', 'shutdown_response']

/** Checks what does not depend on the state: whether the payload is one of its type. */
export function checkPayload(type: string, payload: unknown, isAnswer: boolean): void {
  const schema = Object.hasOwn(payloads, type) ? payloads[type as keyof typeof payloads] : undefined
  if (schema === undefined || (payload === undefined && !(isAnswer && needed.includes(type)))) return
  const issue = schema.safeParse(payload).error?.issues[0]
  if (issue === undefined) return
  const where = ['payload', ...issue.path].join('.')
  throw new MailboxError('invalid', `${where} of a ${type}: ${issue.message}`, {
    hint: `a ${type} says ${Object.keys(schema.shape).join(', ')}`,
  })
}

/** The payloads of known types as JSON Schema, for programs in other languages. */
export const payloadSchemas = (): Record<TypedName, object> =>
  Object.fromEntries(
    Object.entries(payloads).map(([type, schema]) => [type, z.toJSONSchema(schema)]),
  ) as Record<TypedName, object>
