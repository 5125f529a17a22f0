import { readMoment } from '../model/time.ts'
import { type Digest, DigestFold } from '../query/digest.ts'
import type { SpaceCore } from './core.ts'
import { queryNow } from './due.ts'
import { readPersonFile } from './person-file.ts'

export interface DigestOptions {
  /** A date, a time, or how long ago: `24h`. @default '24h' */
  since?: string
}

/** What happened since a time, for the person: what was decided and finished, what is open, and who died. */
export async function digest(core: SpaceCore, { since = '24h' }: DigestOptions = {}): Promise<Digest> {
  const fold = new DigestFold(readMoment(since, core.now()))
  // What is due is done first: it may be what the person wants to know.
  let slice = await queryNow(core, (source) => fold.read(source))
  while (!slice.isLast) {
    fold.take(slice)
    await new Promise(setImmediate)
    slice = await core.query((source) => fold.read(source))
  }
  const { snoozed } = readPersonFile(core.dir)
  return core.query((source) => fold.finish(source, core.now(), snoozed))
}
