import type { Message } from '../model/message.ts'
import { fence } from '../protocol/fence.ts'
import { squeezed } from './screen.ts'

/** What is typed, and how it ends: where that is seen, all of it has arrived. */
export interface Words {
  text: string
  end: string
}

export interface WordsOptions {
  /** Made for this attempt, so that nobody can have written it. */
  token: string
  /** @default {@link defaultBudgetBytes} */
  budgetBytes?: number
  /** @default false: one line, so that only our Enter submits it */
  multiline?: boolean
}

/** A terminal that reads by lines keeps so much of one and drops the rest: 4,095 bytes on Linux, fewer elsewhere. */
export const mostBytes = process.platform === 'linux' ? 3_800 : 900
export const defaultBudgetBytes = process.platform === 'linux' ? 2_000 : 900

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

/** What a payload of a known type says, as lines that can be read without JSON. */
const sayings: Record<string, (payload: Record<string, unknown>) => string[]> = {
  fix_ci_failure: ({ check, url, branch, commit, log }) =>
    labelled({ Check: check, URL: url, Branch: branch, Commit: commit, Log: log }),
  // The comments stand in the body already (talk/requests.ts), unless another program has sent it.
  fix_review_comments: ({ url, comments }) => [...labelled({ URL: url }), ...commentLines(comments)],
  shutdown_request: ({ reason, withinMs }) => labelled({ Reason: reason, Within: seconds(withinMs) }),
  shutdown_response: ({ accepted, reason }) =>
    labelled({ Answer: accepted === true ? 'accepted' : 'deferred', Reason: reason }),
  plan_submission: ({ taskId, withinMs }) => labelled({ Task: taskId, Within: seconds(withinMs) }),
  plan_approval: ({ approved, feedback }) =>
    labelled({ Verdict: approved === true ? 'approved' : 'rejected', Feedback: feedback }),
  status_request: ({ withinMs }) => labelled({ Within: seconds(withinMs) }),
  status_response: statusLines,
  status_update: statusLines,
  task_assignment: ({ taskId, withinMs }) => labelled({ Task: taskId, Within: seconds(withinMs) }),
  help_request: ({ withinMs }) => labelled({ Within: seconds(withinMs) }),
  escalation: ({ level, reason, related }) => labelled({ Level: level, Reason: reason, Related: related }),
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const labelled = (values: Record<string, unknown>): string[] =>
  Object.entries(values).flatMap(([label, value]) =>
    value === undefined || value === '' ? [] : `${label}: ${text(value)}`,
  )
const seconds = (ms: unknown) => (typeof ms === 'number' ? `${Math.round(ms / 1_000)} s` : undefined)

function statusLines({ taskId, status, progress }: Record<string, unknown>): string[] {
  const share = typeof progress === 'number' ? `${Math.round(progress * 100)} %` : undefined
  return labelled({ Task: taskId, Status: status, Progress: share })
}

function commentLines(comments: unknown): string[] {
  if (!Array.isArray(comments)) return []
  return (comments as Record<string, unknown>[]).map(
    ({ path, line, body }) =>
      `- ${text(path ?? '')}${line === undefined ? '' : `:${text(line)}`} ${text(body ?? '')}`,
  )
}

/** A message with its payload in words, where its type has any. */
function said(message: Message): Message {
  const { payload, body, ...rest } = message
  const say = Object.hasOwn(sayings, message.type) ? sayings[message.type] : undefined
  if (say === undefined || payload === null || typeof payload !== 'object') return message
  const lines = say(payload as Record<string, unknown>).filter((line) => !body.includes(line))
  return { ...rest, body: [body, ...lines].filter(Boolean).join('\n') }
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
    const typed = withMark(whole, token, chars, multiline)
    if (Buffer.byteLength(typed) <= room || chars < 40)
      return { text: typed, end: squeezed(`mail ${token}>>>`) }
  }
}

function withMark(message: Message, token: string, chars: number, multiline: boolean): string {
  const [heading = '', ...fenced] = fence(message, { nonce: token, chars }).split('\n')
  // What was cut off is said before the fence, so that every text ends in the mark.
  const cut = fenced.at(-1)!.endsWith('>>>') ? [] : [fenced.pop()!]
  const ask = Object.hasOwn(asks, message.type) ? [asks[message.type]!] : []
  const head = ['[mailbox]', heading, ...ask, ...cut].join(' ')
  const lines = [head, ...fenced].map((line) => line.replace(/\t/g, '  '))
  return multiline ? lines.join('\n') : lines.filter((line) => line.trim() !== '').join(' ⏎ ')
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
