import { join } from 'node:path'
import { damagedDir } from '../damage.ts'
import { archiveDirOf } from '../file/segment.ts'
import { correctBit } from '../salvage.ts'
import { copyIn, recordsOf } from './copies.ts'
import { offerExported } from './exports.ts'
import { type Item, isRecord, recordIn } from './items.ts'
import type { Journal } from './plan.ts'
import { isIn } from './pool.ts'
import { joined } from './scan.ts'

/** The source of records whose bit is turned back. */
export const corrected = 'corrected'

/** Fills the gaps: from copies, and where one bit has flipped by turning it back. */
export function restore({ dir, pool, homes, itemsIn, options, from }: Journal): void {
  const highest = pool.highest
  const gaps = pool.gaps(from)
  // What a repair kept, and a segment that is in both places.
  const own = [copyIn(join(dir, damagedDir), 'journal/damaged'), copyIn(archiveDirOf(dir), 'archive')]
  for (const copy of [...own, ...options.copies]) {
    const wanted = (seq: number) => isIn(gaps, seq) || seq > highest
    for (const candidate of recordsOf(copy, options.space, wanted)) pool.offer(candidate)
  }
  pool.choose(from, highest)
  if (pool.gaps(from).length === 0 && itemsIn.size === 0) return
  const until = performance.now() + mendMs
  for (const [segment, items] of itemsIn) {
    for (const bytes of brokenIn(items)) {
      if (performance.now() > until) break
      const record = correctBit(bytes, asRecord)
      if (record !== undefined && !pool.has(record.seq))
        pool.offer({ record, home: homes.get(segment)!, source: corrected })
    }
  }
  pool.choose(from, highest)
  for (const [name, messages] of Object.entries(options.exported ?? {})) {
    offerExported(pool, pool.gaps(from), messages, name)
    pool.choose(from, highest)
  }
}

/** The trial goes on with its buffer. */
function asRecord(line: Buffer) {
  const entry = recordIn(Buffer.from(line), 0, false)
  return entry && { entry, sum: entry.sum }
}

/** How long bits are turned back by trial. */
const mendMs = 10_000

/** Bytes that may have been a record: each broken line, and lines that a newline has come between. */
function brokenIn(items: readonly Item[]): Buffer[] {
  const runs: Buffer[] = []
  let run: Exclude<Item, { seq: number }>[] = []
  for (const item of [...items, undefined]) {
    if (item !== undefined && !isRecord(item)) {
      run.push(item)
      continue
    }
    runs.push(...run.map(({ bytes }) => bytes))
    if (run.length === 2) runs.push(joined([run[0]!, { ...run[1]!, ended: false }]))
    run = []
  }
  return runs
}
