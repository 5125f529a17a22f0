import { closeSync } from 'node:fs'
import { MailboxError } from '../../base/errors.ts'
import { hasItsSum, prevText, sumText } from '../codec.ts'
import { readHead } from '../file/head-mark.ts'
import { bytesOf, inOrderOfSeq, openAll, spaceOf } from '../file/segment-set.ts'

export interface WholeLine {
  seq: number
  sum: string
  text: string
}

const newline = 0x0a
const chunkBytes = 4 * 1_048_576

/**
 * Every line of the journal in a directory, each following the one before it. What a write that was cut off has left is
 * no line. Throws where one is missing: what is moved must be whole. `after`: files that end before it are left out.
 */
export function* wholeLines(journalDir: string, after = 0): Generator<WholeLine> {
  const files = openAll(journalDir)
  let last: WholeLine | undefined
  try {
    const space = spaceOf(files, readHead(journalDir)?.space)
    const inOrder = inOrderOfSeq(files, space).map(({ file }) => file)
    for (const [at, file] of inOrder.entries()) {
      if (file.space !== space || (inOrder[at + 1]?.firstSeq ?? Number.POSITIVE_INFINITY) <= after + 1)
        continue
      const bytes = bytesOf(file, (what) => {
        throw notWhole(what)
      })!
      const { size } = bytes.look()
      for (let offset = 0, wanted = chunkBytes; offset < size; ) {
        const chunk = bytes.read(offset, Math.min(wanted, size - offset))
        let start = 0
        for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
          const line = chunk.subarray(start, end)
          start = end + 1
          if (!hasItsSum(line)) continue
          const text = line.toString('utf8')
          const found = { seq: Number(/^\{"seq":(\d+)/.exec(text)?.[1]), sum: sumText(line), text }
          if (last !== undefined && (found.seq !== last.seq + 1 || prevText(line) !== last.sum))
            throw notWhole(`entry ${found.seq} does not follow entry ${last.seq}`)
          last = found
          yield found
        }
        if (start === 0 && offset + chunk.length >= size) break
        wanted = start === 0 ? wanted * 2 : chunkBytes
        offset += start
      }
    }
  } finally {
    for (const { fd } of files) closeSync(fd)
  }
  const marked = readHead(journalDir)
  if (marked !== undefined && marked.seq > (last?.seq ?? 0))
    throw notWhole(`entries ${(last?.seq ?? 0) + 1} to ${marked.seq} are missing`)
}

const notWhole = (why: string) =>
  new MailboxError('damaged', `the journal is not whole: ${why}`, {
    hint: 'run `mailbox repair` first; if entries are lost for good, take the rest with `mailbox export` and `mailbox import`',
  })
