import type { SqlValue } from '../base/sqlite.ts'
import type { ScheduledHere } from '../conversation/view.ts'
import type { Journal } from '../journal/journal.ts'
import { checkId } from '../model/id.ts'
import { parseSignature } from '../model/signature.ts'
import { currentKey } from './keys.ts'
import type { PlaceRow, Source, StoredMessage } from './message.ts'

/** What is to be sent later, by a condition on its row. What cannot be read is left out. */
function scheduledWhere(
  source: Source,
  journal: Pick<Journal, 'at'>,
  where: string,
  parameters: SqlValue[],
): ScheduledHere[] {
  return source.index
    .sql(`SELECT segment, offset, bytes FROM scheduled WHERE ${where}`)
    .all<PlaceRow>(parameters)
    .flatMap(([segment, offset, bytes]) => {
      const entry = journal.at({ segment, offset, bytes })
      return entry?.kind === 'scheduled' ? { entry, isStale: isStale(source, entry) } : []
    })
}

/** Whether its sender has another key by now, so that nobody would believe that it is from there. */
function isStale(source: Source, { originalAt, signature, message }: ScheduledHere['entry']): boolean {
  if (originalAt !== undefined || signature === undefined) return false
  const known = currentKey(source, message.from)
  return known !== undefined && known !== parseSignature(signature)?.key
}

/** What is to be sent by then, the earliest first. As it is stored: what is encrypted stays so. */
export const scheduledUntil = (source: Source, time: number, limit: number): ScheduledHere[] =>
  scheduledWhere(source, source.stored, 'at <= ? ORDER BY at, seq LIMIT ?', [time, limit])

/** All of it, in the order in which it was written, as it is stored. */
export const allScheduled = (source: Source): ScheduledHere[] =>
  scheduledWhere(source, source.stored, '1 ORDER BY seq', [])

/** One of them by its id, by a unique beginning of it, or by its number. */
export function findScheduled(source: Source, id: string): ScheduledHere | undefined {
  checkId(id)
  const number = /^#(\d{1,15})$/.exec(id)?.[1]
  const found =
    number === undefined
      ? scheduledWhere(source, source.journal, 'id >= ? AND id < ? LIMIT 2', [id, `${id}~`])
      : scheduledWhere(source, source.journal, 'seq = ?', [Number(number)])
  return found.length === 1 ? found[0] : undefined
}

export const scheduledWithKey = ({ index }: Source, sender: string, key: string): string | undefined =>
  index.sql('SELECT id FROM scheduled WHERE sender = ? AND key = ?').get<[string]>([sender, key])?.[0]

/** A message as its sender sees it until then. */
export const asMessage = ({ entry }: ScheduledHere): StoredMessage => ({ seq: entry.seq, ...entry.message })

/** What an agent has written to be sent later, the earliest first. */
export const scheduledBy = (source: Source, sender: string): StoredMessage[] =>
  scheduledWhere(source, source.journal, 'sender = ? ORDER BY at, seq', [sender]).map(asMessage)
