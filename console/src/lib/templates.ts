import type { AnyAction, Saying, Spoken } from '../../../src/conversation/conversation.ts'
import type { Field } from '../../../src/conversation/field.ts'
import { handoffTemplates } from '../../../src/conversation/handoff.ts'
import { allActions, typeOf } from '../../../src/conversation/registry.ts'
import { labelFor, textOf } from '../../../src/conversation/words.ts'
import { parseDuration } from '../../../src/model/time.ts'
import { sentence } from './text.ts'

/** What a message can be written from: an action of a conversation, with the fields that people fill in. */
export interface Template {
  name: string
  label: string
  action: AnyAction
  /** What the text is for, beside the fields. */
  bodyAbout: string
  fields: readonly { name: string; label: string; field: Field }[]
  /** Beginnings, by name: values of its fields. */
  starts: Readonly<Record<string, object>>
}

const template = (
  name: string,
  label: string,
  actionName: string,
  names: readonly string[],
  starts: Template['starts'] = {},
): Template => {
  const action: AnyAction = allActions().find((one) => one.name === actionName)!
  const fields = names.map((one) => {
    const field = action.input[one] as Field
    const label = field.label ?? typeOf(action.type)?.payload?.[one]?.label ?? labelFor(one)
    return { name: one, label, field }
  })
  const about =
    (action.input['body'] as Field | undefined)?.about?.replace(/;.*/, '') ?? 'anything to say first'
  return {
    name,
    label,
    action,
    bodyAbout: `${sentence(about).replace(/\.$/, '')}, in Markdown`,
    fields,
    starts,
  }
}

export const templates: readonly Template[] = [
  template('task', 'Task', 'assignTask', ['taskId', 'withinMs', 'after']),
  template(
    'handoff',
    'Handoff',
    'handOff',
    ['workCompleted', 'currentState', 'nextSteps', 'blockers', 'filesModified', 'filesCreated', 'notes'],
    handoffTemplates,
  ),
  template('review', 'Review', 'reportReview', ['comments', 'pr', 'url', 'withinMs']),
]

export const templateOf = (name: string): Template | undefined => templates.find((one) => one.name === name)

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** Several lines, each a value of its own. */
export const isList = ({ kind }: Field): boolean => kind === 'texts' || kind === 'records'

function fieldValue({ kind, reads }: Field, typed: string): unknown {
  if (typed.trim() === '') return undefined
  if (kind === 'texts') return linesOf(typed)
  if (kind === 'records') return linesOf(typed).map((one) => reads?.(one))
  return kind === 'duration' ? parseDuration(typed) : typed.trim()
}

/** The text for its field: a list has a line for each. */
export const asTyped = (value: unknown): string => (Array.isArray(value) ? value.join('\n') : String(value))

export interface Filled {
  to: readonly string[]
  subject: string
  body: string
  priority: string
  values: Readonly<Record<string, string>>
}

/** What a filled template says. Fails when a duration is none. */
export function sayTemplate({ action, fields }: Template, filled: Filled): Saying & { type: string } {
  const { to, subject, body, priority, values } = filled
  const typed = fields.flatMap(({ name, field }) => {
    const value = fieldValue(field, values[name] ?? '')
    return value === undefined ? [] : [[name, value] as const]
  })
  const takesBody = 'body' in action.input
  const input = {
    ...{ to: to.join(', '), priority, comments: [] },
    ...(subject !== '' && { subject }),
    ...(takesBody && { body }),
    ...Object.fromEntries(typed),
  }
  const saying: Saying = action.says(input, { name: 'user', to: to.join(', ') })
  const spoken = { from: 'user', ...saying, to } as unknown as Spoken
  const text = saying.body || textOf(spoken, typeOf(action.type)) || ''
  // As on the command line: what was written besides the fields stands before them.
  return { ...saying, type: action.type, body: takesBody || body === '' ? text : `${body}\n\n${text}` }
}
