import * as z from 'zod/mini'
import { handOff } from '../agent/handoff.ts'
import * as requests from '../agent/requests.ts'
import type { Mailbox, SentMessage } from '../space/mailbox/api.ts'
import { id } from './inputs.ts'
import { operation } from './operation.ts'
import * as s from './schemas.ts'

const word = z.string().check(z.minLength(1))
const texts = z.exactOptional(z.array(z.string()))
const optional = z.exactOptional(z.string())
/** What every request has. */
const request = {
  to: z.exactOptional(word),
  subject: optional,
  body: optional,
  priority: z.exactOptional(s.priority),
  withinMs: z.exactOptional(z.number().check(z.positive())),
}
const status = {
  status: word,
  body: optional,
  taskId: z.exactOptional(word),
  progress: z.exactOptional(z.number().check(z.minimum(0), z.maximum(1))),
}

/** Each sends one typed message. */
const says = <Shape extends z.core.$ZodShape>(
  summary: string,
  fields: Shape,
  run: (mailbox: Mailbox, input: z.output<z.ZodMiniObject<Shape, z.core.$strict>>) => Promise<SentMessage>,
) => operation({ summary, input: z.strictObject(fields), output: s.sentMessage, run })

/** The functions of `agent/`, by their names. */
export const talkOperations = {
  handOff: says(
    'Hand work over, with everything the next agent needs',
    {
      to: word,
      subject: word,
      priority: z.exactOptional(s.priority),
      template: z.exactOptional(word),
      swarm: z.exactOptional(word),
      replyTo: z.exactOptional(word),
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
    },
    handOff,
  ),
  askForHelp: says(
    'Ask for help; the agent counts as waiting until somebody answers',
    { ...request, body: word },
    requests.askForHelp,
  ),
  submitPlan: says(
    'Submit a plan, or a new version of a rejected one',
    {
      ...request,
      subject: word,
      body: z.string(),
      taskId: z.exactOptional(word),
      revises: z.exactOptional(word),
    },
    requests.submitPlan,
  ),
  approvePlan: says('Approve a plan', { ...id, feedback: optional }, (mailbox, { id, ...input }) =>
    requests.approvePlan(mailbox, id, input),
  ),
  rejectPlan: says(
    'Reject a plan and say what has to change',
    { ...id, feedback: word },
    (mailbox, { id, ...input }) => requests.rejectPlan(mailbox, id, input),
  ),
  requestShutdown: says(
    'Ask an agent to stop',
    { to: word, reason: optional, withinMs: request.withinMs },
    (mailbox, { to, ...input }) => requests.requestShutdown(mailbox, to, input),
  ),
  acceptShutdown: says('Agree to stop', id, (mailbox, { id }) => requests.acceptShutdown(mailbox, id)),
  deferShutdown: says('Put off stopping and say why', { ...id, reason: word }, (mailbox, { id, ...input }) =>
    requests.deferShutdown(mailbox, id, input),
  ),
  requestStatus: says('Ask for a status report', { ...request, to: word }, (mailbox, { to, ...input }) =>
    requests.requestStatus(mailbox, to, input),
  ),
  respondStatus: says('Answer a status request', { ...id, ...status }, (mailbox, { id, ...input }) =>
    requests.respondStatus(mailbox, id, input),
  ),
  updateStatus: says(
    'Report on a task without being asked',
    { ...status, to: z.exactOptional(word) },
    requests.updateStatus,
  ),
  assignTask: says(
    'Assign a task',
    { ...request, to: word, subject: word, taskId: z.exactOptional(word) },
    requests.assignTask,
  ),
  reportCiFailure: says(
    'Report a failed check to someone who can fix it',
    {
      ...{ ...request, to: word, check: word },
      ...{ url: optional, branch: optional, commit: optional, log: optional },
    },
    requests.reportCiFailure,
  ),
  reportReview: says(
    'Pass on review comments',
    {
      ...{ ...request, to: word, url: optional },
      comments: z.array(z.strictObject({ body: z.string(), path: optional, line: z.exactOptional(z.int()) })),
    },
    requests.reportReview,
  ),
  escalate: says(
    'Escalate a matter one level up',
    { ...request, reason: word, about: z.exactOptional(word), related: texts },
    requests.escalate,
  ),
}
