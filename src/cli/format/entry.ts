import type { AgentEntry, Entry, MessageEntry, ReceiptEntry } from '../../model/entry.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { Cli } from '../cli.ts'
import { paintPriority, subjectOf } from './message.ts'
import { truncate } from './table.ts'
import { clock, day } from './time.ts'

/** Subjects remembered so that a receipt can say what it is about. */
const rememberedSubjects = 10_000

/** Turns entries into lines, one after another; a new day gets a line of its own. */
export function createEntryWriter(cli: Cli): (entry: Entry) => string {
  const { colors, width } = cli
  const subjects = new Map<string, string>()
  let today = ''

  function message({ message: said }: MessageEntry): [string, string] {
    subjects.set(said.id, subjectOf(said))
    if (subjects.size > rememberedSubjects) subjects.delete(subjects.keys().next().value!)
    const urgency = said.priority === 'normal' ? '' : `${said.priority.toUpperCase()} `
    return [`${said.from} → ${said.to.join(', ')}: ${urgency}${subjectOf(said)}`, `${said.id}  ${said.type}`]
  }

  function receipt({ by, step, changes, note }: ReceiptEntry): [string, string] {
    const ids = [...new Set(changes.map(({ id }) => id))]
    const about = ids.length === 1 ? (subjects.get(ids[0]!) ?? '') : `${ids.length} messages`
    return [`${by} ${step}${about && `: ${about}`}${note === undefined ? '' : ` (${note})`}`, ids.join(' ')]
  }

  return (entry) => {
    const [text, detail = ''] = describe(entry)
    const newDay = day(entry.at) === today ? [] : [colors.dim(`--- ${day(entry.at)} ---`)]
    today = day(entry.at)
    const margin = `${String(entry.seq).padStart(5)}  ${clock(entry.at)}  `
    const line = truncate(toPrintableLine(text), width - margin.length)
    const paint =
      entry.kind === 'message' ? paintPriority(colors, entry.message.priority) : (plain: string) => plain
    const below = detail === '' ? [] : [' '.repeat(margin.length) + colors.dim(toPrintableLine(detail))]
    return [...newDay, colors.dim(margin) + paint(line), ...below].join('\n')
  }

  function describe(entry: Entry): [string, string?] {
    switch (entry.kind) {
      case 'message':
        return message(entry)
      case 'receipt':
        return receipt(entry)
      case 'agent':
        return [agentLine(entry)]
      case 'segment':
        return [
          entry.reason === 'created' ? 'the space was made' : `a new journal file begins (${entry.reason})`,
        ]
      case 'torn':
        return [`a write that was cut off was sealed (${entry.bytes} bytes); nothing acknowledged was lost`]
    }
  }
}

function agentLine({ change, agent }: AgentEntry): string {
  const roles = agent.roles.map((role) => `role:${role}`)
  const labels = [...roles, ...agent.tags].join(' ')
  return `${agent.name} ${change}${labels && `: ${labels}`}${agent.note === undefined ? '' : ` (${agent.note})`}`
}
