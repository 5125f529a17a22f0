import { type Foreign, plainWord } from '../../conversation/fence.ts'
import { typeOf } from '../../conversation/registry.ts'
import { encryptedWords, importedWords } from '../../conversation/render.ts'
import { wordsOf } from '../../conversation/words.ts'
import { systemAgent } from '../../model/agent.ts'
import type { Message } from '../../model/message.ts'
import type { LadderStep, ReceiptView } from '../../model/receipt.ts'
import { shownOf } from '../../model/shown-fields.ts'
import { type SignatureState, signatureText } from '../../model/signature-state.ts'
import { toPrintable, toPrintableLine } from '../../model/text.ts'
import type { Escalation } from '../../query/escalations.ts'
import type { ShownMessage } from '../../query/show.ts'
import type { Cli } from '../cli.ts'
import { foreignWords, subjectIn } from './foreign.ts'
import { paintPriority } from './message.ts'
import { table, wrap } from './table.ts'
import { absolute, relative, zone } from './time.ts'

/** A message's headers, its escalations, and the steps taken by each recipient. */
export function ladder(cli: Cli, { message, receipts, escalations, signature }: ShownMessage): string {
  const told = escalations.flatMap((one) => wrap(toPrintableLine(sayEscalation(cli, one)), cli.width))
  return [
    head(cli, message, signature),
    ...(told.length === 0 ? [] : [told.join('\n')]),
    ...receipts.map((receipt) => receiptLines(cli, receipt)),
  ].join('\n\n')
}

function sayEscalation(cli: Cli, { to, by, at, reason }: Escalation): string {
  const { now } = cli
  const author = by === systemAgent ? '' : ` by ${by}`
  const time = `${absolute(at)} ${zone(at)} (${relative(at, now)})`
  return `Escalated to ${to.join(', ')}${author} at ${time} because: ${by === systemAgent ? reason : foreignWords(cli, reason)}`
}

/** A line of the head: its name, its text, and whether the text is the sender's. */
type Row = [name: string, text: string | undefined, isSaid?: boolean]

function head(cli: Cli, message: Foreign & { seq?: number }, signature: SignatureState | undefined): string {
  const { colors, now, nonce } = cli
  const time = (iso: string) => `${absolute(iso)} ${zone(iso)} (${relative(iso, now)})`
  const said = (name: string, text: string | undefined): Row => [name, text, true]
  const isPlain = (text: string) => nonce === undefined || plainWord(text) !== undefined
  const rows: Row[] = [
    ['id', message.id],
    ['number', message.seq === undefined ? undefined : `#${message.seq}`],
    ['from', message.from],
    ['signature', signature && signatureText(signature, message.from)],
    ['to', message.to.join(', ')],
    ['encrypted', message.encrypted && encryptedWords(message)],
    ['type', message.type, !isPlain(message.type)],
    ['priority', message.priority],
    ['sent', time(message.createdAt)],
    ['imported', message.imported ? importedWords(message) : undefined],
    ['expires', message.expiresAt && time(message.expiresAt)],
    ['thread', message.threadId === message.id ? undefined : message.threadId, !isPlain(message.threadId)],
    ['reply to', message.replyTo, message.replyTo !== undefined && !isPlain(message.replyTo)],
    ['tags', message.tags.join(', ') || undefined],
    said('attached', message.attachments.join(', ') || undefined),
    ...shownOf(message)
      .filter(({ section }) => !section)
      .map(({ label, text }): Row => [label.toLowerCase(), text, !isOurs(message, label)]),
    ['expects', expectations(message)],
    ['about', typeOf(message.type)?.sentence],
    // The text is not shown here, so nothing counts as said by it.
    ...wordsOf({ ...message, body: '\n' }).facts.map(({ label, text }) => said(label.toLowerCase(), text)),
  ]
  const headWidth = Math.max(...rows.map(([name]) => name.length)) + 2
  const lines = rows.flatMap(([name, text, isSaid = false]) => {
    if (text === undefined) return []
    const value = isSaid ? foreignWords(cli, text) : text
    const paint = name === 'priority' ? paintPriority(colors, message.priority) : (text: string) => text
    return wrap(toPrintableLine(value), cli.width - headWidth).map(
      (line, at) => `${colors.dim((at === 0 ? name : '').padEnd(headWidth))}${paint(line)}`,
    )
  })
  const subject = wrap(toPrintableLine(subjectIn(cli, message)), cli.width).map(colors.bold)
  return [...subject, ...lines].join('\n')
}

/** What routing has decided here. */
const isOurs = ({ imported = false }: Foreign, label: string): boolean =>
  !imported && (label === 'Routed' || label === 'Offered first to')

function expectations({ requiresAck, awaitingResponse }: Message): string | undefined {
  return (
    [requiresAck ? 'an ack' : '', awaitingResponse ? 'a reply' : ''].filter(Boolean).join(' and ') ||
    undefined
  )
}

function receiptLines(cli: Cli, receipt: ReceiptView): string {
  const { colors, width } = cli
  const { recipient, state, claimedBy, attempts, steps } = receipt
  const claimed = claimedBy === undefined ? '' : `, claimed by ${claimedBy}`
  const tries = attempts > 1 ? `, attempt ${attempts}` : ''
  const title = `${colors.cyan(toPrintableLine(recipient))}: ${state}${toPrintableLine(claimed)}${tries}`
  const [, ...lines] = table(
    [
      { head: '' },
      { head: '', paint: colors.dim },
      { head: '', paint: colors.dim },
      { head: '', flexible: true },
    ],
    steps.map(({ state: step, at, by }) => [step, absolute(at), relative(at, cli.now), `by ${by}`]),
    width - indent.length,
    colors,
  )
  const margin = ' '.repeat(indent.length + Math.max(...steps.map(({ state: step }) => step.length)) + 2)
  const notes = (step: LadderStep) => noteLines(cli, step, margin)
  return [title, ...steps.flatMap((step, at) => [indent + lines[at], ...notes(step)])].join('\n')
}

const indent = '  '

function noteLines(cli: Cli, { note }: LadderStep, margin: string): string[] {
  if (note === undefined) return []
  return toPrintable(foreignWords(cli, note))
    .split('\n')
    .flatMap((line) => wrap(line, cli.width - margin.length))
    .map((line) => margin + line)
}
