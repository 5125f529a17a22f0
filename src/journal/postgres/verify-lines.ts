import { hasItsSum, prevText, sumText } from '../codec.ts'
import type { Server } from './server.ts'

/** Reads every line in the database again. Returns what is wrong with them. */
export async function verifyLines(server: Server): Promise<string[]> {
  let last: { seq: number; sum: string } | undefined
  for (;;) {
    const head = await server.since(last?.seq ?? 0)
    for (const text of head.lines) {
      const line = Buffer.from(text)
      const seq = Number(/^\{"seq":(\d+)/.exec(text)?.[1])
      if (!hasItsSum(line)) return [`entry ${(last?.seq ?? 0) + 1} in the database is not as it was written`]
      if (last !== undefined && (seq !== last.seq + 1 || prevText(line) !== last.sum))
        return [`entry ${seq} in the database does not follow entry ${last.seq}`]
      last = { seq, sum: sumText(line) }
    }
    if (head.lines.length > 0 && last!.seq < head.seq) continue
    const isEnd = last?.seq === head.seq && last.sum === head.sum
    return isEnd
      ? []
      : [
          `the database says that the journal ends with entry ${head.seq}, and entry ${last?.seq ?? 0} is the last one there`,
        ]
  }
}
