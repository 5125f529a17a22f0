import { closeSync, fstatSync } from 'node:fs'
import { readFully } from '../base/files.ts'
import type { Folder } from './folder.ts'

const chunkBytes = 16 * 1_048_576

/**
 * Whether a file has a line with these values in these fields: asked when an earlier run may have written it. What is
 * found is kept, and only what was appended since is read the next time.
 */
export function hasLine(
  folder: Folder,
  path: string,
  fields: readonly string[],
  values: readonly string[],
): boolean {
  const fd = folder.openLines(path)
  if (fd === undefined) return false
  try {
    const { ino, size } = fstatSync(fd)
    const key = `${folder.root}/${path} ${fields.join(' ')}`
    const before = found.get(key)
    const known =
      before?.ino === ino && before.end <= size ? before : { ino, end: 0, keys: new Set<string>() }
    const patterns = fields.map((field) => new RegExp(`"${field}"\\s*:\\s*"([^"\\\\]*)"`))
    while (known.end < size) {
      const chunk = readFully(fd, known.end, Math.min(chunkBytes, size - known.end))
      const whole = chunk.lastIndexOf(10) + 1
      if (whole === 0) break
      for (const line of chunk.subarray(0, whole).toString('utf8').split('\n'))
        known.keys.add(patterns.map((pattern) => pattern.exec(line)?.[1] ?? '').join(' '))
      known.end += whole
    }
    found.set(key, known)
    return known.keys.has(values.join(' '))
  } finally {
    closeSync(fd)
  }
}

/** What the files that were searched contain, and up to where. */
const found = new Map<string, { ino: number; end: number; keys: Set<string> }>()
