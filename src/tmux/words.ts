import { fence } from '../conversation/fence.ts'
import type { Message } from '../model/message.ts'
import { squeezed } from './screen.ts'

/** What is typed, and how it ends: where that is seen, all of it has arrived. */
export interface Words {
  text: string
  end: string
}

export interface WordsOptions {
  /** Made for this attempt, so that nobody can have written it. */
  token: string
  /** How the text, or each of its lines, begins; where it is a comment to shells, one that comes to read it by accident runs nothing. */
  comment: string
  /** @default {@link defaultBudgetBytes} */
  budgetBytes?: number
  /** @default false: one line, so that only our Enter submits it */
  multiline?: boolean
}

/** A terminal that reads by lines keeps so much of one and drops the rest: 4,095 bytes on Linux, fewer elsewhere. */
const mostBytes = process.platform === 'linux' ? 3_800 : 900
const defaultBudgetBytes = process.platform === 'linux' ? 2_000 : 900

/** What each known type asks for, before the message itself. Aider and its like know nothing of a mailbox. */
const asks: Record<string, string> = {
  request: 'It asks for something.',
  response: 'It answers you.',
  handoff: 'It hands work over to you: take it up where it stands.',
  escalation: 'Something was escalated to you: decide it, or pass it on.',
  help_request: 'Somebody is stuck and waits for your answer.',
  status_request: 'Say how far you are: task, branch, what blocks you, when you expect to be done.',
  status_response: 'It answers your question for a status.',
  status_update: 'It reports on a task; nothing is asked of you.',
  shutdown_request: 'SHUTDOWN: finish or save what you are at, and stop.',
  shutdown_response: 'It answers your request to stop.',
  plan_submission: 'A plan waits for your approval.',
  plan_approval: 'Your plan was decided on.',
  task_assignment: 'A task is assigned to you.',
  fix_ci_failure: 'A CI check has failed: mend what it says.',
  fix_review_comments: 'A review has comments: see to each of them.',
  error: 'Something went wrong with mail of yours.',
  broadcast: 'It went to everybody.',
}

/** What the payload of a known type says, by field: a label for each. Other programs use other names (pr, error). */
const labels: Record<string, Record<string, string>> = {
  fix_ci_failure: {
    ...{
      check: 'Check',
      pr: 'PR',
      url: 'URL',
      branch: 'Branch',
      commit: 'Commit',
      error: 'Error',
      log: 'Log',
    },
  },
  fix_review_comments: { pr: 'PR', url: 'URL', comments: 'Comment' },
  shutdown_request: { reason: 'Reason', withinMs: 'Within' },
  shutdown_response: { accepted: 'Accepted', reason: 'Reason' },
  plan_submission: { taskId: 'Task', withinMs: 'Within' },
  plan_approval: { approved: 'Approved', feedback: 'Feedback' },
  status_request: { withinMs: 'Within' },
  status_response: { taskId: 'Task', status: 'Status', progress: 'Progress' },
  status_update: { taskId: 'Task', status: 'Status', progress: 'Progress' },
  task_assignment: { taskId: 'Task', withinMs: 'Within' },
  help_request: { withinMs: 'Within' },
  escalation: { level: 'Level', reason: 'Reason', related: 'Related' },
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** A value as people say it; a list is several. */
function sayings(field: string, value: unknown): string[] {
  if (typeof value === 'boolean') return [value ? 'yes' : 'no']
  if (field === 'withinMs') return [`${Math.round(Number(value) / 1_000)} s`]
  if (field === 'progress') return [`${Math.round(Number(value) * 100)} %`]
  if (field === 'comments' && Array.isArray(value)) return (value as Record<string, unknown>[]).map(comment)
  return [asText(value)]
}

const comment = ({ path, line, body }: Record<string, unknown>): string =>
  `${asText(path ?? '')}${line === undefined ? '' : `:${asText(line)}`} ${asText(body ?? '')}`.trim()

/** A message with its payload in words, where its type has any; the rest of it stays what it was. */
function said(message: Message): Message {
  const { payload, body, ...rest } = message
  const known = Object.hasOwn(labels, message.type) ? labels[message.type]! : {}
  if (payload === null || typeof payload !== 'object' || Array.isArray(payload)) return message
  const fields = Object.entries(payload)
  const lines = fields
    .filter(([field]) => Object.hasOwn(known, field))
    .flatMap(([field, value]) => sayings(field, value).map((saying) => ({ label: known[field]!, saying })))
    // What the body says already is not said again.
    .filter(({ saying }) => saying !== '' && !body.includes(saying))
    .map(({ label, saying }) => `${label}: ${saying}`)
  const unsaid = fields.filter(([field]) => !Object.hasOwn(known, field))
  return {
    ...rest,
    body: [body, ...lines].filter(Boolean).join('\n'),
    ...(unsaid.length === 0 ? {} : { payload: Object.fromEntries(unsaid) }),
  }
}

/**
 * A message for a program that is talked to: what it is in our words, then what was sent, fenced. Nothing in
 * it can leave a paste or press a key: control characters are gone, tabs (they complete things) and line
 * breaks (they submit things) are replaced.
 */
export function wordsFor(message: Message, options: WordsOptions): Words {
  const { token, budgetBytes = defaultBudgetBytes, multiline = false } = options
  const room = Math.min(budgetBytes, multiline ? budgetBytes : mostBytes)
  const whole = said(message)
  for (let chars = room; ; chars = Math.floor(chars * 0.8)) {
    const typed = withMark(whole, { ...options, chars })
    if (Buffer.byteLength(typed) <= room || chars < 40)
      return { text: typed, end: squeezed(`mail ${token}>>>`) }
  }
}

function withMark(message: Message, options: WordsOptions & { chars: number }): string {
  const { token, comment, chars, multiline = false } = options
  const [heading = '', ...fenced] = fence(message, { nonce: token, chars }).split('\n')
  // What was cut off is said before the fence, so that every text ends in the mark.
  const cut = fenced.at(-1)!.endsWith('>>>') ? [] : [fenced.pop()!]
  const ask = Object.hasOwn(asks, message.type) ? [asks[message.type]!] : []
  const head = ['[mailbox]', heading, ...ask, ...cut].join(' ')
  const lines = [head, ...fenced].map((line) => line.replace(/\t/g, '  '))
  return multiline
    ? lines.map((line) => `${comment}${line}`).join('\n')
    : `${comment}${lines.filter((line) => line.trim() !== '').join(' ⏎ ')}`
}

export interface NoticeOptions {
  agent: string
  /** How a comment begins there. */
  comment: string
  token: string
}

/** Everything that means something to a shell, anywhere in a line, is not in here. */
const unplain = /[^A-Za-z0-9@._/+-]+/g
const plain = (word: string, most: number): string => word.replace(unplain, '_').slice(0, most) || '_'

/**
 * A line for a program that runs what is typed. Not a word of it is the sender's but its name and the type,
 * and of those only letters and digits are left: even where the comment is none, nothing is run.
 */
export function noticeFor(messages: readonly Message[], options: NoticeOptions): Words {
  const { agent, comment, token } = options
  const [first] = messages
  const { id, from, type, priority } = first!
  const more = messages.length > 1 ? ` and ${messages.length - 1} more` : ''
  const head = `mail for ${plain(agent, 40)} from ${plain(from, 40)}${more}, ${plain(type, 30)}, ${priority}`
  const verb = messages.length > 1 ? 'check - the first is' : 'read'
  // An id can come from another space, and is a sender's word like the others.
  const command = `mailbox --as ${plain(agent, 120)} ${verb} ${plain(id, 60)}`
  return { text: `${comment}${head} - ${command} - ${token}`, end: squeezed(`- ${token}`) }
}
