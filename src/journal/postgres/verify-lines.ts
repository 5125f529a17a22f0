import { hasItsSum, prevText, sumText } from '../codec.ts'
import { linesOfPacked, type PackedSegment, packedAfter } from './archive.ts'
import type { Server } from './server.ts'

/** Reads every line in the database again, archived ones too. Returns what is wrong with them. */
export async function verifyLines(server: Server): Promise<string[]> {
  let last: { seq: number; sum: string } | undefined
  for (;;) {
    const head = await server.since(last?.seq ?? 0)
    const next = last === undefined ? (head.first?.seq ?? 1) : last.seq + 1
    const packed = head.seq < next ? undefined : await packedAfter(server, next - 1)
    const isPacked = packed !== undefined && packed.first <= next
    const lines = isPacked ? await linesIn(server, packed) : head.lines
    if (lines === undefined) return [`segment ${packed!.segment} in the archive of the database is damaged`]
    for (const text of lines) {
      const line = Buffer.from(text)
      const seq = Number(/^\{"seq":(\d+)/.exec(text)?.[1])
      if (!hasItsSum(line)) return [`entry ${(last?.seq ?? 0) + 1} in the database is not as it was written`]
      if (last === undefined ? seq !== next : seq !== last.seq + 1 || prevText(line) !== last.sum)
        return [`entry ${seq} in the database does not follow entry ${last?.seq ?? next - 1}`]
      last = { seq, sum: sumText(line) }
    }
    if ((isPacked || head.lines.length > 0) && last!.seq < head.seq) continue
    const isEnd = last?.seq === head.seq && last.sum === head.sum
    return isEnd
      ? []
      : [
          `the database says that the journal ends with entry ${head.seq}, and entry ${last?.seq ?? 0} is the last one there`,
        ]
  }
}

/** Undefined if it cannot be read. */
const linesIn = (server: Server, packed: PackedSegment): Promise<string[] | undefined> =>
  linesOfPacked(server, packed).catch(() => undefined)
