import { action, conversation } from './conversation.ts'
import { request, sayTask, withinMs } from './request.ts'
import { taskAnswers } from './task.ts'

const text = { kind: 'text' } as const

/** A check has failed, and somebody who can fix it is told. It is a task: settled when it is done. */
export const ci = conversation({
  name: 'CI failure',
  messages: {
    fix_ci_failure: {
      sentence: 'A CI check failed: fix it.',
      payload: {
        check: { ...text, label: 'Check' },
        // Other programs send `pr` and `error`.
        pr: { kind: 'any', label: 'PR' },
        url: { ...text, label: 'URL' },
        branch: { ...text, label: 'Branch' },
        commit: { ...text, label: 'Commit' },
        error: { kind: 'any', label: 'Error' },
        log: { ...text, label: 'Log' },
        withinMs,
      },
      opens: 'task',
      answerWith: taskAnswers,
    },
  },
  actions: () => ({
    reportCiFailure: action({
      type: 'fix_ci_failure',
      summary: 'Report a failed CI check',
      input: {
        ...request,
        to: { ...request.to, required: true },
        check: { kind: 'word', required: true },
        ...{ url: text, branch: text, commit: text, log: text },
      },
      says: ({ check, url, branch, commit, log, subject = `CI failed: ${check}`, ...input }) => ({
        ...sayTask({ ...input, subject }, { check, url, branch, commit, log }),
        requiresAck: true,
      }),
    }),
  }),
})
