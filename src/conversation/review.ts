import { action, conversation } from './conversation.ts'
import type { Fields, InputOf } from './field.ts'
import { request, sayTask, withinMs } from './request.ts'
import { taskAnswers } from './task.ts'

const comment = {
  body: { kind: 'text', required: true },
  path: { kind: 'text' },
  line: { kind: 'number' },
} as const satisfies Fields
export type ReviewComment = InputOf<typeof comment>

const sayComment = ({ path = '', line, body }: ReviewComment): string =>
  `${path}${line === undefined ? '' : `:${line}`} ${body}`.trim()

/** The comments of a review go to whoever has to address them. It is a task: settled when it is done. */
export const review = conversation({
  name: 'review',
  messages: {
    fix_review_comments: {
      sentence: 'A review has comments: address each one.',
      payload: {
        pr: { kind: 'any', label: 'PR' },
        url: { kind: 'text', label: 'URL' },
        comments: { kind: 'records', fields: comment, label: 'Comment', says: sayComment },
        withinMs,
      },
      opens: 'task',
      answerWith: taskAnswers,
    },
  },
  actions: () => ({
    reportReview: action({
      type: 'fix_review_comments',
      summary: 'Pass on review comments',
      input: {
        ...request,
        to: { ...request.to, required: true },
        url: { kind: 'text' },
        comments: { kind: 'records', fields: { ...comment, line: { kind: 'whole' } }, required: true },
      },
      says: ({ comments, url, subject = `${comments.length} review comments`, body = '', ...input }) => {
        const lines = comments.map((one) => `- ${sayComment(one)}`)
        const text = [body, ...lines].filter(Boolean).join('\n')
        return { ...sayTask({ ...input, subject, body: text }, { comments, url }), requiresAck: true }
      },
    }),
  }),
})
