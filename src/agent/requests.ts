import type { Priority } from '../model/message.ts'
import type { Mailbox, SentMessage } from '../space/mailbox/api.ts'

/** What every request has. */
export interface RequestInput {
  to?: string
  subject?: string
  body?: string
  priority?: Priority
  /** By when it should be settled; whoever asked is told when it is not. */
  withinMs?: number
}

const given = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** Asks for help and waits: the asker counts as waiting until somebody answers. */
export async function askForHelp(
  mailbox: Mailbox,
  input: RequestInput & { body: string },
): Promise<SentMessage> {
  const { to = await mailbox.lead(), subject = 'Help wanted', body, priority = 'urgent', withinMs } = input
  return mailbox.send({
    ...{ to, subject, body, priority, type: 'help_request', awaitingResponse: true },
    ...(withinMs === undefined ? {} : { payload: { withinMs } }),
  })
}

/** Submits a plan; with `revises`, a new version of one that was rejected. */
export async function submitPlan(
  mailbox: Mailbox,
  input: RequestInput & { subject: string; body: string; taskId?: string; revises?: string },
): Promise<SentMessage> {
  const { to = await mailbox.lead(), subject, body, priority = 'high', taskId, withinMs, revises } = input
  return mailbox.send({
    ...{ to, subject, body, priority, type: 'plan_submission' },
    payload: given({ taskId, withinMs }),
    ...(revises === undefined ? {} : { replyTo: revises }),
  })
}

export const approvePlan = (
  mailbox: Mailbox,
  id: string,
  input: { feedback?: string } = {},
): Promise<SentMessage> =>
  mailbox.reply(id, {
    type: 'plan_approval',
    body: input.feedback ?? 'Approved.',
    payload: given({ approved: true, feedback: input.feedback }),
  })

export const rejectPlan = (mailbox: Mailbox, id: string, input: { feedback: string }): Promise<SentMessage> =>
  mailbox.reply(id, {
    type: 'plan_approval',
    body: input.feedback,
    payload: { approved: false, feedback: input.feedback },
  })

/** Asks an agent to stop. It is for the run that is there now: a successor never gets it. */
export const requestShutdown = (
  mailbox: Mailbox,
  agent: string,
  input: { reason?: string; withinMs?: number } = {},
): Promise<SentMessage> =>
  mailbox.send({
    to: agent,
    type: 'shutdown_request',
    priority: 'urgent',
    subject: 'Please shut down',
    body: input.reason ?? '',
    payload: given(input),
  })

export const acceptShutdown = (mailbox: Mailbox, id: string): Promise<SentMessage> =>
  mailbox.reply(id, { type: 'shutdown_response', body: 'Shutting down.', payload: { accepted: true } })

export const deferShutdown = (
  mailbox: Mailbox,
  id: string,
  input: { reason: string },
): Promise<SentMessage> =>
  mailbox.reply(id, {
    type: 'shutdown_response',
    body: input.reason,
    payload: { accepted: false, reason: input.reason },
  })

export const requestStatus = (
  mailbox: Mailbox,
  agent: string,
  input: RequestInput = {},
): Promise<SentMessage> =>
  mailbox.send({
    to: agent,
    type: 'status_request',
    subject: input.subject ?? 'How far are you?',
    body: input.body ?? '',
    ...(input.priority === undefined ? {} : { priority: input.priority }),
    payload: given({ withinMs: input.withinMs }),
  })

export interface StatusInput {
  /** Such as working, blocked, completed, failed. */
  status: string
  body?: string
  taskId?: string
  /** 0 to 1. */
  progress?: number
}

/** Answers a request for the status. */
export const respondStatus = (mailbox: Mailbox, id: string, input: StatusInput): Promise<SentMessage> =>
  mailbox.reply(id, { type: 'status_response', body: input.body ?? input.status, payload: statusOf(input) })

/** Reports on a task without being asked. `completed` and `failed` settle it. */
export async function updateStatus(
  mailbox: Mailbox,
  input: StatusInput & { to?: string },
): Promise<SentMessage> {
  return mailbox.send({
    to: input.to ?? (await mailbox.lead()),
    type: 'status_update',
    subject: `${input.taskId ?? mailbox.name}: ${input.status}`.slice(0, 500),
    body: input.body ?? '',
    payload: statusOf(input),
  })
}

const statusOf = ({ status, taskId, progress }: StatusInput) => given({ status, taskId, progress })

export const assignTask = (
  mailbox: Mailbox,
  input: RequestInput & { to: string; subject: string; taskId?: string },
): Promise<SentMessage> => sendTask(mailbox, 'task_assignment', input, { taskId: input.taskId })

/** Tells whoever can mend it that a check has failed; wants an ack, and is settled when it is done. */
export const reportCiFailure = (
  mailbox: Mailbox,
  input: RequestInput & {
    to: string
    check: string
    url?: string
    branch?: string
    commit?: string
    log?: string
  },
): Promise<SentMessage> => {
  const { check, url, branch, commit, log } = input
  const subject = input.subject ?? `CI failed: ${check}`
  return sendTask(mailbox, 'fix_ci_failure', { ...input, subject }, { check, url, branch, commit, log }, true)
}

export interface ReviewComment {
  body: string
  path?: string
  line?: number
}

export const reportReview = (
  mailbox: Mailbox,
  input: RequestInput & { to: string; comments: readonly ReviewComment[]; url?: string },
): Promise<SentMessage> => {
  const { comments, url } = input
  const subject = input.subject ?? `${comments.length} review comments`
  const lines = comments.map(
    ({ path, line, body }) => `- ${path ?? ''}${line === undefined ? '' : `:${line}`} ${body}`,
  )
  const body = [input.body ?? '', ...lines].filter(Boolean).join('\n')
  return sendTask(mailbox, 'fix_review_comments', { ...input, subject, body }, { comments, url }, true)
}

function sendTask(
  mailbox: Mailbox,
  type: string,
  { to, subject = '', body = '', priority = 'high', withinMs }: RequestInput & { to: string },
  payload: Record<string, unknown>,
  requiresAck = false,
): Promise<SentMessage> {
  return mailbox.send({
    to,
    subject,
    body,
    priority,
    type,
    requiresAck,
    payload: given({ ...payload, withinMs }),
  })
}

/** Takes a matter one level up: to the lead, and from the lead to the person. Linked to what it is about. */
export async function escalate(
  mailbox: Mailbox,
  input: RequestInput & { reason: string; about?: string; related?: readonly string[] },
): Promise<SentMessage> {
  const {
    to = await mailbox.lead(),
    subject,
    reason,
    body = reason,
    related = [],
    priority = 'urgent',
  } = input
  // A beginning of the id is enough to find it, not to remember it by.
  const about = input.about === undefined ? undefined : (await mailbox.show(input.about)).message.id
  return mailbox.send({
    ...{ to, type: 'escalation', priority, body, awaitingResponse: true },
    subject: (subject ?? `Escalation: ${reason}`).slice(0, 500),
    payload: {
      reason,
      level: to === 'user' ? 'person' : 'lead',
      related: [...(about === undefined ? [] : [about]), ...related],
    },
    ...(about === undefined ? {} : { replyTo: about }),
  })
}
