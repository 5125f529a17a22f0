import { describeAudit } from '../../model/audit.ts'
import {
  type AgentEntry,
  type DamageDraft,
  type Entry,
  lossOf,
  type MessageEntry,
  originOf,
  type ReceiptEntry,
  type RepairDraft,
} from '../../model/entry.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { Cli } from '../cli.ts'
import { foreignWords, subjectIn } from './foreign.ts'
import { paintPriority } from './message.ts'
import { truncate } from './table.ts'
import { clock, day } from './time.ts'

/** How many subjects to remember, so that receipts can name their message. */
const rememberedSubjects = 10_000
/** One entry can change hundreds of receipts; `--json` lists them all. */
const idsListed = 5

/** What happened, and the lines to print below it. */
type Described = [what: string, ...details: string[]]

/** Formats entries one after another, with a separator line for each new day. */
export function createEntryWriter(cli: Cli): (entry: Entry) => string {
  const { colors, width } = cli
  const subjects = new Map<string, string>()
  let today = ''

  function remember({ message }: MessageEntry): void {
    subjects.set(message.id, subjectIn(cli, message))
    if (subjects.size > rememberedSubjects) subjects.delete(subjects.keys().next().value!)
  }

  return (entry) => {
    if (entry.kind === 'message') remember(entry)
    const [event, ...details] = describe(cli, entry, subjects)
    const origin = originOf(entry)
    const what = origin === undefined ? event : `imported (${day(origin)}): ${event}`
    const newDay = day(entry.at) === today ? [] : [colors.dim(`--- ${day(entry.at)} ---`)]
    today = day(entry.at)
    const margin = `${String(entry.seq).padStart(5)}  ${clock(entry.at)}  `
    const fitted = (text: string) => truncate(toPrintableLine(text), width - margin.length)
    const plain = (text: string) => text
    const paint = entry.kind === 'message' ? paintPriority(colors, entry.message.priority) : plain
    const below = details.map((detail) => ' '.repeat(margin.length) + colors.dim(fitted(detail)))
    return [...newDay, colors.dim(margin) + paint(fitted(what)), ...below].join('\n')
  }
}

function describe(cli: Cli, entry: Entry, subjects: ReadonlyMap<string, string>): Described {
  switch (entry.kind) {
    case 'message':
      return describeMessage(cli, entry)
    case 'scheduled': {
      const { message } = entry
      const when = `${day(message.createdAt)} ${clock(message.createdAt)}`
      return [`${message.from} scheduled for ${when} to ${message.to.join(', ')}: ${subjectIn(cli, message)}`]
    }
    case 'unscheduled':
      return [
        `${entry.by} took back a scheduled message${entry.note === undefined ? '' : ` (${entry.note})`}`,
        entry.id,
      ]
    case 'receipt':
      return describeReceipts(cli, entry, subjects)
    case 'agent':
      return [describeAgent(cli, entry)]
    case 'segment':
      return [entry.reason === 'created' ? 'space created' : `new journal file (${entry.reason})`]
    case 'torn':
      return [`sealed an interrupted write (${entry.bytes} bytes); no confirmed mail was lost`]
    case 'damage':
      return [`lost from the end of journal file ${entry.segment}: ${lossOf(entry)}`, ...keptIn(entry)]
    case 'repair':
      return [describeRepair(entry), ...entry.files.flatMap(keptIn)]
    case 'key':
    case 'share':
    case 'audit':
      return [describeAudit(entry)]
  }
}

function describeRepair({ files, lost }: RepairDraft): string {
  const names = files.map(({ segment }) => segment).join(', ')
  const gone = lost.length === 0 ? '' : `; lost: ${lost.map(lossOf).join(', ')}`
  return `repaired journal file ${names}${gone}`
}

const keptIn = ({ kept }: Pick<DamageDraft, 'kept'>): string[] =>
  kept === undefined ? [] : [`the damaged bytes are in journal/damaged/${kept}`]

function describeMessage(cli: Cli, { message }: MessageEntry): Described {
  const { id, from, to, type, priority } = message
  const urgency = priority === 'normal' ? '' : `${priority.toUpperCase()} `
  return [
    `${from} → ${to.join(', ')}: ${urgency}${subjectIn(cli, message)}`,
    `${id}  ${foreignWords(cli, type)}`,
  ]
}

function describeReceipts(
  cli: Cli,
  { by, step, changes, note }: ReceiptEntry,
  subjects: ReadonlyMap<string, string>,
): Described {
  const ids = [...new Set(changes.map(({ id }) => id))]
  const about = ids.length === 1 ? (subjects.get(ids[0]!) ?? 'a message') : `${ids.length} messages`
  const lines = ids
    .slice(0, idsListed)
    .map((id) => (ids.length === 1 ? id : `${id}  ${subjects.get(id) ?? ''}`))
  const more = ids.length > idsListed ? [`and ${ids.length - idsListed} more`] : []
  return [
    `${by} ${step}: ${about}${note === undefined ? '' : ` (${foreignWords(cli, note)})`}`,
    ...lines,
    ...more,
  ]
}

function describeAgent(cli: Cli, { change, agent }: AgentEntry): string {
  const labels = [...agent.roles.map((role) => `role:${role}`), ...agent.tags].join(' ')
  return `${agent.name} ${change}${labels && `: ${labels}`}${agent.note === undefined ? '' : ` (${foreignWords(cli, agent.note)})`}`
}
