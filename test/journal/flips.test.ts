import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decodeLine } from '../../src/journal/codec.ts'
import { SegmentReader } from '../../src/journal/file/segment-reader.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { agentDraft, appendMessage, messageDraft, upTo } from '../helpers/drafts.ts'
import { segmentFile, segmentFiles } from '../helpers/segments.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir, tempJournal } from '../helpers/temp.ts'

/** A journal of two segments, with text of which single bits make newlines, and a write that was cut off. */
async function sample(): Promise<string> {
  const dir = tempDir()
  const first = tempJournal({ dir, segmentBytes: 2_000 })
  await first.append(() => [agentDraft(), messageDraft({ subject: 'J*', body: '* JJ ʊ Њ'.repeat(4) })])
  appendFileSync(segmentFile(dir), '{"seq":4,"at":"20')
  for (const n of upTo(5)) await appendMessage(first, { subject: `JJ ${n}`, payload: { seq: n } })
  await first.close()
  return dir
}

/** What a reader makes of the journal from its start. */
function readIn(dir: string) {
  const reader = new SegmentReader(join(dir, 'journal'), decodeLine)
  try {
    const { entries, damaged, cursor } = reader.read(startCursor, 1_048_576)
    const head = reader.head(2)?.seq
    return { entries: entries.map(({ entry }) => entry), damaged, cursor, head, fits: reader.fits(cursor) }
  } finally {
    reader.close()
  }
}

type Found = ReturnType<typeof readIn>

/** What is wrong with a reading of the journal in which one bit of this byte was flipped. */
function flawOf(whole: Found, found: Found, bytes: Buffer, segment: number, at: number): string | undefined {
  const lost = whole.entries.filter(({ seq }) => found.entries.every((entry) => entry.seq !== seq))
  const left = whole.entries.filter((entry) => !lost.includes(entry))
  if (lost.length > 1) return `${lost.length} entries are lost`
  if (JSON.stringify(found.entries) !== JSON.stringify(left)) return 'the other entries have changed'
  if (found.damaged.map(({ seq }) => seq).join() !== lost.map(({ seq }) => seq).join())
    return 'what is lost is not what is reported'
  if (!found.fits) return 'the cursor does not fit'
  if (found.cursor.seq !== whole.cursor.seq) return `the cursor is at ${found.cursor.seq}`
  if (found.head !== undefined && found.head !== whole.head)
    return `segment 2 seems to begin at ${found.head}`
  const offset = at === 0 ? 0 : bytes.lastIndexOf(0x0a, at - 1) + 1
  const line = bytes.subarray(0, offset).toString('latin1').split('\n').length
  const end = bytes.indexOf(0x0a, at)
  // The rest of a cut-off write before the line may be taken for its first half.
  const strays = found.damaged.filter(
    (one) =>
      one.segment !== segment || one.line > line || one.offset > offset || one.offset + one.bytes !== end,
  )
  return strays.length === 0 ? undefined : `${JSON.stringify(strays)} is reported instead of line ${line}`
}

describe('any single flipped bit', () => {
  it('costs at most the record that it is in, which is named', async () => {
    const dir = await sample()
    const whole = readIn(dir)
    expect(whole).toMatchObject({ damaged: [], fits: true })
    expect(segmentFiles(dir)).toHaveLength(2)
    const wrong: string[] = []
    let flips = 0
    let lost = 0
    for (const segment of [1, 2]) {
      const file = segmentFile(dir, segment)
      const bytes = readFileSync(file)
      // A newline is where most can go wrong, so all of its bits are flipped.
      const isDue = (bit: number) => bit % inStorm(1, 211) === 0 || bytes[bit >> 3] === 0x0a
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        if (!isDue(bit)) continue
        const flipped = Buffer.from(bytes)
        flipped[bit >> 3]! ^= 1 << (bit & 7)
        writeFileSync(file, flipped)
        const found = readIn(dir)
        const flaw = flawOf(whole, found, bytes, segment, bit >> 3)
        if (flaw !== undefined) wrong.push(`bit ${bit} of segment ${segment}: ${flaw}`)
        flips++
        lost += found.damaged.length
      }
      writeFileSync(file, bytes)
    }
    expect(wrong.slice(0, 5)).toEqual([])
    expect(lost).toBeGreaterThan(flips / 2)
  })
})
