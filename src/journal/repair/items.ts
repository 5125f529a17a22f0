import type { Entry } from '../../model/entry.ts'
import { decodeLine } from '../codec.ts'
import { salvage } from '../salvage.ts'

const newline = 0x0a

/** An entry in a file, with the bytes of its line. */
export interface FoundRecord {
  seq: number
  prev: string
  sum: string
  entry: Entry
  /** Without its newline. */
  line: Buffer
  offset: number
  /** Whether it stands on a line of its own, as it was written. */
  intact: boolean
}

/** Bytes of a file that are no entry. */
export interface Junk {
  /** Without their newline. */
  bytes: Buffer
  offset: number
  /** Whether a newline ends them. */
  ended: boolean
}

export type Item = FoundRecord | Junk

export const isRecord = (item: Item): item is FoundRecord => 'seq' in item

/** Takes a file apart into entries and what is none, in the order of the file. Nothing is left out. */
export function itemsOf(bytes: Buffer): Item[] {
  const items: Item[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(newline, start)
    const ended = end >= 0
    const line = bytes.subarray(start, ended ? end : bytes.length)
    const whole = recordIn(line, start, ended)
    if (whole !== undefined) items.push(whole)
    else items.push(...piecesOf(line, start, ended))
    start += line.length + 1
  }
  return items
}

export function recordIn(line: Buffer, offset: number, intact: boolean): FoundRecord | undefined {
  const decoded = decodeLine(line)
  if (decoded === undefined) return undefined
  const { entry, prev, sum } = decoded
  return { seq: entry.seq, prev, sum, entry, line, offset, intact }
}

/** A line that an editor or a lost newline has joined with others or added something to. */
function piecesOf(line: Buffer, base: number, ended: boolean): Item[] {
  const pieces = salvage(line, decodeLine)
  return pieces.map(({ start, end }, at) => {
    const bytes = line.subarray(start, end)
    const isLast = at === pieces.length - 1
    return recordIn(bytes, base + start, false) ?? { bytes, offset: base + start, ended: ended || !isLast }
  })
}
