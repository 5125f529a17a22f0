import type { Entry } from '../../model/entry.ts'
import { type FoundRecord, type Item, isRecord, type Junk } from './items.ts'
import { isSealed, joined, type Torn } from './scan.ts'

const newline = Buffer.from('\n')

export interface Assembly {
  /** The records of the segment, by number. */
  records: readonly FoundRecord[]
  /** What the file has now; empty if there is none. */
  items: readonly Item[]
  /** Whether a record between these two numbers stays lost. */
  isLost: (after: number, before: number) => boolean
}

/**
 * The content of a segment as it should be: its records in order, each on a line of its own, and between them what
 * writes that were cut off have left. What is no record stays where it is while a record is missing there: it is all
 * that is left of it.
 */
export function assemble(assembly: Assembly): Buffer {
  const parts: Buffer[] = []
  let length = 0
  const put = (...bytes: Buffer[]) => {
    for (const one of bytes) {
      parts.push(one)
      length += one.length
    }
  }
  const { fragments, rest } = sortJunk(assembly)
  put(...(rest.get(0) ?? []))
  for (const record of assembly.records) {
    const due = fragments.filter(({ torn }) => torn.offset <= length || torn === record.entry)
    for (const one of due) {
      put(one.bytes, ...(one.bytes.at(-1) === 0x0a ? [] : [newline]))
      fragments.splice(fragments.indexOf(one), 1)
    }
    put(record.line, newline)
    put(...(rest.get(record.seq) ?? []))
  }
  return Buffer.concat(parts)
}

type TornEntry = Extract<Entry, { kind: 'torn' }>

/**
 * Which junk is the rest of a write that was cut off, and which is what is left of a record: the latter by the number
 * of the record that it stands behind, 0 at the start.
 */
function sortJunk({ records, items, isLost }: Assembly) {
  const torn = records.flatMap(({ entry }) => (entry.kind === 'torn' ? entry : []))
  const explained = new Set<Junk>()
  const fragments: { torn: TornEntry; bytes: Buffer }[] = []
  for (const one of torn) {
    const found = findSealed(items, one)
    for (const junk of found?.run ?? []) explained.add(junk)
    if (found !== undefined) fragments.push({ torn: one, bytes: found.bytes })
  }
  const rest = new Map<number, Buffer[]>()
  for (const { junk, after, before } of between(items, new Set(records.map(({ seq }) => seq)))) {
    if (explained.has(junk)) continue
    // At the end it may be a write that was cut off, which the next writer seals.
    const isUnsealed = junk === items.at(-1) && !junk.ended && records.at(-1)?.seq === after
    if (!isUnsealed && !isLost(after, before)) continue
    const kept = joined([{ ...withoutReturn(junk), ended: !isUnsealed }])
    rest.set(after, [...(rest.get(after) ?? []), kept])
  }
  return { fragments, rest }
}

/** Each piece of junk with the numbers of the records before and after it. */
function between(items: readonly Item[], home: ReadonlySet<number>) {
  const found: { junk: Junk; after: number; before: number }[] = []
  let after = 0
  let open = 0
  for (const item of items) {
    if (!isRecord(item)) found.push({ junk: item, after, before: Number.POSITIVE_INFINITY })
    else if (home.has(item.seq)) {
      after = item.seq
      for (; open < found.length; open++) found[open]!.before = item.seq
    }
  }
  return found
}

/** The pieces that a torn entry is about, by their digest, even if their line endings were converted. */
function findSealed(items: readonly Item[], torn: Torn): { run: Junk[]; bytes: Buffer } | undefined {
  for (let start = 0; start < items.length; start++) {
    const run: Junk[] = []
    for (let at = start; at < items.length; at++) {
      const item = items[at]!
      // Nothing longer than the fragment can be it.
      if (isRecord(item) || item.offset - items[start]!.offset > torn.bytes + run.length) break
      run.push(item)
      for (const pieces of [run, run.map(withoutReturn)]) {
        if (isSealed(pieces, torn)) return { run, bytes: joined(pieces).subarray(0, torn.bytes) }
      }
    }
  }
  return undefined
}

const withoutReturn = (junk: Junk): Junk =>
  junk.bytes.at(-1) === 0x0d ? { ...junk, bytes: junk.bytes.subarray(0, -1) } : junk
