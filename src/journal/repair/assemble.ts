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
  for (const { bytes } of rest.filter(({ after }) => after === 0)) put(bytes)
  for (const record of assembly.records) {
    const due = fragments.filter(({ torn }) => torn.offset <= length || torn === record.entry)
    for (const one of due) {
      put(one.bytes, ...(one.bytes.at(-1) === 0x0a ? [] : [newline]))
      fragments.splice(fragments.indexOf(one), 1)
    }
    put(record.line, newline)
    for (const { bytes } of rest.filter(({ after }) => after === record.seq)) put(bytes)
  }
  return Buffer.concat(parts)
}

type TornEntry = Extract<Entry, { kind: 'torn' }>

interface Kept {
  /** The record it stands behind; 0 if it is at the start. */
  after: number
  bytes: Buffer
}

/** Which junk is the rest of a write that was cut off, and which is what is left of a record. */
function sortJunk({ records, items, isLost }: Assembly) {
  const torn = records.flatMap(({ entry }) => (entry.kind === 'torn' ? entry : []))
  const explained = new Set<Junk>()
  const fragments: { torn: TornEntry; bytes: Buffer }[] = []
  for (const one of torn) {
    const found = findSealed(items, one)
    for (const junk of found?.run ?? []) explained.add(junk)
    if (found !== undefined) fragments.push({ torn: one, bytes: found.bytes })
  }
  const home = new Set(records.map(({ seq }) => seq))
  const rest: Kept[] = []
  let after = 0
  for (const [at, item] of items.entries()) {
    if (isRecord(item)) {
      if (home.has(item.seq)) after = item.seq
      continue
    }
    if (explained.has(item)) continue
    const next = items.slice(at).find((one) => isRecord(one) && home.has(one.seq)) as FoundRecord | undefined
    const isLast = at === items.length - 1 && !item.ended
    const before = next?.seq ?? Number.POSITIVE_INFINITY
    // At the end it may be a write that was cut off, which the next writer seals.
    const isUnsealed = isLast && records.at(-1)?.seq === after
    if (isUnsealed || isLost(after, before))
      rest.push({ after, bytes: joined([{ ...withoutReturn(item), ended: !isUnsealed }]) })
  }
  return { fragments, rest }
}

/** The pieces that a torn entry is about, by their digest, even if their line endings were converted. */
function findSealed(items: readonly Item[], torn: Torn): { run: Junk[]; bytes: Buffer } | undefined {
  for (let at = 0; at < items.length; at++) {
    const run: Junk[] = []
    for (const item of items.slice(at)) {
      if (isRecord(item)) break
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
