import * as z from 'zod/mini'
import type { Operation } from './operation.ts'
import * as s from './schemas.ts'

const id = { id: z.string().check(z.minLength(1)) }
const word = z.string().check(z.minLength(1))
const texts = z.optional(z.array(z.string()))
const optional = z.optional(z.string())
/** What every request has. */
const request = {
  to: z.optional(word),
  subject: optional,
  body: optional,
  priority: z.optional(s.priority),
  withinMs: z.optional(z.number().check(z.positive())),
}
const status = {
  status: word,
  body: optional,
  taskId: z.optional(word),
  progress: z.optional(z.number().check(z.minimum(0), z.maximum(1))),
}
const says = (summary: string, fields: z.core.$ZodShape, positional: readonly string[] = []): Operation => ({
  summary,
  positional,
  input: z.strictObject(fields),
  output: s.sentMessage,
})

/** The functions of `talk/`, by their names: each says something typed to somebody. */
export const talkOperations = {
  handOff: says('Hand work over with everything that the next one needs', {
    to: word,
    subject: word,
    priority: z.optional(s.priority),
    template: z.optional(word),
    swarm: z.optional(word),
    replyTo: z.optional(word),
    workCompleted: word,
    currentState: optional,
    nextSteps: texts,
    blockers: texts,
    dependencies: texts,
    filesModified: texts,
    filesCreated: texts,
    stateFile: optional,
    relatedEscalations: texts,
    jobId: optional,
    notes: optional,
  }),
  askForHelp: says('Ask for help and count as waiting', { ...request, body: word }),
  submitPlan: says('Submit a plan, or a new version of one that was rejected', {
    ...request,
    subject: word,
    body: z.string(),
    taskId: z.optional(word),
    revises: z.optional(word),
  }),
  approvePlan: says('Approve a plan', { ...id, feedback: optional }, ['id']),
  rejectPlan: says('Reject a plan, with what has to change', { ...id, feedback: word }, ['id']),
  requestShutdown: says('Ask an agent to stop', { to: word, reason: optional, withinMs: request.withinMs }, [
    'to',
  ]),
  acceptShutdown: says('Agree to stop', id, ['id']),
  deferShutdown: says('Stop later, and say why', { ...id, reason: word }, ['id']),
  requestStatus: says('Ask how far somebody is', { ...request, to: word }, ['to']),
  respondStatus: says('Answer a request for the status', { ...id, ...status }, ['id']),
  updateStatus: says('Report on a task without being asked', { ...status, to: z.optional(word) }),
  assignTask: says('Give somebody a task', {
    ...request,
    to: word,
    subject: word,
    taskId: z.optional(word),
  }),
  reportCiFailure: says('Tell whoever can mend it that a check has failed', {
    ...{ ...request, to: word, check: word },
    ...{ url: optional, branch: optional, commit: optional, log: optional },
  }),
  reportReview: says('Pass the comments of a review on', {
    ...{ ...request, to: word, url: optional },
    comments: z.array(z.strictObject({ body: z.string(), path: optional, line: z.optional(z.int()) })),
  }),
  escalate: says('Take a matter one level up', {
    ...request,
    reason: word,
    about: z.optional(word),
    related: texts,
  }),
} as const satisfies Record<string, Operation>
