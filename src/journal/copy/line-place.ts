import { sumText } from '../codec.ts'
import type { Cursor, Place } from '../journal.ts'

/** What a line says of itself at its beginning. */
interface LineStart {
  seq: number
  kind: string
}

const startPattern = /^\{"seq":(\d+),"at":"[^"]*","kind":"([a-z]+)"/

export function lineStart(text: string): LineStart | undefined {
  const [, seq, kind] = startPattern.exec(text) ?? []
  return seq === undefined ? undefined : { seq: Number(seq), kind: kind! }
}

/** The end once a line is written: one that begins a segment begins a file. */
export function after(end: Cursor, { seq, kind }: LineStart, line: Buffer): Cursor {
  const begins = kind === 'segment' && end.seq > 0
  const [segment, offset] = begins ? [end.segment + 1, 0] : [end.segment, end.offset]
  return { seq, segment, offset: offset + line.length + 1, sum: sumText(line) }
}

/** Where lines will be that are appended at a cursor. */
export function placesAfter(from: Cursor, lines: readonly string[]): Place[] {
  let end = from
  return lines.map((text) => {
    const line = Buffer.from(text)
    end = after(end, lineStart(text)!, line)
    return { segment: end.segment, offset: end.offset - line.length - 1, bytes: line.length }
  })
}
