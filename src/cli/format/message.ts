import { between, type Foreign, fenceLegend } from '../../conversation/fence.ts'
import { toFenced, toParts } from '../../conversation/render.ts'
import type { Priority } from '../../model/message.ts'
import { classOf, type ReceiptState } from '../../model/receipt.ts'
import { estimateTokens, toPrintable, toPrintableLine } from '../../model/text.ts'
import type { Cli } from '../cli.ts'
import type { Colors } from '../output.ts'
import { count } from '../progress.ts'
import { foreignText, foreignWords, subjectIn } from './foreign.ts'
import { table, wrap } from './table.ts'
import { relative } from './time.ts'

type Listed = Foreign & { state?: ReceiptState; seq?: number }

export function paintPriority(colors: Colors, priority: Priority): (text: string) => string {
  if (priority === 'urgent') return colors.red
  if (priority === 'high') return colors.yellow
  return priority === 'low' ? colors.dim : (text) => text
}

/**
 * Lists messages: an aligned line for each, with its id below. Ids from the same hour share a prefix, so they
 * are printed in full, ready to copy.
 */
export function messageList(cli: Cli, messages: readonly Listed[], who: 'from' | 'to'): string {
  return messageLines(cli, messages, who).join('\n')
}

/** One message as it arrives, without table headings. */
export const messageLine = (cli: Cli, message: Listed): string =>
  messageLines({ ...cli, now: Date.now() }, [message], 'from')
    .slice(1)
    .join('\n')

function messageLines(cli: Cli, messages: readonly Listed[], who: 'from' | 'to'): string[] {
  const { colors, width, now } = cli
  const bold = (text: string, at: number) => (isUnread(messages[at]!) ? colors.bold(text) : text)
  const [head = '', ...lines] = table(
    [
      { head: ' ' },
      { head: 'PRIORITY', paint: (text, at) => paintPriority(colors, messages[at]!.priority)(text) },
      { head: who.toUpperCase(), flexible: true, paint: colors.cyan },
      { head: 'SUBJECT', flexible: true, paint: bold },
      { head: 'SENT', paint: colors.dim },
    ],
    messages.map((message) => [
      isUnread(message) ? '●' : '',
      message.priority,
      who === 'from' ? message.from : message.to.join(', '),
      subjectIn(cli, message),
      relative(message.createdAt, now),
    ]),
    width,
    colors,
  )
  return [head, ...lines.flatMap((line, at) => [line, colors.dim(detail(cli, messages[at]!))])]
}

const isUnread = ({ state }: Listed) => state !== undefined && classOf(state) === 'unread'

/** With its number, which is shorter to type than the id. */
const detail = (cli: Cli, { seq, id, type, state, imported = false }: Listed) =>
  `   ${toPrintableLine([...(seq === undefined ? [] : [`#${seq}`]), id, foreignWords(cli, type), state ?? '', ...(imported ? ['imported'] : [])].join('  '))}`

/** Messages in full, one after another. Their marks are named at the top. */
export function messageBlocks(
  cli: Cli,
  messages: readonly Listed[],
  { budgetTokens }: Pick<BlockOptions, 'budgetTokens'> = {},
): string[] {
  return messages.map((message, at) =>
    messageBlock(cli, message, {
      place: `${at + 1} of ${messages.length}`,
      isFirst: at === 0,
      ...(budgetTokens === undefined ? {} : { budgetTokens }),
    }),
  )
}

export interface BlockOptions {
  /** Printed in the frame, such as `1 of 3`. */
  place?: string
  /** Truncate longer messages. */
  budgetTokens?: number
  /** Name the marks. @default true */
  isFirst?: boolean
}

/**
 * A message in full, in a frame with its id at both ends. Nobody knows the id of a message before it is
 * sent, so no body can fake its end and continue as another message. For an agent the words of the sender stand
 * between marks besides.
 */
export function messageBlock(cli: Cli, message: Listed, options: BlockOptions = {}): string {
  const { place, budgetTokens, isFirst = true } = options
  const { nonce } = cli
  const { ours, said, about } = nonce === undefined ? forPerson(cli, message) : toFenced(message)
  const text = nonce === undefined ? toPrintable(said) : foreignText(said)
  const head = nonce === undefined ? ours : toPrintable(ours)
  const isWhole = budgetTokens === undefined || estimateTokens(head + text) <= budgetTokens
  const shown = isWhole ? text : cutAt(text, Math.max(budgetTokens * 4 - Buffer.byteLength(head), leastBytes))
  const missing = count(text.length - shown.length)
  const rest = isWhole
    ? []
    : ['', `[${missing} more characters; to read the rest: ${cli.command(`read ${message.id}`)}]`]
  const top = place === undefined ? message.id : `${place} · ${message.id}`
  const legend = nonce !== undefined && isFirst ? [...wrap(fenceLegend(nonce), legendWidth(cli)), ''] : []
  const lines =
    nonce === undefined
      ? [head, '', shown]
      : [...legend, head, '', ...between(nonce, shown), ...(about === undefined ? [] : [about])]
  return [rule(cli, top), ...lines, ...rest, rule(cli, `end of ${message.id}`)].join('\n')
}

/** The head of a message as a person reads it on a terminal, and its text. Its id is in the frame. */
function forPerson(cli: Cli, message: Listed) {
  const { colors, width } = cli
  const handle = message.seq === undefined ? message.id : String(message.seq)
  const { mark, subject, facts, sentence, text } = toParts(message, handle)
  const own = facts.filter(({ label }) => label !== 'Id')
  const number = message.seq === undefined ? [] : [{ label: 'Number', text: `#${message.seq}` }]
  const rows = [...own, ...number]
  const labels = Math.max(...rows.map(({ label }) => label.length)) + 2
  const lines = rows.flatMap(({ label, text: value }) =>
    value
      .trim()
      .split('\n')
      .flatMap((line) => wrap(toPrintableLine(line), width - labels))
      .map(
        (line, at) =>
          `${colors.dim((at === 0 ? label : '').padEnd(labels))}${paintFact(cli, message, label, line)}`,
      ),
  )
  const title = `${paintPriority(colors, message.priority)(mark)}${colors.bold(toPrintableLine(subject))}`
  const about = sentence === undefined ? [] : ['', colors.dim(sentence)]
  return { ours: [title, '', ...lines, ...about].join('\n'), said: text.trimEnd(), about: undefined }
}

const paintFact = ({ colors }: Cli, { priority }: Listed, label: string, text: string): string => {
  if (label === 'From' || label === 'To') return colors.cyan(text)
  return label === 'Priority' ? paintPriority(colors, priority)(text) : text
}

/** On a terminal, the legend breaks between words. */
const legendWidth = ({ width }: Cli): number => (process.stdout.isTTY ? width : Number.POSITIVE_INFINITY)

/** What is shown of a long message however small the budget is. */
const leastBytes = 80

function rule({ colors, width }: Cli, label: string): string {
  return colors.dim(`━━━ ${label} ${'━'.repeat(Math.max(3, Math.min(width, 100) - label.length - 5))}`)
}

/** The first bytes of a text, without splitting a character. */
function cutAt(text: string, bytes: number): string {
  return new TextDecoder('utf-8').decode(Buffer.from(text).subarray(0, bytes), { stream: true })
}
