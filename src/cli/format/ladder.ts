import { typeOf } from '../../conversation/registry.ts'
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
import { paintPriority, subjectOf } from './message.ts'
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

function sayEscalation({ now }: Cli, { to, by, at, reason }: Escalation): string {
  const author = by === systemAgent ? '' : ` by ${by}`
  const time = `${absolute(at)} ${zone(at)} (${relative(at, now)})`
  return `Escalated to ${to.join(', ')}${author} at ${time} because: ${reason}`
}

function head(cli: Cli, message: Message, signature: SignatureState | undefined): string {
  const { colors, now } = cli
  const time = (iso: string) => `${absolute(iso)} ${zone(iso)} (${relative(iso, now)})`
  const rows: [string, string | undefined][] = [
    ['id', message.id],
    ['from', message.from],
    ['signature', signature && signatureText(signature, message.from)],
    ['to', message.to.join(', ')],
    ['type', message.type],
    ['priority', message.priority],
    ['sent', time(message.createdAt)],
    ['expires', message.expiresAt && time(message.expiresAt)],
    ['thread', message.threadId === message.id ? undefined : message.threadId],
    ['reply to', message.replyTo],
    ['tags', message.tags.join(', ') || undefined],
    ['attached', message.attachments.join(', ') || undefined],
    ...shownOf(message)
      .filter(({ section }) => !section)
      .map(({ label, text }): [string, string] => [label.toLowerCase(), text]),
    ['expects', expectations(message)],
    ['about', typeOf(message.type)?.sentence],
    // The text is not shown here, so nothing counts as said by it.
    ...wordsOf({ ...message, body: '\n' }).facts.map(({ label, text }): [string, string] => [
      label.toLowerCase(),
      text,
    ]),
  ]
  const headWidth = Math.max(...rows.map(([name]) => name.length)) + 2
  const lines = rows.flatMap(([name, value]) => {
    if (value === undefined) return []
    const paint = name === 'priority' ? paintPriority(colors, message.priority) : (text: string) => text
    return wrap(toPrintableLine(value), cli.width - headWidth).map(
      (text, at) => `${colors.dim((at === 0 ? name : '').padEnd(headWidth))}${paint(text)}`,
    )
  })
  const subject = wrap(toPrintableLine(subjectOf(message)), cli.width).map(colors.bold)
  return [...subject, ...lines].join('\n')
}

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
  const notes = (step: LadderStep) => noteLines(step, margin, width)
  return [title, ...steps.flatMap((step, at) => [indent + lines[at], ...notes(step)])].join('\n')
}

const indent = '  '

function noteLines({ note }: LadderStep, margin: string, width: number): string[] {
  if (note === undefined) return []
  return toPrintable(note)
    .split('\n')
    .flatMap((line) => wrap(line, width - margin.length))
    .map((line) => margin + line)
}
