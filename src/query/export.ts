import type { Agent } from '../model/agent.ts'
import {
  type Entry,
  happenedAt,
  type MessageEntry,
  type ReceiptEntry,
  type ScheduledEntry,
  type ShareEntry,
} from '../model/entry.ts'
import type { ReceiptChange } from '../model/receipt.ts'
import { exportedSeal } from '../model/sealed.ts'
import { exportedSignature } from '../model/signature.ts'
import { type ExportedChange, type ExportLine, toExported } from '../model/transfer.ts'
import type { Source } from './message.ts'
import { allScheduled } from './scheduled.ts'

/** The roster, with when each agent was last active. */
export const exportedAgents = ({ index }: Source): ExportLine[] =>
  index
    .sql('SELECT a.json, s.at FROM agent a LEFT JOIN seen s ON s.agent = a.name ORDER BY a.name')
    .all<[string, string | null]>()
    .map(([json, seen]) => {
      const agent = JSON.parse(json) as Agent
      return { kind: 'agent', at: seen ?? agent.lastSeenAt, agent }
    })

/** Entries that an export has one by one. Of the roster it has the last state; the rest is about files. */
export type ExportedEntry = MessageEntry | ReceiptEntry | ShareEntry
export const isExported = (entry: Entry): entry is ExportedEntry =>
  entry.kind === 'message' || entry.kind === 'receipt' || entry.kind === 'share'

/** What is still to be sent later. What was sent by now is among the messages. */
export const exportedScheduled = (source: Source): ExportLine[] =>
  allScheduled(source).map(({ entry }) => exportedMail(source, entry))

/** A message as an export has it, sent or to be sent. */
function exportedMail({ stored: { space } }: Source, entry: MessageEntry | ScheduledEntry): ExportLine {
  const { kind, message, exclude, signature } = entry
  const { sealed } = message
  return {
    ...{ kind, at: happenedAt(entry) },
    message: { ...message, ...(sealed !== undefined && { sealed: exportedSeal(sealed, space) }) },
    ...(exclude && { exclude }),
    ...(signature && { signature: exportedSignature(signature, space) }),
  }
}

/** An entry, as it is stored, as a line of an export: what is encrypted stays so. None if it is about mail that is not there any more, or cannot be read. */
export function exportedEntry(source: Source, entry: ExportedEntry): ExportLine[] {
  const at = happenedAt(entry)
  const { space } = source.stored
  const sealedIn = ({ sealed }: { sealed?: string | undefined }) =>
    sealed === undefined ? {} : { sealed: exportedSeal(sealed, space) }
  if (entry.kind === 'message') return [exportedMail(source, entry)]
  if (entry.kind === 'share') {
    const { kind, by, key, for: each, signature } = entry
    const from = entry.space ?? space
    return [{ kind, at, by, key, for: each, space: from, signature: exportedSignature(signature, space) }]
  }
  const { kind, step, by, note } = entry
  const changes = entry.changes
    .filter(({ seq, id }) => isThere(source, seq, id) && !source.damaged.has(seq))
    .map((change) => withClaim(source, change, entry.seq))
  if (changes.length === 0) return []
  return [{ kind, at, step, by, changes, ...(note !== undefined && { note }), ...sealedIn(entry) }]
}

const isThere = ({ index }: Source, seq: number, id: string): boolean =>
  index.sql('SELECT 1 FROM message WHERE seq = ? AND id = ?').get([seq, id]) !== undefined

/** With the number of the claim that it made, which follows from places that the export does not have. */
function withClaim({ index }: Source, change: ReceiptChange, entry: number): ExportedChange {
  const { claim: _, ...exported } = toExported(change)
  if (change.box === change.owner) return exported
  const made = index.sql('SELECT number FROM claim WHERE seq = ? AND owner = ? AND entry = ?')
  const [claim] = made.get<[number]>([change.seq, change.owner, entry]) ?? []
  return claim === undefined ? exported : { ...exported, claim }
}
