import type { Saying } from './conversation.ts'
import type { Fields, InputOf } from './field.ts'
import { given } from './field.ts'

export const withinMs = {
  kind: 'duration',
  label: 'Within',
  flag: '--within <duration>',
  about: 'the deadline, such as 15m or 2h; you are told when it passes',
} as const

export const taskId = { kind: 'text', label: 'Task' } as const

/** What every request takes. */
export const request = {
  to: { kind: 'word', flag: '--to <address>', about: 'the recipient (default: the lead)' },
  subject: { kind: 'text', flag: '--subject <text>', about: 'one line' },
  body: { kind: 'text', flag: '--body <text>', about: 'the text, in Markdown; - reads standard input' },
  priority: { kind: 'priority', flag: '--priority <priority>', about: 'low, normal, high, urgent' },
  withinMs,
} as const satisfies Fields

/** What every request has. */
export type RequestInput = InputOf<typeof request>

/** The message that an answer is to. */
export const idField = { kind: 'word', required: true, flag: '<id>', about: 'the message to answer' } as const

/** Work for somebody: it is settled when that is done. */
export const sayTask = (
  { to, subject = '', body = '', priority = 'high', withinMs }: RequestInput,
  payload: object,
): Saying => ({
  ...given({ to }),
  ...{ subject, body, priority, payload: given({ ...payload, withinMs }) },
})
