import type { Agent } from '../model/agent.ts'
import { type Entry, happenedAt, type MessageEntry, type ReceiptEntry } from '../model/entry.ts'
import type { ReceiptChange } from '../model/receipt.ts'
import { exportedSignature } from '../model/signature.ts'
import { type ExportedChange, type ExportLine, toExported } from '../model/transfer.ts'
import type { Source } from './message.ts'

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
export type ExportedEntry = MessageEntry | ReceiptEntry
export const isExported = (entry: Entry): entry is ExportedEntry =>
  entry.kind === 'message' || entry.kind === 'receipt'

/** An entry as a line of an export; none if it is about mail that is not there any more, or cannot be read. */
export function exportedEntry(source: Source, entry: ExportedEntry): ExportLine[] {
  const at = happenedAt(entry)
  if (entry.kind === 'message') {
    const { kind, message, exclude, signature } = entry
    const signed = signature && { signature: exportedSignature(signature, source.journal.space) }
    return [{ kind, at, message, ...(exclude && { exclude }), ...signed }]
  }
  const { kind, step, by, note } = entry
  const changes = entry.changes
    .filter(({ seq, id }) => isThere(source, seq, id) && !source.damaged.has(seq))
    .map((change) => withClaim(source, change, entry.seq))
  return changes.length === 0 ? [] : [{ kind, at, step, by, changes, ...(note !== undefined && { note }) }]
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
