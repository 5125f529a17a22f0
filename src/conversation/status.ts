import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { action, conversation, type Report } from './conversation.ts'
import { type Fields, fieldsOf, type InputOf, wordIn } from './field.ts'
import { idField, needed, option, request, taskId, withinMs } from './request.ts'

const report = {
  status: needed('--status <word>', 'working, blocked, completed, failed ...'),
  body: option('text', '--body <text>', 'more about it'),
  taskId: option('word', '--task <id>', 'the task it is about; completed and failed settle it'),
  progress: option('share', '--progress <share>', 'from 0 to 1'),
} as const satisfies Fields
const reportTo = { ...request.to, about: 'who gets the report (default: the lead)' } as const
export type StatusInput = InputOf<typeof report>

const toPayload = ({ status, taskId: task, progress }: StatusInput) =>
  given({ status, taskId: task, progress })

/** The status of what its recipient is done with, and has not answered. */
export const closed = 'closed'
/** The words by which a report settles something. Any other is only for who reads it. */
const settling: readonly unknown[] = ['completed', 'failed', closed]

const payload = {
  taskId,
  status: {
    kind: 'text',
    label: 'Status',
    outline: (value: unknown) => (settling.includes(value) ? (value as string) : undefined),
  },
  progress: { kind: 'number', label: 'Progress', says: (share: number) => `${Math.round(share * 100)} %` },
} as const satisfies Fields

export const statusUpdate = 'status_update'

/** `T-7: working` */
const sayStatus = (said: Record<string, unknown>): string | undefined =>
  [wordIn(said, 'taskId'), wordIn(said, 'status')].filter(Boolean).join(': ') || undefined

/** Somebody asks for a status and gets it; or an agent reports without being asked, which can settle a task. */
export const status = conversation({
  name: 'status',
  messages: {
    status_request: {
      sentence: 'A status was requested: task, branch, what is blocked, when it will be done.',
      payload: { withinMs },
      title: () => 'What is your status?',
      says: () =>
        'Please say what you are working on, on which branch, what blocks you, and when it will be done.',
      opens: 'status',
      interrupts: true,
      need: { kind: 'question', label: 'question' },
      isComposed: true,
    },
    status_response: {
      sentence: 'A status request was answered.',
      // Others say any id here.
      payload: { ...payload, taskId: { kind: 'any', label: 'Task' } },
      title: sayStatus,
      says: ({ payload: said }) => sayStatus(fieldsOf(said)),
      answers: 'status_request',
      takes: () => 'respond',
    },
    [statusUpdate]: {
      sentence: 'A report on a task; no answer is needed.',
      payload,
      title: sayStatus,
      says: ({ payload: said }) => sayStatus(fieldsOf(said)),
      // That somebody is done with a question is no answer to it.
      settlesNothing: ({ status: word }) => word === closed,
      ends: ({ status: word }) => word === 'completed' || word === 'failed' || word === closed,
      // What handling one message says of itself, `about` it, is settled by the handling.
      reports: ({ taskId: key, status: word, about }): Report | undefined => {
        if (about !== undefined) return undefined
        const step = word === 'completed' ? 'finish' : word === 'failed' ? 'fail' : undefined
        return typeof key === 'string' && step !== undefined ? { kind: 'task', key, step } : undefined
      },
    },
  },
  matter: {
    kind: 'status',
    steps: { respond: { from: ['open'], to: 'answered', each: true } },
    byReply: 'respond',
    owes: 'status',
  },
  actions: () => ({
    requestStatus: action({
      type: 'status_request',
      summary: 'Ask an agent for its status',
      positional: ['to'],
      input: { ...request, to: { ...request.to, required: true } },
      says: ({ subject = 'What is your status?', body = '', priority, withinMs: within }) => ({
        ...{ subject, body, ...given({ priority }) },
        payload: given({ withinMs: within }),
      }),
    }),
    respondStatus: action({
      type: 'status_response',
      summary: 'Answer a status request',
      positional: ['id'],
      input: { id: idField, ...report },
      says: (input) => ({ body: input.body ?? input.status, payload: toPayload(input) }),
    }),
    updateStatus: action({
      type: statusUpdate,
      summary: 'Report on a task without being asked',
      input: { ...report, to: reportTo },
      says: (input, { name }) => ({
        ...given({ to: input.to }),
        subject: `${input.taskId ?? name}: ${input.status}`.slice(0, 500),
        body: input.body ?? '',
        payload: toPayload(input),
      }),
    }),
  }),
  verb: () => ({
    name: 'status',
    summary: 'Ask for a status, answer, or report',
    description:
      'Ask an agent for its status (--of), answer a status request (--reply-to), or report to the lead.',
    examples: [
      'mailbox status --of ada --as lead',
      'mailbox status --reply-to ID --as ada --status working --body "Half of the tests."',
      'mailbox status --as ada --task T-7 --status completed',
    ],
    options: {
      of: option('word', '--of <agent>', 'ask this agent'),
      id: option('word', '--reply-to <id>', 'the request that this answers'),
      ...report,
      status: { ...report.status, required: false },
      to: reportTo,
    },
    choose({ of, body, ...rest }) {
      if (of !== undefined) return { action: 'requestStatus', input: given({ to: of, body }) }
      if (rest['status'] === undefined) {
        throw new MailboxError('invalid', 'there is no status to report', {
          hint: 'give --status, or ask an agent: --of NAME',
        })
      }
      const { to, ...answer } = rest
      return rest['id'] === undefined
        ? { action: 'updateStatus', input: given({ body, ...rest }) }
        : { action: 'respondStatus', input: given({ body, ...answer }) }
    },
  }),
})
