import { type Agent, implicitPerson, person } from '../model/agent.ts'
import { describeAudit } from '../model/audit.ts'
import { Directory } from '../model/directory.ts'
import { type Entry, lossOf } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import type { Chronicle, Mark } from './chronicle.ts'
import { messageIfThere, type Source } from './message.ts'

/** An entry as one line of a story. */
interface Told {
  seq: number
  at: string
  kind: Entry['kind']
  text: string
  message?: ReturnType<typeof headOf>
}

const headOf = ({ id, from, to, subject, type, priority }: Message) => {
  return { id, from, to, subject, type, priority }
}

/** A space as it was after an entry. */
export interface Replay {
  seq: number
  at: string
  /** What there is to choose from. */
  first: number
  last: number
  firstAt: string
  lastAt: string
  /** Unread: in its own box; mail of groups is not counted. */
  agents: { name: string; state: Agent['state']; roles: string[]; unread: number }[]
  /** The entries that led there, oldest first. */
  recent: Told[]
  totals: { messages: number }
}

const recentAtMost = 50
const sliceBytes = 262_144

/** The state after entry `at`: from the last mark well before it, and what happened since. */
export function replay(source: Source, chronicle: Chronicle, at: number): Replay {
  const { first, last } = chronicle
  const empty = new Date(0).toISOString()
  const [firstSeq, lastSeq] = [first?.seq ?? 0, last?.seq ?? 0]
  const seq = Math.min(Math.max(at, firstSeq), lastSeq)
  const mark = chronicle.marks.findLast((one) => one.seq <= Math.max(0, seq - recentAtMost))
  const { directory, messages, recent } = walk(source, mark ?? chronicle.marks[0], seq)
  const agents = [...directory.agents.values()]
  if (!directory.agents.has(person)) agents.unshift(implicitPerson())
  return {
    seq,
    at: recent.at(-1)?.at ?? empty,
    ...{ first: firstSeq, last: lastSeq, firstAt: first?.at ?? empty, lastAt: last?.at ?? empty },
    agents: agents.map(({ name, state, roles }) => {
      const unread = Object.values(directory.unread(name)).reduce((sum, n) => sum + n, 0)
      return { name, state, roles, unread }
    }),
    recent: recent.map((entry) => tell(source, entry)),
    totals: { messages },
  }
}

function walk({ stored: journal }: Source, mark: Mark | undefined, seq: number) {
  const directory = new Directory()
  const recent: Entry[] = []
  let messages = mark?.messages ?? 0
  if (mark === undefined) return { directory, messages, recent }
  for (const agent of mark.agents.values()) directory.put(agent)
  for (const [box, tally] of mark.tallies) directory.tallies.set(box, [...tally])
  directory.firstMessage = mark.firstMessage
  for (const seq of mark.missing) directory.missing.add(seq)
  for (let cursor = mark.cursor; cursor.seq < seq; ) {
    const read = journal.read(cursor, sliceBytes)
    if (read.entries.length === 0) break
    for (const { entry } of read.entries) {
      if (entry.seq > seq) return { directory, messages, recent }
      directory.fold(entry)
      if (entry.kind === 'message') messages++
      recent.push(entry)
      if (recent.length > recentAtMost) recent.shift()
    }
    cursor = read.cursor
  }
  return { directory, messages, recent }
}

const stepVerbs: Partial<Record<string, string>> = {
  shown: 'read',
  acked: 'acknowledged',
  processing: 'started',
  dead: 'could not deliver',
}

/** Describes an entry in one line. */
export function tell(source: Source, entry: Entry): Told {
  const { seq, at, kind } = entry
  switch (entry.kind) {
    case 'message': {
      const message = headOf(messageIfThere(source, seq) ?? entry.message)
      return {
        seq,
        at,
        kind,
        text: `${message.from} → ${message.to.join(', ')}: ${message.subject}`,
        message,
      }
    }
    case 'scheduled':
      return {
        seq,
        at,
        kind,
        text: `${entry.message.from} scheduled a message for ${entry.message.createdAt}`,
      }
    case 'unscheduled':
      return { seq, at, kind, text: `${entry.by} took back a scheduled message` }
    case 'receipt': {
      const [change] = entry.changes
      const message = change === undefined ? undefined : messageIfThere(source, change.seq)
      const others = entry.changes.length > 1 ? ` and ${entry.changes.length - 1} more` : ''
      const about = message === undefined ? 'a deleted message' : message.subject || message.id
      const text = `${entry.by} ${stepVerbs[entry.step] ?? entry.step}: ${about}${others}`
      return { seq, at, kind, text, ...(message && { message: headOf(message) }) }
    }
    case 'agent':
      return { seq, at, kind, text: `${entry.agent.name} ${entry.change}` }
    case 'segment':
      return { seq, at, kind, text: `new journal segment (${entry.reason})` }
    case 'torn':
      return { seq, at, kind, text: `sealed ${entry.bytes} bytes left by a crash` }
    case 'damage':
      return { seq, at, kind, text: `lost from the journal: ${lossOf(entry)}` }
    case 'repair':
      return { seq, at, kind, text: `repaired ${entry.files.length} files of the journal` }
    case 'key':
    case 'share':
    case 'audit':
      return { seq, at, kind, text: describeAudit(entry) }
  }
}
