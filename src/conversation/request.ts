import { given } from '../base/objects.ts'
import type { Saying } from './conversation.ts'
import type { Field, Fields, InputOf } from './field.ts'

/** A field with its option on the command line. */
export const option = <const K extends Field['kind']>(kind: K, flag: string, about: string) =>
  ({ kind, flag, about }) as const
export const needed = (flag: string, about: string) =>
  ({ ...option('word', flag, about), required: true }) as const

/** A text that may come from standard input. */
export const input = (flag: string, about: string) =>
  ({ ...option('text', flag, `${about}; - reads standard input`), readsInput: true }) as const

/** What a payload says that can be one thing or the other. */
export const verdict = (label: string, yes: string, no: string) =>
  ({
    kind: 'boolean',
    required: true,
    label,
    says: (value: boolean) => (value ? yes : no),
    outline: (value: unknown) => (typeof value === 'boolean' ? value : undefined),
  }) as const

export const withinMs = {
  ...option(
    'duration',
    '--within <duration>',
    'the deadline, such as 15m or 2h; you are told when it passes',
  ),
  label: 'Within',
  outline: (value: unknown) => (typeof value === 'number' ? value : undefined),
} as const

export const taskId = {
  kind: 'text',
  label: 'Task',
  outline: (value: unknown) => (typeof value === 'string' ? value : undefined),
} as const

/** What every request takes. */
export const request = {
  to: option('word', '--to <address>', 'the recipient (default: the lead)'),
  subject: option('text', '--subject <text>', 'one line'),
  body: input('--body <text>', 'the text, in Markdown'),
  priority: option('priority', '--priority <priority>', 'low, normal, high, urgent, or 1 to 4'),
  withinMs,
} as const satisfies Fields

/** What every request has. */
export type RequestInput = InputOf<typeof request>

/** The message that an answer is to. */
export const idField = needed('<id>', 'the message to answer')

export const taskPriority = 'low, normal, high, urgent, or 1 to 4 (default high)'

/** Work for somebody: it is settled when that is done. */
export const sayTask = (
  { to, subject = '', body = '', priority = 'high', withinMs }: RequestInput,
  payload: object,
): Saying => ({
  ...given({ to }),
  ...{ subject, body, priority, payload: given({ ...payload, withinMs }) },
})
