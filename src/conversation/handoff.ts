import { MailboxError } from '../base/errors.ts'

/** What somebody needs to go on with another's work. */
export interface Handoff {
  workCompleted: string
  currentState?: string
  nextSteps?: readonly string[]
  blockers?: readonly string[]
  dependencies?: readonly string[]
  filesModified?: readonly string[]
  filesCreated?: readonly string[]
  /** A file that says more, such as STATE.md. */
  stateFile?: string
  relatedEscalations?: readonly string[]
  jobId?: string
  notes?: string
}

const texts = ['workCompleted', 'currentState', 'stateFile', 'jobId', 'notes'] as const
const lists = [
  'nextSteps',
  'blockers',
  'dependencies',
  'filesModified',
  'filesCreated',
  'relatedEscalations',
] as const

/** Fields of a handoff from outside: known names, and each of its kind. */
export function checkHandoff(value: Record<string, unknown>): Partial<Handoff> {
  for (const [field, given] of Object.entries(value)) {
    const isText = texts.some((name) => name === field) && typeof given === 'string'
    const isList =
      lists.some((name) => name === field) &&
      Array.isArray(given) &&
      given.every((item) => typeof item === 'string')
    if (!isText && !isList) {
      throw new MailboxError('invalid', `a handoff has no field ${JSON.stringify(field)} like that`, {
        hint: `texts: ${texts.join(', ')}; lists: ${lists.join(', ')}`,
      })
    }
  }
  return value as Partial<Handoff>
}

/** Common handoffs, to start from. A space adds its own as `templates/NAME.json`. */
export const templates: Record<string, Partial<Handoff>> = {
  implementation: {
    currentState: 'The design is settled; nothing is built yet.',
    nextSteps: ['Read the design', 'Build it with its tests', 'Hand it to a reviewer'],
  },
  review: {
    currentState: 'It is built and its tests pass.',
    nextSteps: ['Read the change', 'Answer with a verdict: approved, or what has to change'],
  },
  bug: {
    currentState: 'The failure is understood; it is not mended.',
    nextSteps: ['Write a test that fails because of it', 'Mend it', 'Say what caused it'],
  },
  research: {
    currentState: 'The question is open.',
    nextSteps: [
      'Collect what is known, with sources',
      'Answer with a recommendation and what speaks against it',
    ],
  },
}

/** What is given wins; lists of the template come first. */
export function fillTemplate(template: Partial<Handoff>, given: Handoff): Handoff {
  const joined = lists.flatMap((field) => {
    const items = [...(template[field] ?? []), ...(given[field] ?? [])]
    return items.length === 0 ? [] : [[field, items] as const]
  })
  return { ...template, ...given, ...Object.fromEntries(joined) }
}

/** The text of a handoff, written from its fields. */
export function handoffBody(from: string, to: string, handoff: Handoff): string {
  const { workCompleted, currentState, stateFile, jobId, notes } = handoff
  const list = (title: string, items: readonly string[] | undefined) =>
    items === undefined || items.length === 0
      ? []
      : ['', `**${title}:**`, ...items.map((item) => `- ${item}`)]
  const line = (title: string, text: string | undefined) => (text ? ['', `**${title}:** ${text}`] : [])
  return [
    `Work handoff from ${from} to ${to}.`,
    ...line('Work completed', workCompleted),
    ...line('Current state', currentState),
    ...list('Next steps', handoff.nextSteps),
    ...list('Blockers', handoff.blockers),
    ...list('Dependencies', handoff.dependencies),
    ...list('Files modified', handoff.filesModified),
    ...list('Files created', handoff.filesCreated),
    ...line('State file', stateFile),
    ...list('Related escalations', handoff.relatedEscalations),
    ...line('Job', jobId),
    ...line('Notes', notes),
  ].join('\n')
}
