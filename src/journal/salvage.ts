import { hasItsSum } from './codec.ts'

/** Decodes a line without its newline; undefined if it is not one. */
export type Decode<E> = (line: Buffer) => { entry: E; sum: string } | undefined

/** A part of a broken line. */
export interface Piece<E> {
  /** Where it starts and ends in the broken line. */
  start: number
  end: number
  /** Undefined if the part is broken itself. */
  decoded: ReturnType<Decode<E>>
}

const newline = 0x0a
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** Whether a byte is a newline with one bit flipped. */
export function wasNewline(byte: number | undefined): boolean {
  const flipped = (byte ?? newline) ^ newline
  return flipped !== 0 && (flipped & (flipped - 1)) === 0
}

/**
 * Where one line was joined to the next: the newline between them is gone, has a flipped bit, or became other
 * white space. Nothing in a line looks like this: within a string every quote is escaped, and outside of strings only
 * punctuation stands before a brace. So no message can pass a part of itself off as a line.
 */
const joint = /(?:\}[ \t\r]?|[\x02\b\v\x0e\x1a*J\x8a])(?=\{"seq":)/g

/** Splits a line that does not decode into what can be read and what cannot. */
export function salvage<E>(line: Buffer, decode: Decode<E>): Piece<E>[] {
  const pieces: Piece<E>[] = []
  let start = 0
  for (const { 0: text, index } of line.toString('latin1').matchAll(joint)) {
    pieces.push(pieceOf(line, start, text.startsWith('}') ? index + 1 : index, decode))
    start = index + text.length
  }
  pieces.push(pieceOf(line, start, line.length, decode))
  const isBroken = pieces.every(({ decoded }) => decoded === undefined)
  return isBroken ? [{ start: 0, end: line.length, decoded: undefined }] : pieces
}

/** Whether an editor has put a byte order mark before it. */
export const startsWithMark = (line: Buffer): boolean => line.subarray(0, 3).equals(byteOrderMark)

/** An editor may have put a byte order mark before a line, or a carriage return after it. */
function pieceOf<E>(line: Buffer, from: number, to: number, decode: Decode<E>): Piece<E> {
  const marked = startsWithMark(line.subarray(from))
  const start = marked ? from + byteOrderMark.length : from
  const end = line[to - 1] === 0x0d ? to - 1 : to
  const decoded = decode(line.subarray(start, end))
  return decoded === undefined ? { start: from, end: to, decoded } : { start, end, decoded }
}

/** Lines up to this length are corrected by trial, which takes some milliseconds. */
const correctableBytes = 1_024

/** What a line says, if just one bit of it has flipped: the checksum tells when it is right again. */
export function correctBit<E>(line: Buffer, decode: Decode<E>): E | undefined {
  if (line.length > correctableBytes) return undefined
  const trial = Buffer.from(line)
  for (let at = 0; at < trial.length; at++) {
    for (let bit = 1; bit < 256; bit *= 2) {
      trial[at]! ^= bit
      const decoded = hasItsSum(trial) ? decode(trial) : undefined
      if (decoded !== undefined) return decoded.entry
      trial[at]! ^= bit
    }
  }
  return undefined
}
