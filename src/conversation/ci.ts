import { action, conversation, type Spoken } from './conversation.ts'
import { wordIn } from './field.ts'
import { input, needed, option, request, sayTask, taskPriority, withinMs } from './request.ts'
import { taskAnswers } from './task.ts'

const text = { kind: 'text' } as const

/** `The check lint failed on PR #123, branch main.`, and what it reported. */
function sayFailure({ payload }: Spoken): string {
  const word = (name: string) => wordIn(payload, name)
  const places = ['pr', 'branch', 'commit'].flatMap((name) => {
    const value = word(name)
    return value === undefined ? [] : [`${name === 'pr' ? 'PR' : name} ${value}`]
  })
  const check = word('check') === undefined ? 'A check' : `The check ${word('check')}`
  const where = places.length === 0 ? '' : ` on ${places.join(', ')}`
  return [`${check} failed${where}.`, word('error'), word('url')]
    .filter((part) => part !== undefined)
    .join('\n\n')
}

/** A check has failed, and somebody who can fix it is told. It is a task: settled when it is done. */
export const ci = conversation({
  name: 'CI failure',
  messages: {
    fix_ci_failure: {
      aka: ['fix_ci', 'ci_failure'],
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
      title: ({ check }) => (check === undefined ? 'CI failed' : `CI failed: ${String(check)}`),
      says: sayFailure,
      opens: 'task',
      answerWith: taskAnswers,
    },
  },
  actions: () => ({
    reportCiFailure: action({
      type: 'fix_ci_failure',
      summary: 'Report a failed CI check',
      input: {
        to: needed('<to>', 'who fixes it: an agent, role:NAME'),
        check: needed('--check <name>', 'the check that failed'),
        pr: option('text', '--pr <pr>', 'the pull request: its number or address'),
        branch: option('text', '--branch <name>', 'the branch'),
        commit: option('text', '--commit <id>', 'the commit'),
        url: option('text', '--url <url>', 'where to see the run'),
        error: input('--error <text>', 'what the check reported'),
        log: input('--log <text>', 'the end of its log'),
        subject: { ...request.subject, about: 'one line (default: CI failed: CHECK)' },
        body: {
          ...request.body,
          about: 'more about it (default: what failed and where); - reads standard input',
        },
        priority: { ...request.priority, about: taskPriority },
        withinMs,
      },
      tip: ['see what became of it', 'show ID'],
      says: ({ check, pr, url, branch, commit, error, log, subject = `CI failed: ${check}`, ...rest }) => ({
        ...sayTask({ ...rest, subject }, { check, pr, url, branch, commit, error, log }),
        requiresAck: true,
      }),
    }),
  }),
  verb: () => ({
    name: 'ci-failure',
    summary: 'Report a failed CI check to whoever should fix it',
    description:
      'Report a failed CI check. It is a task for its recipient: to be acknowledged, and open until it is done or has failed.',
    examples: [
      'mailbox ci-failure bob --as lead --check lint --pr 123 --error "Missing semicolon at line 42"',
      'mailbox ci-failure role:ci --as ci --check test --branch main --log - < test.log',
    ],
  }),
})
