import { toPrintableLine } from '../model/text.ts'
import type { Digest } from '../query/digest.ts'
import type { DigestLine } from '../query/digest-lines.ts'

/** How the words that senders chose are shown; undefined: not at all, because what is `encrypted` stays in the space. */
type Quote = (text: string, line: { encrypted?: true }) => string | undefined

export interface DigestStyle {
  /** Writes when something happened, and from when on the digest is. */
  when: (at: string) => string
  date: (at: string) => string
  quote: Quote
  heading?: (text: string) => string
}

interface Section {
  title: string
  lines: string[]
  /** How many there are in all. */
  total: number
}

/** A digest as sections of lines, with those that have something to say. `when` writes a time. */
function sectionsOf(digest: Digest, when: (at: string) => string, quote: Quote): Section[] {
  const { needsYou, blocked, decided, finished, died, lost, totals } = digest
  const titleOf = (line: DigestLine) =>
    (line.subject === '' ? undefined : quote(line.subject, line)) ?? line.type.replaceAll('_', ' ')
  const after = (text: string | undefined, line: { encrypted?: true }) => {
    const shown = text ? quote(text, line) : undefined
    return shown === undefined ? '' : `: ${shown}`
  }
  const all: Section[] = [
    {
      ...{ title: 'Waiting for you', total: totals.needsYou },
      lines: needsYou.map((line) => {
        const frees = line.frees.length === 0 ? '' : `; frees ${line.frees.join(', ')}`
        const urgent = line.priority === 'urgent' ? 'urgent, ' : ''
        return `${titleOf(line)} (${urgent}from ${line.from}, ${when(line.at)}${frees})  #${line.seq}`
      }),
    },
    {
      ...{ title: 'Blocked', total: totals.blocked },
      lines: blocked.map((line) => `${line.agent} waits for ${line.for}, ${when(line.since)}  #${line.seq}`),
    },
    {
      ...{ title: 'Decided', total: totals.decided },
      lines: decided.map((line) => {
        return `${titleOf(line)}: ${line.outcome} by ${line.by}, ${when(line.at)}${after(line.says, line)}`
      }),
    },
    {
      ...{ title: 'Finished', total: totals.finished + totals.failed },
      lines: finished.map((line) => {
        return `${titleOf(line)}: ${line.outcome} by ${line.by}, ${when(line.at)}${after(line.note, line)}`
      }),
    },
    {
      ...{ title: 'Died', total: totals.died },
      lines: died.map(({ agent, at, reason, unread, isBack }) => {
        const why = reason === 'silent' ? 'was silent' : 'its process ended'
        const waiting = unread === 0 ? '' : `, ${unread} unread`
        return `${agent}: ${why}, ${when(at)}${isBack ? '; it is back' : waiting}`
      }),
    },
    {
      ...{ title: 'Not delivered', total: totals.lost },
      lines: lost.map(
        (line) => `${titleOf(line)} from ${line.from} to ${line.recipient}: ${line.reason}  #${line.seq}`,
      ),
    },
  ]
  return all.filter(({ total }) => total > 0)
}

/** A digest as text, for a terminal or a post. */
export function digestText(
  digest: Digest,
  { when, date, quote, heading = (text) => text }: DigestStyle,
): string {
  const { messages, answered } = digest.totals
  const sections = sectionsOf(digest, when, quote)
  const figures = [
    messages === 0 ? 'No mail' : `${messages} ${messages === 1 ? 'message' : 'messages'}`,
    ...(answered === 0
      ? []
      : [`${answered} ${answered === 1 ? 'question' : 'questions'} answered between agents`]),
  ].join(', ')
  return [
    `Since ${date(digest.since)}: ${figures}.`,
    ...(sections.length === 0 ? ['Nothing is waiting for you.'] : []),
    ...sections.flatMap(({ title, lines, total }) => [
      ...['', heading(`${title} (${total})`)],
      ...lines.map((line) => `  ${toPrintableLine(line)}`),
      ...(total > lines.length ? [`  and ${total - lines.length} more`] : []),
    ]),
  ].join('\n')
}
