import { given } from '../base/objects.ts'
import { action, conversation } from './conversation.ts'
import { fieldsOf, wordIn } from './field.ts'
import { needed, option, request, taskId, verdict, withinMs } from './request.ts'

const planId = needed('<id>', 'the plan')

/** An agent submits a plan; whoever it asks approves or rejects it; a rejected plan can be revised. */
export const plan = conversation({
  name: 'plan',
  messages: {
    plan_submission: {
      sentence: 'A plan is waiting for approval.',
      payload: { taskId, withinMs },
      title: ({ taskId: task }) => (task === undefined ? 'A plan' : `A plan for ${task}`),
      opens: 'plan',
      takes: () => 'revise',
      need: { kind: 'plan', label: 'plan to approve' },
    },
    plan_approval: {
      sentence: 'A plan was decided.',
      payload: {
        approved: verdict('Verdict', 'approved', 'rejected'),
        feedback: { kind: 'text', label: 'Feedback' },
      },
      title: ({ approved }) => (approved === true ? 'Plan approved' : 'Plan rejected'),
      says: ({ payload }) => {
        const verdict = fieldsOf(payload)['approved'] === true ? 'Approved' : 'Rejected'
        const feedback = wordIn(payload, 'feedback')
        return feedback === undefined ? `${verdict}.` : `${verdict}: ${feedback}`
      },
      answers: 'plan_submission',
      takes: ({ approved }) => (approved === true ? 'approve' : 'reject'),
      isBound: true,
    },
  },
  matter: {
    kind: 'plan',
    steps: {
      approve: { from: ['open'], to: 'approved' },
      reject: { from: ['open'], to: 'rejected' },
      revise: { from: ['rejected'], to: 'revised', by: 'asker' },
    },
    // An agent has one open plan for a task at a time.
    key: ({ from, payload }) => {
      const { taskId: about } = fieldsOf(payload)
      return `${from} ${typeof about === 'string' ? about : ''}`
    },
    isOnly: true,
    owes: 'approval',
    blocks: true,
  },
  actions: () => ({
    submitPlan: action({
      type: 'plan_submission',
      command: 'submit',
      summary: 'Submit a plan, or a new version of one that was rejected',
      input: {
        ...request,
        to: { ...request.to, about: 'who decides (default: the lead)' },
        subject: needed('--subject <text>', 'what the plan is about'),
        body: { ...request.body, required: true, about: 'the plan, in Markdown; - reads standard input' },
        taskId: option('word', '--task <id>', 'the task it is for'),
        revises: option('word', '--revises <id>', 'the rejected plan that this one replaces'),
      },
      says: ({ to, subject, body, priority = 'high', taskId: task, withinMs: within, revises }) => ({
        ...{ subject, body, priority, payload: given({ taskId: task, withinMs: within }) },
        ...given({ to, replyTo: revises }),
      }),
    }),
    approvePlan: action({
      type: 'plan_approval',
      command: 'approve',
      summary: 'Approve a plan',
      positional: ['id'],
      input: { id: planId, feedback: option('text', '--feedback <text>', 'what to keep in mind') },
      step: 'approve',
      reason: { field: 'feedback' },
      button: { label: 'Approve', done: 'Plan approved' },
      says: ({ feedback }) => ({
        body: feedback ?? 'Approved.',
        payload: { approved: true, ...given({ feedback }) },
      }),
    }),
    rejectPlan: action({
      type: 'plan_approval',
      command: 'reject',
      summary: 'Reject a plan, with what has to change',
      positional: ['id'],
      input: { id: planId, feedback: needed('--feedback <text>', 'what has to change') },
      step: 'reject',
      reason: { field: 'feedback', otherwise: 'Rejected without feedback.' },
      button: { label: 'Reject', done: 'Plan rejected', asks: 'What should change' },
      says: ({ feedback }) => ({ body: feedback, payload: { approved: false, feedback } }),
    }),
  }),
  verb: () => ({
    name: 'plan',
    summary: 'Submit, approve or reject a plan',
    description: 'Submit a plan, and approve or reject one. An agent has one open plan for a task at a time.',
    examples: [
      'mailbox plan submit --as ada --to role:lead --subject "Split the parser" --body "First the lexer ..." --task T-7',
      'mailbox plan approve ID --as lead --feedback "Keep the tests green."',
      'mailbox plan reject ID --as lead --feedback "Too large: start with the lexer."',
      'mailbox plan submit --as ada --subject "Split the lexer" --body "..." --task T-7 --revises ID',
    ],
  }),
})
