import type { MessageDraft } from '../../model/entry.ts'
import { archivedPath } from '../file/archive.ts'
import { readFirst } from '../file/first-mark.ts'
import { readHead } from '../file/head-mark.ts'
import { listArchived, segmentPath } from '../file/segment.ts'
import { assemble } from './assemble.ts'
import { type Copy, contentsOf, firstSums, segmentWith } from './copies.ts'
import { type FoundRecord, type Item, isRecord, itemsOf } from './items.ts'
import { type Candidate, Pool, type Range } from './pool.ts'
import { corrected, restore } from './restore.ts'
import {
  gunzipWhatGoes,
  isSound,
  type OnSegment,
  readIfAny,
  type ScannedSegment,
  scanJournal,
} from './scan.ts'

/** A file of the journal that would be replaced, or made. */
export interface PlannedSegment {
  segment: number
  path: string
  archived: boolean
  /** Whether there is a file now, which would be kept in `journal/damaged/`. */
  exists: boolean
  /** What the file has now, and what it would have, unpacked. */
  before: Buffer
  content: Buffer
  /** Records that can be read, but do not stand in their place or on a line of their own. */
  reformatted: number
  /** Records in which one bit had flipped. */
  corrected: number
  /** Records that come from a copy, by the name of the copy. */
  restored: Record<string, number>
}

export interface RepairPlan {
  segments: PlannedSegment[]
  /** Records that no copy has. */
  lost: Range[]
}

export interface PlanOptions {
  space: string
  /** Where else records may be, the best first. */
  copies: readonly Copy[]
  /** Messages that were exported, by the name of the file. */
  exported?: Readonly<Record<string, readonly MessageDraft[]>>
  /** Whether segments before the first one may be restored. @default false */
  older?: boolean
  onSegment?: OnSegment
}

/** Says what a journal should look like, from what can be read of it and of its copies. Changes nothing. */
export function planRepair(dir: string, options: PlanOptions): RepairPlan {
  const scanned = scanJournal(dir, options.space, options.onSegment)
  const homes = homesOf(scanned, options.copies)
  const suspects = suspectsIn(scanned, homes)
  const pool = new Pool()
  const itemsIn = new Map<number, Item[]>()
  for (const one of scanned) {
    if (!suspects.has(one.segment)) {
      pool.addRun(one.first!, one.last!)
      continue
    }
    const items = one.items ?? itemsOf(contentOf(one))
    itemsIn.set(one.segment, items)
    if (one.foreign) continue
    const home = homes.get(one.segment)!
    for (const record of items.filter(isRecord)) pool.offer({ record, home })
  }
  pool.choose()
  const marked = readFirst(dir, options.space)?.seq ?? Number.POSITIVE_INFINITY
  const lowest = scanned[0]?.segment === 1 ? 1 : Math.min(pool.lowest, marked)
  const journal = { dir, options, scanned, homes, pool, itemsIn }
  restore({ ...journal, from: options.older ? 1 : lowest })
  pool.chooseRest()
  return describe({ ...journal, from: Math.min(lowest, pool.lowest) })
}

/**
 * The number that each file should have: the one that a copy of it has, or without copies its own, unless whole files
 * are in a wrong order.
 */
function homesOf(scanned: readonly ScannedSegment[], copies: readonly Copy[]): Map<number, number> {
  const homes = new Map(scanned.map(({ segment }) => [segment, segment]))
  const ours = scanned.filter(({ first, foreign }) => first !== undefined && !foreign)
  const known = new Map(copies.flatMap(firstSums))
  if (known.size > 0) {
    for (const { segment, first } of ours) {
      const { sum } = first!
      homes.set(segment, known.get(sum) ?? segmentWith(copies, sum) ?? segment)
    }
    return homes
  }
  const byRecord = ours.toSorted((a, b) => a.first!.seq - b.first!.seq)
  const isRepeated = byRecord.some(({ first }, at) => first!.seq === byRecord[at - 1]?.first?.seq)
  if (!isRepeated) for (const [at, { segment }] of byRecord.entries()) homes.set(segment, ours[at]!.segment)
  return homes
}

/** Segments whose records have to be looked at one by one. */
function suspectsIn(scanned: readonly ScannedSegment[], homes: ReadonlyMap<number, number>): Set<number> {
  const found = new Set<number>()
  for (const [at, one] of scanned.entries()) {
    const before = scanned[at - 1]
    if (one.items !== undefined || homes.get(one.segment) !== one.segment) found.add(one.segment)
    if (before?.last === undefined || one.first === undefined) continue
    const { seq, sum } = before.last
    const isLinked = one.first.seq === seq + 1 && one.first.prev === sum
    if (isLinked || one.first.seq > seq + 1) continue
    found.add(before.segment)
    found.add(one.segment)
  }
  return found
}

function contentOf({ path, archived }: { path: string; archived: boolean }): Buffer {
  const file = readIfAny(path) ?? Buffer.alloc(0)
  return archived ? gunzipWhatGoes(file).bytes : file
}

export interface Journal {
  dir: string
  options: PlanOptions
  scanned: readonly ScannedSegment[]
  /** The number that each file should have. */
  homes: ReadonlyMap<number, number>
  pool: Pool
  /** What is in the segments that are not sound. */
  itemsIn: ReadonlyMap<number, Item[]>
  /** The first number that a record should have. */
  from: number
}

function describe(journal: Journal): RepairPlan {
  const { pool, scanned, itemsIn } = journal
  const lost = lostIn(journal)
  const byHome = new Map<number, Candidate[]>()
  for (const [seq, found] of pool.chosen) {
    const home = found.home === 0 ? segmentNear(scanned, seq) : found.home
    const known = byHome.get(home)
    if (known === undefined) byHome.set(home, [found])
    else known.push(found)
  }
  const touched = new Set([...itemsIn.keys(), ...byHome.keys(), ...missingFiles(journal)])
  const segments: PlannedSegment[] = []
  for (const segment of [...touched].sort((a, b) => a - b)) {
    const planned = planSegment(journal, lost, segment, byHome.get(segment) ?? [])
    if (planned !== undefined) segments.push(planned)
  }
  return { segments, lost }
}

/** Numbers between the plain files that no file has. A reader would take the file before for the last one. */
function missingFiles({ scanned }: Journal): number[] {
  const plain = scanned.filter(({ archived }) => !archived).map(({ segment }) => segment)
  const [first = 0, last = -1] = [plain[0], plain.at(-1)]
  return Array.from({ length: last - first }, (_, at) => first + at).filter((n) => !plain.includes(n))
}

/** The numbers that no record has, up to the last one that was acknowledged. */
function lostIn({ dir, options, pool, from }: Journal): Range[] {
  const last = pool.highest
  const head = readHead(dir, options.space)?.seq ?? 0
  return [...pool.gaps(from), ...(head > last ? [{ from: last + 1, to: head }] : [])]
}

const segmentNear = (scanned: readonly ScannedSegment[], seq: number): number =>
  (scanned.findLast(({ first }) => first !== undefined && first.seq <= seq) ?? scanned[0]!).segment

function planSegment(
  journal: Journal,
  lost: readonly Range[],
  segment: number,
  chosen: readonly Candidate[],
): PlannedSegment | undefined {
  const { dir, scanned, homes, itemsIn, options } = journal
  const file = scanned.find((one) => one.segment === segment)
  const before = file === undefined ? Buffer.alloc(0) : (file.bytes ?? contentOf(file))
  // What belongs here may be in a file of another number.
  const origin = scanned.find((one) => homes.get(one.segment) === segment && !one.foreign)
  const items = origin === undefined ? [] : (itemsIn.get(origin.segment) ?? itemsOf(before))
  // A sound segment that gets records it had lost keeps its own.
  const own = origin === undefined || itemsIn.has(origin.segment) ? [] : items.filter(isRecord)
  const records = [...own, ...chosen.map(({ record }) => record)].sort((a, b) => a.seq - b.seq)
  const isLost = (after: number, until: number) =>
    staysLost(journal, lost, segment, after, until, records.at(-1)?.seq ?? 0)
  const content = sameInCopy(options.copies, segment, records) ?? assemble({ records, items, isLost })
  if (file !== undefined && content.equals(before) && !file.unpackable) return undefined
  const restored: Record<string, number> = {}
  for (const { source } of chosen) if (source !== undefined) restored[source] = (restored[source] ?? 0) + 1
  const { [corrected]: bits = 0, ...copied } = restored
  const archived = file?.archived ?? Math.max(0, ...listArchived(dir).keys()) > segment
  const lastAt = records.at(-1)?.entry.at
  return {
    ...{ segment, archived, before, content },
    path: file?.path ?? (archived ? archivedPath(dir, segment, lastAt!) : segmentPath(dir, segment)),
    exists: file !== undefined,
    reformatted: chosen.filter(({ record, source }) => source === undefined && !record.intact).length,
    corrected: bits,
    restored: copied,
  }
}

/** Whether a record between two numbers, in a segment, is still missing. */
function staysLost(
  { scanned }: Journal,
  lost: readonly Range[],
  segment: number,
  after: number,
  until: number,
  last: number,
): boolean {
  const isLast = scanned.at(-1)?.segment === segment
  // Behind the last record nothing tells whether one is missing.
  if (isLast && until === Number.POSITIVE_INFINITY) return last === after
  const [low, high] = [
    after || (scanned.findLast((one) => one.segment < segment)?.last?.seq ?? 0),
    Math.min(until, scanned.find((one) => one.segment > segment)?.first?.seq ?? until),
  ]
  return lost.some((gap) => gap.from < high && gap.to > low)
}

/**
 * The bytes of a copy, if it has these records and no others: then also what writes that were cut off have left
 * between them is there.
 */
function sameInCopy(
  copies: readonly Copy[],
  segment: number,
  records: readonly FoundRecord[],
): Buffer | undefined {
  const sums = records.map(({ sum }) => sum).join()
  return copies
    .flatMap((copy) => contentsOf(copy, segment))
    .find((bytes) => {
      const items = itemsOf(bytes)
      const found = items.filter(isRecord)
      return isSound(items) && found.map(({ sum }) => sum).join() === sums
    })
}
