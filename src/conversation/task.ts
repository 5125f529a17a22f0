import { action, conversation } from './conversation.ts'
import { fieldsOf } from './field.ts'
import { request, sayTask, taskId, withinMs } from './request.ts'

/** How a recipient says what became of work. */
export const taskAnswers = ['mailbox start ID', 'mailbox done ID', 'mailbox fail ID --reason R'] as const

/** Somebody is given work, and settles it by handling the message or by a report that names the task. */
export const task = conversation({
  name: 'task',
  messages: {
    task_assignment: {
      sentence: 'A task was assigned.',
      payload: { taskId, withinMs },
      opens: 'task',
      answerWith: taskAnswers,
      isComposed: true,
    },
  },
  matter: {
    kind: 'task',
    steps: {
      finish: { from: ['open', 'failed'], to: 'done', done: 'finished' },
      fail: { from: ['open'], to: 'failed' },
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
        to: { ...request.to, required: true },
        subject: { kind: 'word', required: true },
        taskId: { kind: 'word' },
      },
      says: (input) => sayTask(input, { taskId: input.taskId }),
    }),
  }),
})
