import { readSync, statSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/** What tells whether a file was written to, and when all of its pages were last found right. */
export interface Stamp {
  inode: number
  size: number
  modifiedMs: number
  changedMs: number
  checkedAt: number
}

const magic = Buffer.from('mailsums')
const sumAt = 48
/** The room it takes at the start of the file of sums. */
export const stampBytes = 64

/** The stamp that a file has now. */
export function stampOf(path: string): Stamp {
  const stat = statSync(path, { throwIfNoEntry: false })
  const { ino = 0, size = 0, mtimeMs = 0, ctimeMs = 0 } = stat ?? {}
  return { inode: ino, size, modifiedMs: mtimeMs, changedMs: ctimeMs, checkedAt: 0 }
}

export const isSameStamp = (a: Stamp, b: Stamp): boolean =>
  a.inode === b.inode && a.size === b.size && a.modifiedMs === b.modifiedMs && a.changedMs === b.changedMs

export function readStamp(fd: number): Stamp | undefined {
  const bytes = Buffer.alloc(stampBytes)
  readSync(fd, bytes, 0, stampBytes, 0)
  if (!magic.equals(bytes.subarray(0, 8)) || bytes.readUInt32LE(sumAt) !== crc32(bytes.subarray(0, sumAt)))
    return undefined
  const [inode, size, modifiedMs, changedMs, checkedAt] = [8, 16, 24, 32, 40].map((at) =>
    bytes.readDoubleLE(at),
  ) as [number, number, number, number, number]
  return { inode, size, modifiedMs, changedMs, checkedAt }
}

export function writeStamp(fd: number, stamp: Stamp): void {
  const bytes = Buffer.alloc(stampBytes)
  magic.copy(bytes)
  const { inode, size, modifiedMs, changedMs, checkedAt } = stamp
  for (const [at, value] of [inode, size, modifiedMs, changedMs, checkedAt].entries())
    bytes.writeDoubleLE(value, 8 + at * 8)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, sumAt)), sumAt)
  writeSync(fd, bytes, 0, stampBytes, 0)
}
