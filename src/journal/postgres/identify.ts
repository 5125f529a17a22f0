import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { decodeLine } from '../codec.ts'
import { putAside } from '../copy/origin.ts'
import { listSegments } from '../file/segment.ts'
import { SegmentReader } from '../file/segment-reader.ts'
import { isLost } from '../unreachable.ts'
import { noSpace } from './server.ts'
import type { Store } from './store.ts'

/** Which space it is: by the database, or by the copy if that is all there is. */
export async function identify(
  store: Store,
  { creates, dir }: { creates: boolean; dir: string },
): Promise<string> {
  const here = spaceIn(join(dir, 'journal'))
  try {
    if (!(await store.server.find({ creates }))) throw noSpace(store.server.address.shown)
  } catch (error) {
    if (!isLost(error) || here === undefined) throw error
    return here
  }
  // A space was removed, and another one created with its name. What is left of the first may be all that is left.
  if (here !== undefined && here !== store.server.id) {
    store.copy.locked(() => putAside(dir, Date.now()))
    store.copy.drop()
  }
  return store.server.id
}

function spaceIn(journalDir: string): string | undefined {
  const reader = new SegmentReader(journalDir, decodeLine)
  try {
    const first = existsSync(journalDir) ? listSegments(journalDir)[0] : undefined
    const entry = first === undefined ? undefined : reader.first(first)
    return entry?.kind === 'segment' ? entry.space : undefined
  } finally {
    reader.close()
  }
}
