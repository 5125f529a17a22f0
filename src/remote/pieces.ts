import { isObject } from '../base/objects.ts'
import type { NumberedLine } from '../space/transfer.ts'

/** How much history goes into one request. */
const linesAtOnce = 1_000
const charsAtOnce = 524_288

/** Pieces that fit into a request. What became of a message is in the same one. */
export function* inPieces(lines: readonly NumberedLine[]): Generator<NumberedLine[]> {
  let piece: NumberedLine[] = []
  let chars = 0
  for (const line of lines) {
    const value = 'value' in line ? line.value : undefined
    const isFull = piece.length >= linesAtOnce || chars >= charsAtOnce
    if (isFull && isObject(value) && value['kind'] === 'message') {
      yield piece
      piece = []
      chars = 0
    }
    piece.push(line)
    chars += JSON.stringify(value).length
  }
  if (piece.length > 0) yield piece
}
