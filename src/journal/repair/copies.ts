import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { listIfAny } from '../../base/files.ts'
import { isRecord, itemsOf } from './items.ts'
import type { Candidate } from './pool.ts'
import { gunzipWhatGoes, readIfAny } from './scan.ts'

/** Another place where records of the journal may be. */
export interface Copy {
  /** What it is called in reports: `mirror`, `archive`, or a path. */
  name: string
  files: CopiedFile[]
}

interface CopiedFile {
  path: string
  segment: number
}

/** `00000001.jsonl`, `2026-01-00000001.jsonl.gz`, what was kept of either, and what was kept of a damaged end. */
const copyPattern = /^(?:\d{4}-\d\d-)?(\d{8})(?:\.jsonl(?:\.gz)?(?:\.|$)|-\d+-before-)/

/** The segments in a directory: that of a space, of a mirror, or one with segments in it. */
export function copyIn(dir: string, name: string): Copy {
  const places = [
    dir,
    join(dir, 'damaged'),
    join(dir, 'journal'),
    join(dir, 'journal', 'damaged'),
    join(dir, 'archive'),
  ]
  const files = places.flatMap((place) =>
    listIfAny(place).flatMap((file) => {
      const match = copyPattern.exec(file)
      return match === null || file.endsWith('.tmp')
        ? []
        : { path: join(place, file), segment: Number(match[1]) }
    }),
  )
  return { name, files }
}

/** A copy that a person names: a directory, or one file of a journal. */
export function copyAt(path: string): Copy {
  if (!existsSync(path))
    throw new MailboxError('not_found', `there is no ${path}`, { hint: 'check the path' })
  if (statSync(path).isDirectory()) return copyIn(path, path)
  const match = copyPattern.exec(path.slice(path.lastIndexOf('/') + 1))
  return { name: path, files: [{ path, segment: match === null ? 0 : Number(match[1]) }] }
}

/** The records of a copy that are wanted. Files of other spaces are passed over. */
export function recordsOf(
  { name, files }: Copy,
  space: string,
  isWanted: (seq: number, segment: number) => boolean,
): Candidate[] {
  const found: Candidate[] = []
  for (const { path, segment } of files) {
    const records = itemsOf(contentOf(path)).filter(isRecord)
    const isForeign = records.some(({ entry }) => entry.kind === 'segment' && entry.space !== space)
    if (isForeign) continue
    for (const record of records)
      if (isWanted(record.seq, segment)) found.push({ record, home: segment, source: name })
  }
  return found
}

/** The first record of each file of a copy, by its sum, with the number of its segment. */
export const firstSums = ({ files }: Copy): [string, number][] =>
  files.flatMap(({ path, segment }) => {
    const content = contentOf(path)
    const first = itemsOf(content.subarray(0, content.indexOf('\n') + 1)).find(isRecord)
    return first === undefined || segment === 0 ? [] : [[first.sum, segment] as [string, number]]
  })

/** The segment in which copies have a record, for a file that has lost its first lines. */
export const segmentWith = (copies: readonly Copy[], sum: string): number | undefined =>
  copies
    .flatMap(({ files }) => files)
    .find(({ path, segment }) => segment > 0 && contentOf(path).includes(`"sum":"${sum}"}`))?.segment

/** What a copy has of a segment, in each file that it has of it. */
export const contentsOf = (copy: Copy, segment: number): Buffer[] =>
  copy.files.filter((file) => file.segment === segment).map(({ path }) => contentOf(path))

function contentOf(path: string): Buffer {
  const file = readIfAny(path) ?? Buffer.alloc(0)
  const isPacked = file[0] === 0x1f && file[1] === 0x8b
  return isPacked ? gunzipWhatGoes(file).bytes : file
}
