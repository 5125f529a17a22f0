import { lossOf } from '../model/entry.ts'
import type { Place } from './journal.ts'

/**
 * What can be wrong with a journal, each with its own name. A write that was cut off is not among them: nobody was
 * told that it was stored, so nothing is lost with it.
 */
export const damageNames = {
  crlf: 'line endings were converted to CRLF; the entries are intact',
  bom: 'a byte order mark was put before the line; the entry is intact',
  extra_newline: 'an empty line was added; no entry is affected',
  lost_newline: 'the newline between lines was changed or removed; the entries are intact',
  changed_line: 'a line was changed or damaged (its checksum does not match)',
  repeated_line: 'a line is repeated; the repetition is ignored',
  backwards_seq: 'the sequence numbers go backwards; the line is ignored',
  stray_line: 'a line of another place or journal was inserted; it is ignored',
  missing_lines: 'lines are missing',
  lost_end: 'the end of the journal is missing: these entries were acknowledged',
  broken_chain: 'the chain is broken: a line before it was changed, removed or added',
  replaced_journal: 'the journal was replaced by an older copy, and went on from there',
  rewritten_journal: 'the journal was rewritten or cut',
  empty_segment: 'the file is empty, though entries were written to it',
  missing_segment: 'the file is missing',
  swapped_segment: 'the file has the content of another segment',
  foreign_segment: 'the file belongs to another space; it is ignored',
  unreadable_segment: 'the file cannot be read',
  false_seal: 'it seals a torn write that does not exist',
  bad_entry: 'the entry is not valid',
  forged_entry: 'the entry is not signed with the key of its sender',
} as const satisfies Record<string, string>

export type DamageName = keyof typeof damageNames

/** One finding of `verify`. */
export interface Damage extends Partial<Omit<Place, 'segment'>> {
  name: DamageName
  segment: number
  /** Counted from 1, in its segment. */
  line?: number
  /** How many lines of the segment have it, beginning with this one. @default 1 */
  lines?: number
  /** The sequence numbers of the entries that are lost by it, the first and the last; absent if none is. */
  lost?: { from: number; to: number }
  /** A sentence, as in {@link damageNames} or more precise. */
  what: string
  /** When it was first found, if that was recorded. */
  since?: string
}

/** What a finding says to people. */
export function sentenceOf({ name, segment, line, lines = 1, offset, lost, what, since }: Damage): string {
  const known = since && `known since ${since.slice(0, 16).replace('T', ' ')}`
  if (name === 'missing_segment') return known ? `${what} (${known})` : what
  const file = offset === undefined ? `segment ${segment}` : `segment ${segment}, byte ${offset}`
  const first = lines === 1 ? `line ${line}` : `${lines} lines, the first is line ${line}`
  const gone = lost && `${lossOf(lost)} ${lost.from === lost.to ? 'is' : 'are'} lost`
  const details = [line && first, gone, known].filter(Boolean).join('; ')
  return `${file}: ${what}${details && ` (${details})`}`
}

/** Beside the segments: bytes that were damaged, as they were found. */
export const damagedDir = 'damaged'
