import { action, conversation, type Spoken } from './conversation.ts'
import { type Fields, fieldsOf, findMisfit, type InputOf } from './field.ts'
import { needed, option, request, sayTask, taskPriority, withinMs } from './request.ts'
import { taskAnswers } from './task.ts'

const comment = {
  body: { kind: 'text', required: true },
  path: { kind: 'text' },
  line: { kind: 'number' },
} as const satisfies Fields
export type ReviewComment = InputOf<typeof comment>

const sayComment = ({ path = '', line, body }: ReviewComment): string =>
  `${path}${line === undefined ? '' : `:${line}`} ${body}`.trim()

const sayCount = (count: number): string => `${count} review ${count === 1 ? 'comment' : 'comments'}`
const sayPr = (pr: unknown): string => `PR ${typeof pr === 'string' ? pr : JSON.stringify(pr)}`

/** Each comment on a line of its own. Mail of other programs may hold anything for one. */
function sayComments({ payload }: Spoken): string | undefined {
  const { comments, pr } = fieldsOf(payload)
  if (!Array.isArray(comments)) return undefined
  const lines = comments.flatMap((one) =>
    findMisfit(comment, one) === undefined ? [`- ${sayComment(one as ReviewComment)}`] : [],
  )
  return lines.length === 0
    ? undefined
    : [...(pr === undefined ? [] : [`${sayPr(pr)}:`]), ...lines].join('\n')
}

/** `src/a.ts:12: Too long.`: where it is, if it says so, and what. */
function readComment(text: string): ReviewComment {
  const [, path, line, body] = /^([^\s:]*[./][^\s:]*)(?::(\d+))?:\s+(.+)$/s.exec(text) ?? []
  return path === undefined
    ? { body: text }
    : { path, ...(line === undefined ? {} : { line: Number(line) }), body: body! }
}

/** The comments of a review go to whoever has to address them. It is a task: settled when it is done. */
export const review = conversation({
  name: 'review',
  messages: {
    fix_review_comments: {
      aka: ['fix_review', 'review_comments'],
      sentence: 'A review has comments: address each one.',
      payload: {
        pr: { kind: 'any', label: 'PR' },
        url: { kind: 'text', label: 'URL' },
        comments: { kind: 'records', fields: comment, label: 'Comment', says: sayComment },
        withinMs,
      },
      title: ({ comments }) => (Array.isArray(comments) ? sayCount(comments.length) : 'Review comments'),
      says: sayComments,
      opens: 'task',
      answerWith: taskAnswers,
    },
  },
  actions: () => ({
    reportReview: action({
      type: 'fix_review_comments',
      summary: 'Pass on review comments',
      input: {
        to: needed('<to>', 'who addresses them: an agent, role:NAME'),
        comments: {
          kind: 'records',
          fields: { ...comment, line: { kind: 'whole' } },
          required: true,
          flag: '--comment <text>',
          about: 'a comment: "PATH:LINE: TEXT", "PATH: TEXT" or "TEXT"; repeatable',
          reads: readComment,
        },
        pr: option('text', '--pr <pr>', 'the pull request: its number or address'),
        url: option('text', '--url <url>', 'where to see the review'),
        subject: { ...request.subject, about: 'one line (default: how many comments there are)' },
        body: { ...request.body, about: 'what stands before the comments; - reads standard input' },
        priority: { ...request.priority, about: taskPriority },
        withinMs,
      },
      tip: ['see what became of it', 'show ID'],
      says: ({ comments, pr, url, subject = sayCount(comments.length), body = '', ...rest }) => {
        const lines = comments.map((one) => `- ${sayComment(one)}`)
        const text = [body, ...lines].filter(Boolean).join('\n')
        return { ...sayTask({ ...rest, subject, body: text }, { comments, pr, url }), requiresAck: true }
      },
    }),
  }),
  verb: () => ({
    name: 'review',
    summary: 'Pass on review comments to whoever should address them',
    description:
      'Pass on the comments of a review. It is a task for its recipient: to be acknowledged, and open until it is done or has failed.',
    examples: [
      'mailbox review bob --as lead --pr 123 --comment "src/lexer.ts:42: This never ends." --comment "Add a test."',
    ],
  }),
})
