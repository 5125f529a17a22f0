import { fence, fenceLegend } from '../conversation/fence.ts'
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

/**
 * A message for a program that is talked to: what it is in our words, then what was sent, fenced. Nothing in
 * it can leave a paste or press a key: control characters are gone, tabs (they complete things) and line
 * breaks (they submit things) are replaced.
 */
export function wordsFor(message: Message, options: WordsOptions): Words {
  const { token, budgetBytes = defaultBudgetBytes, multiline = false } = options
  const room = multiline ? budgetBytes : Math.min(budgetBytes, mostBytes)
  for (let chars = room; ; chars = Math.floor(chars * 0.8)) {
    const typed = withMark(message, { ...options, chars })
    if (Buffer.byteLength(typed) <= room || chars < 40)
      return { text: typed, end: squeezed(`mail ${token}>>>`) }
  }
}

function withMark(message: Message, options: WordsOptions & { chars: number }): string {
  const { token, comment, chars, multiline = false } = options
  const [heading = '', ...fenced] = fence(message, { nonce: token, chars }).split('\n')
  // What was cut off is said before the fence, so that every text ends in the mark.
  const cut = fenced.at(-1)!.endsWith('>>>') ? [] : [fenced.pop()!]
  const head = [`[mailbox] ${heading}`, [fenceLegend(token), ...cut].join(' ')]
  const lines = [...head, ...fenced].map((line) => line.replace(/\t/g, '  '))
  return multiline
    ? lines.map((line) => `${comment}${line}`).join('\n')
    : `${comment}${lines.filter((line) => line.trim() !== '').join(' ⏎ ')}`
}

/** Everything that means something to a shell, anywhere in a line, is not in here. */
const unplain = /[^A-Za-z0-9@._/+-]+/g
const plain = (word: string, most: number): string => word.replace(unplain, '_').slice(0, most) || '_'

/**
 * A line for a program that runs what is typed. Not a word of it is the sender's but its name and the type,
 * and of those only letters and digits are left: even where the comment is none, nothing is run.
 */
export function noticeFor(
  messages: readonly Message[],
  { agent, comment, token }: Pick<WordsOptions, 'comment' | 'token'> & { agent: string },
): Words {
  const { id, from, type, priority } = messages[0]!
  const more = messages.length > 1 ? ` and ${messages.length - 1} more` : ''
  const head = `mail for ${plain(agent, 40)} from ${plain(from, 40)}${more}, ${plain(type, 30)}, ${priority}`
  const verb = messages.length > 1 ? 'check - the first is' : 'read'
  // An id can come from another space, and is a sender's word like the others.
  const command = `mailbox --as ${plain(agent, 120)} ${verb} ${plain(id, 60)}`
  return { text: `${comment}${head} - ${command} - ${token}`, end: squeezed(`- ${token}`) }
}
