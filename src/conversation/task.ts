import type { Message } from '../model/message.ts'
import { action, conversation } from './conversation.ts'
import { fieldsOf, wordIn } from './field.ts'
import { needed, option, request, sayTask, taskId, taskPriority, withinMs } from './request.ts'

/** How a recipient says what became of work. */
export const taskAnswers = ['mailbox start ID', 'mailbox done ID', 'mailbox fail ID --reason R'] as const

/** Tasks that have to be done before this one can be taken. */
const after = { kind: 'texts', label: 'After' } as const

/** What has to be done before the work that a message asks for, by task or message. */
export function prerequisites({ type, payload }: Pick<Message, 'type' | 'payload'>): readonly string[] {
  const { after: ids } = type === 'task_assignment' ? fieldsOf(payload) : {}
  return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === 'string') : []
}

/** Somebody is given work, and settles it by handling the message or by a report that names the task. */
export const task = conversation({
  name: 'task',
  messages: {
    task_assignment: {
      sentence: 'A task was assigned.',
      payload: { taskId, description: { kind: 'text', label: 'Description' }, after, withinMs },
      title: ({ taskId: id }) => (id === undefined ? 'A task' : `Task ${id}`),
      says: ({ payload }) => wordIn(payload, 'description'),
      opens: 'task',
      answerWith: taskAnswers,
      isComposed: true,
    },
  },
  matter: {
    kind: 'task',
    steps: {
      finish: { from: ['open', 'failed'], to: 'done', done: 'finished' },
      // Whoever gave the task decides what comes next, so it stays open.
      fail: { from: ['open'], to: 'failed', staysOpen: true },
    },
    handled: { done: 'finish', fail: 'fail' },
    key: ({ id, payload }) => {
      const { taskId: key } = fieldsOf(payload)
      return typeof key === 'string' && key !== '' ? key : id
    },
    owes: 'work',
  },
  actions: () => ({
    assignTask: action({
      type: 'task_assignment',
      summary: 'Assign a task',
      input: {
        ...request,
        to: needed('<to>', 'who does it: an agent, role:NAME'),
        subject: needed('--subject <text>', 'the task in one line'),
        body: { ...request.body, about: 'what to do, and when it is done; - reads standard input' },
        priority: { ...request.priority, about: taskPriority },
        taskId: option('word', '--task <id>', 'its id, by which reports name it'),
        after: {
          ...after,
          ...option(
            'texts',
            '--after <id>',
            'a task that has to be done first: its id or message; repeatable',
          ),
        },
      },
      tip: ['see what became of it', 'show ID'],
      says: (input) => sayTask(input, { taskId: input.taskId, after: input.after }),
    }),
  }),
  verb: () => ({
    name: 'task',
    summary: 'Assign a task',
    description:
      'Assign a task to an agent, or to whoever takes it for a role. It is open until it is done or has failed, and you are told. One that comes after others cannot be taken before those are done.',
    examples: [
      'mailbox task bob --as lead --subject "Build the lexer" --body "See DESIGN.md." --task T-7 --within 2h',
      'mailbox task role:worker --as lead --subject "Update the docs" --priority normal --after T-7',
    ],
  }),
})
