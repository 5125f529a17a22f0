import { isOutcome, stepOf } from '../conversation/matter.ts'
import { findStep, isWork, type Kind, type MatterState, matterOf } from '../conversation/registry.ts'
import { previewOf } from '../conversation/words.ts'
import { type Cursor, startCursor } from '../journal/journal.ts'
import { type Agent, person } from '../model/agent.ts'
import { type Entry, originOf } from '../model/entry.ts'
import { finishes, isDeadLetter } from '../model/receipt.ts'
import { isoTime } from '../model/time.ts'
import {
  type BlockedLine,
  blockedNow,
  type ChangedReceipt,
  type DecidedLine,
  type DiedLine,
  diedLine,
  type FinishedLine,
  finishedLine,
  type LostLine,
  lineOf,
  lostLine,
  type NeedLine,
  needLine,
} from './digest-lines.ts'
import { findSeq, messageIfThere, type Source } from './message.ts'
import { isForPerson, needsOf } from './needs.ts'
import { mattersWhere } from './owed.ts'
import { agentByName } from './roster.ts'

/**
 * What a person who was away wants to know. Each list has its latest lines, the oldest of them first, and `totals`
 * how many there are.
 */
export interface Digest {
  since: string
  until: string
  decided: DecidedLine[]
  finished: FinishedLine[]
  needsYou: NeedLine[]
  blocked: BlockedLine[]
  died: DiedLine[]
  lost: LostLine[]
  totals: {
    messages: number
    /** Questions between agents that were answered. They are not listed. */
    answered: number
    decided: number
    finished: number
    failed: number
    needsYou: number
    blocked: number
    died: number
    lost: number
  }
}

const linesAtMost = 100
const sliceBytes = 262_144

/** What a reply settles: the number of the question that it answers, or the line of what was decided. */
type Settled = { answered: number } | { key: string; line: DecidedLine }

/** The entries of a part of the journal, and what its replies settle. */
interface Slice {
  entries: readonly Entry[]
  settled: readonly Settled[]
  cursor: Cursor
  isLast: boolean
}

/**
 * Folds what has happened since a time. It reads the entries since then and nothing before. To read a slice changes
 * nothing: a question may be asked again before its answer counts.
 */
export class DigestFold {
  readonly #since: number
  #cursor: Cursor | undefined
  #messages = 0
  readonly #answered = new Set<number>()
  readonly #decided = new Map<string, DecidedLine>()
  readonly #finished = new Map<string, ChangedReceipt>()
  readonly #lost = new Map<string, ChangedReceipt>()
  readonly #died = new Map<string, { at: string; agent: Agent }>()

  constructor(since: number) {
    this.#since = since
  }

  /** The next slice. */
  read(source: Source): Slice {
    const { journal } = source
    const { entries, cursor } = journal.read(this.#cursor ?? cursorAt(source, this.#since), sliceBytes)
    const since = entries.flatMap(({ entry }) =>
      Date.parse(entry.at) >= this.#since && originOf(entry) === undefined ? entry : [],
    )
    const settled = since.flatMap((entry) =>
      entry.kind === 'message' ? (settledBy(source, entry.seq, entry.message.replyTo) ?? []) : [],
    )
    return { entries: since, settled, cursor, isLast: entries.length === 0 }
  }

  /** Goes on behind a slice. */
  take({ entries, settled, cursor }: Slice): void {
    this.#cursor = cursor
    for (const entry of entries) this.#fold(entry)
    for (const one of settled) {
      if ('answered' in one) this.#answered.add(one.answered)
      else {
        const known = this.#decided.get(one.key)
        if (known === undefined || findOpen(known.kind, known.outcome)) this.#decided.set(one.key, one.line)
      }
    }
  }

  #fold(entry: Entry): void {
    if (entry.kind === 'message') this.#messages++
    else if (entry.kind === 'receipt') {
      for (const change of entry.changes) {
        const key = `${change.seq} ${change.owner}`
        if (finishes(change) || change.state === 'failed') this.#finished.set(key, { entry, change })
        if (isDeadLetter(change.state)) this.#lost.set(key, { entry, change })
      }
    } else if (entry.kind === 'agent' && entry.change === 'died')
      this.#died.set(entry.agent.name, { at: entry.at, agent: entry.agent })
  }

  /** The digest, as things are now. */
  finish(source: Source, now: number, snoozed: Readonly<Record<string, string>> = {}): Digest {
    const decided = [...this.#decided.values()]
    const finished = [...this.#finished.values()].flatMap((one) => finishedLine(source, one))
    const lost = [...this.#lost.values()].flatMap((one) => lostLine(source, one))
    const needs = needsOf(source, agentByName(source, person)!, now, snoozed).filter(isForPerson)
    const blocked = blockedNow(source, now)
    const died = [...this.#died.values()].map(({ at, agent }) => diedLine(source, agent, at, now))
    return {
      since: isoTime(this.#since),
      until: isoTime(now),
      decided: latest(decided),
      finished: latest(finished),
      needsYou: needs.slice(0, linesAtMost).map(needLine),
      blocked: blocked.slice(0, linesAtMost),
      died: latest(died),
      lost: latest(lost),
      totals: {
        ...{ messages: this.#messages, answered: this.#answered.size, decided: decided.length },
        finished: finished.filter(({ outcome }) => outcome !== 'failed').length,
        failed: finished.filter(({ outcome }) => outcome === 'failed').length,
        ...{ needsYou: needs.length, blocked: blocked.length, died: died.length, lost: lost.length },
      },
    }
  }
}

/** What a reply settles in words; what is settled by work is told by its receipts. */
function settledBy(source: Source, seq: number, replyTo: string | undefined): Settled | undefined {
  const asked = replyTo === undefined ? undefined : findSeq(source, replyTo)
  if (asked === undefined) return undefined
  const matters = mattersWhere(source, "x.seq = ? AND x.kind <> 'ack'", [asked])
  if (matters.every(({ kind }) => isWork(kind))) return undefined
  const reply = messageIfThere(source, seq)
  const matter = reply && matters.find((one) => !isWork(one.kind) && isOutcome(reply, one))
  if (reply === undefined || matter === undefined) return undefined
  const { kind, asker } = matter
  const step = stepOf(reply)?.kind === kind ? stepOf(reply)! : findStep(kind, matterOf(kind)!.byReply!)!
  const isPersons = asker === person || reply.from === person || matter.owner === person
  if (step.name === matterOf(kind)?.byReply && !isPersons) return { answered: asked }
  const message = messageIfThere(source, asked)
  if (message === undefined) return undefined
  const line: DecidedLine = {
    ...lineOf(message, reply.createdAt),
    ...{ kind, outcome: step.to as MatterState, by: reply.from, answer: reply.id, says: previewOf(reply) },
    ...(reply.encrypted !== undefined && { encrypted: true }),
  }
  return { key: `${asked} ${kind} ${step.each ? reply.from : ''}`, line }
}

/** From where reading yields every entry from a time on, and few before. Times rise with seqs, but for imported mail. */
function cursorAt({ index, journal }: Source, since: number): Cursor {
  const at = index.sql(
    'SELECT seq, created, segment, offset FROM message WHERE seq >= ? AND imported = 0 ORDER BY seq LIMIT 1',
  )
  let low = 0
  let high = index.cursor.seq + 1
  let before: [number, number, number, number] | undefined
  while (low < high) {
    const middle = (low + high) >> 1
    const row = at.get<[number, number, number, number]>([middle])
    if (row === undefined || row[1] >= since) high = middle
    else {
      before = row
      low = row[0] + 1
    }
  }
  if (before === undefined) return journal.locate(0)
  const [seq, , segment, offset] = before
  return { ...startCursor, seq: seq - 1, segment, offset }
}

const latest = <Line extends { at: string }>(lines: readonly Line[]): Line[] =>
  lines.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).slice(-linesAtMost)

const findOpen = (kind: Kind, state: MatterState): boolean =>
  Object.values(matterOf(kind)?.steps ?? {}).some(({ to, staysOpen }) => to === state && staysOpen)
