import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { action, conversation, type Spoken, type Surroundings } from './conversation.ts'
import { type Field, type Fields, findMisfit, type InputOf } from './field.ts'
import { needed, option, request } from './request.ts'
import { taskAnswers } from './task.ts'

const text = (label: string, flag: string, about: string) => ({ ...option('text', flag, about), label })
const texts = (label: string, flag: string, about: string) => ({ ...option('texts', flag, about), label })

/** What somebody needs to continue another's work. It is the context of the message, and its body in words. */
const handoffFields = {
  workCompleted: { ...needed('--work-completed <text>', 'what was done'), label: 'Work completed' },
  currentState: text('Current state', '--current-state <text>', 'the current state of the work'),
  nextSteps: texts('Next steps', '--next-step <text>', 'what to do next; repeatable'),
  blockers: texts('Blockers', '--blocker <text>', 'what is in the way; repeatable'),
  dependencies: texts('Dependencies', '--dependency <text>', 'what it depends on; repeatable'),
  filesModified: texts('Files modified', '--file-modified <path>', 'a file that was changed; repeatable'),
  filesCreated: texts('Files created', '--file-created <path>', 'a file that was created; repeatable'),
  stateFile: text('State file', '--state-file <path>', 'a file that says more, such as STATE.md'),
  relatedEscalations: texts('Related escalations', '--escalation <id>', 'a related escalation; repeatable'),
  jobId: text('Job', '--job <id>', 'the job it is part of'),
  notes: text('Notes', '--notes <text>', 'anything else'),
} as const satisfies Fields

export type Handoff = InputOf<typeof handoffFields>

/** The same, as many of them as there are. */
const someFields: Fields = Object.fromEntries(
  Object.entries<Field>(handoffFields).map(([name, field]) => [name, { ...field, required: false }]),
)

/** Fields of a handoff from outside: known names, each of its kind. */
function checkHandoff(value: Record<string, unknown>): Partial<Handoff> {
  const fields: Fields = handoffFields
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(fields, name))
  const misfit = findMisfit(someFields, value)
  if (unknown === undefined && misfit === undefined) return value as Partial<Handoff>
  const problem =
    unknown === undefined ? `${misfit!.path[0]} ${misfit!.problem}` : `no field ${JSON.stringify(unknown)}`
  throw new MailboxError('invalid', `a handoff: ${problem}`, {
    hint: `fields: ${Object.keys(fields).join(', ')}`,
  })
}

/** Common handoffs to start from. A space adds its own as `templates/NAME.json`. */
export const handoffTemplates: Record<string, Partial<Handoff>> = {
  implementation: {
    currentState: 'The design is settled; nothing is built yet.',
    nextSteps: ['Read the design', 'Build it with its tests', 'Hand it to a reviewer'],
  },
  review: {
    currentState: 'It is built and its tests pass.',
    nextSteps: ['Read the change', 'Answer with a verdict: approved, or what has to change'],
  },
  bug: {
    currentState: 'The failure is understood; it is not fixed.',
    nextSteps: ['Write a test that fails because of it', 'Fix it', 'Say what caused it'],
  },
  research: {
    currentState: 'The question is open.',
    nextSteps: [
      'Collect what is known, with sources',
      'Answer with a recommendation and what speaks against it',
    ],
  },
}

async function findTemplate(mailbox: Surroundings, name: string): Promise<Partial<Handoff>> {
  const own = await mailbox.template(name)
  if (own !== null) return checkHandoff(own)
  const known = Object.hasOwn(handoffTemplates, name) ? handoffTemplates[name] : undefined
  if (known !== undefined) return known
  throw new MailboxError('not_found', `there is no template ${JSON.stringify(name)}`, {
    hint: `built in: ${Object.keys(handoffTemplates).join(', ')}; a space adds its own as templates/NAME.json`,
  })
}

/** What is given wins; lists of the template come first. */
function fillTemplate(template: Partial<Handoff>, own: Partial<Handoff>): Partial<Handoff> {
  const both = Object.entries({ ...template, ...own }).map(([name, value]) => {
    const before = template[name as keyof Handoff]
    const after = own[name as keyof Handoff]
    return [name, Array.isArray(before) && Array.isArray(after) ? [...before, ...after] : value]
  })
  return Object.fromEntries(both) as Partial<Handoff>
}

/** The text of a handoff, written from its fields. */
function toBody(from: string, to: string, handoff: Partial<Handoff>): string {
  const parts = Object.entries(handoffFields).flatMap(([name, { label }]) => {
    const value: string | readonly string[] | undefined = handoff[name as keyof Handoff]
    if (value === undefined || value.length === 0) return []
    return typeof value === 'string'
      ? ['', `**${label}:** ${value}`]
      : ['', `**${label}:**`, ...value.map((item) => `- ${item}`)]
  })
  return [`Work handoff from ${from} to ${to}.`, ...parts].join('\n')
}

/** The same for a handoff of another program, whose names may be written `work_completed`. */
function sayWork({ from, to, context }: Spoken): string | undefined {
  if (context === undefined) return undefined
  const named = Object.keys(handoffFields).flatMap((name) => {
    const value = context[name] ?? context[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]
    return value === undefined || value === null ? [] : [[name, value]]
  })
  const work = Object.fromEntries(named) as Partial<Handoff>
  const isWork = named.length > 0 && findMisfit(someFields, work) === undefined
  return isWork ? toBody(from, to.join(', '), work) : undefined
}

/** Work goes to somebody else with everything needed to continue it. It is a task: settled when it is done. */
export const handoff = conversation({
  name: 'handoff',
  messages: {
    handoff: {
      sentence: 'Work was handed over: continue from its current state.',
      says: sayWork,
      opens: 'task',
      answerWith: taskAnswers,
    },
  },
  actions: () => ({
    handOff: action({
      type: 'handoff',
      summary: 'Hand over work with everything needed to continue it',
      input: {
        to: needed('<to>', 'who takes it on: an agent, role:NAME'),
        subject: needed('--subject <text>', 'one line'),
        ...handoffFields,
        template: option(
          'word',
          '--template <name>',
          `start from ${Object.keys(handoffTemplates).join(', ')} or a template of the space`,
        ),
        priority: { ...request.priority, about: 'low, normal, high, urgent, or 1 to 4 (default normal)' },
        swarm: option('word', '--swarm <name>', 'the swarm it is for'),
        replyTo: { kind: 'word' },
      },
      async prepare(mailbox, { to, subject, priority, template, swarm, replyTo, ...own }) {
        checkHandoff(own)
        if (!own.workCompleted)
          throw new MailboxError('invalid', 'a handoff says what was done', { hint: 'give --work-completed' })
        const filled = template === undefined ? own : fillTemplate(await findTemplate(mailbox, template), own)
        return { ...(filled as Handoff), to, subject, ...given({ priority, swarm, replyTo }) }
      },
      says: ({ to, subject, priority = 'normal', template: _, swarm, replyTo, ...work }, { name }) => ({
        ...{ to, subject, priority, body: toBody(name, to, work), context: { ...work } },
        attachments: [...(work.filesModified ?? []), ...(work.filesCreated ?? [])],
        ...given({ swarm, replyTo }),
      }),
    }),
  }),
  verb: () => ({
    name: 'handoff',
    group: 'send',
    summary: 'Hand over work with its state and next steps',
    description:
      'Hand work over, with what was done, its current state and what comes next. Files are attached by their paths.',
    examples: [
      'mailbox handoff bob --as ada --subject "Parser" --work-completed "Design in DESIGN.md" --next-step "Build it" --file-modified DESIGN.md',
      'mailbox handoff role:reviewer --as bob --subject "Parser" --work-completed "Built, 40 tests" --template review',
    ],
  }),
})

export type HandoffInput = InputOf<ReturnType<typeof handoff.actions>['handOff']['input']>
