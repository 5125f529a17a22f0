import { closeSync, existsSync, statSync, unlinkSync } from 'node:fs'
import { readFully, streamFileAtomically } from '../../base/files.ts'
import { isBeginning, mirrorJournal, setAside, strangenessOf } from './mirror.ts'
import { listArchived, listPlain, listSegments, openForRead, segmentPath, sizeOf } from './segment.ts'
import { PlainSegment, type SegmentBytes, unpack } from './segment-bytes.ts'

/** How a mirror stands to the journal. */
export interface MirrorState {
  /**
   * `current`: it has everything. `behind`: it lacks some bytes. `ahead`: it has more than the journal, which has
   * lost something. `away`: it is not there, or it is not the mirror of this space.
   */
  state: 'current' | 'behind' | 'ahead' | 'away'
  /** What it lacks. */
  missingBytes: number
  /** What a person should know about it. */
  problem?: string
}

/** Compares sizes, without reading. */
export function mirrorState(dir: string, mirror: string, space: string): MirrorState {
  const strange = strangenessOf(mirror, space)
  if (strange !== undefined) return { state: 'away', missingBytes: 0, problem: `no mirror: ${strange}` }
  let missingBytes = 0
  let isAhead = false
  for (const { segment, size } of segmentSizes(dir)) {
    const copied = sizeAt(segmentPath(mirrorJournal(mirror), segment))
    missingBytes += Math.max(0, size - copied)
    isAhead ||= copied > size
  }
  if (isAhead)
    return { state: 'ahead', missingBytes, problem: `${mirror} has mail that the journal has lost` }
  if (missingBytes === 0) return { state: 'current', missingBytes }
  return { state: 'behind', missingBytes, problem: `the mirror in ${mirror} lacks ${missingBytes} bytes` }
}

interface SegmentSize {
  segment: number
  size: number
}

function segmentSizes(dir: string): SegmentSize[] {
  const archived = listArchived(dir)
  return listSegments(dir).map((segment) => {
    const size = sizeAt(segmentPath(dir, segment))
    const packed = size === 0 ? archived.get(segment) : undefined
    return { segment, size: packed === undefined ? size : unpackedSize(packed) }
  })
}

function sizeAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** What gzip says at the end of a file about the size of its content. */
function unpackedSize(path: string): number {
  const fd = openForRead(path)
  if (fd === undefined) return 0
  try {
    const size = sizeOf(fd)
    return size < 18 ? 0 : readFully(fd, size - 4, 4).readUInt32LE()
  } finally {
    closeSync(fd)
  }
}

export interface CopyOptions {
  onProgress?: ((done: { bytes: number; total: number }) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Copies the closed segments that a mirror lacks, or has only a part of. Needs no lock: they do not change. */
export async function copyClosed(
  dir: string,
  mirror: string,
  { onProgress, signal }: CopyOptions = {},
): Promise<void> {
  const copies = mirrorJournal(mirror)
  const last = listPlain(dir).at(-1) ?? 0
  const short = segmentSizes(dir).filter(
    ({ segment, size }) => segment < last && sizeAt(segmentPath(copies, segment)) < size,
  )
  const total = short.reduce((sum, { size }) => sum + size, 0)
  let bytes = 0
  for (const { segment, size } of short) {
    const path = segmentPath(copies, segment)
    if (existsSync(path) && !isBeginning(dir, copies, segment)) setAside(path)
    await copySegment(dir, segment, path, signal)
    bytes += size
    onProgress?.({ bytes, total })
  }
}

const chunkBytes = 1_048_576

async function copySegment(dir: string, segment: number, to: string, signal?: AbortSignal): Promise<void> {
  const plain = openForRead(segmentPath(dir, segment))
  const packed = plain === undefined ? listArchived(dir).get(segment) : undefined
  const fd = plain ?? (packed === undefined ? undefined : openForRead(packed))
  // It was removed meanwhile.
  if (fd === undefined) return
  try {
    const bytes: SegmentBytes = plain === undefined ? unpack({ path: packed!, fd }) : new PlainSegment(fd)
    const { size } = bytes.look()
    await streamFileAtomically(to, async (file) => {
      for (let at = 0; at < size; at += chunkBytes) {
        signal?.throwIfAborted()
        await file.write(bytes.read(at, chunkBytes))
      }
    })
  } finally {
    closeSync(fd)
  }
}

/** Deletes the copies of segments that were removed from the space, this time or while the mirror was away. */
export function removeMirrored(mirror: string, space: string, upTo: number): void {
  if (mirror === '' || strangenessOf(mirror, space) !== undefined) return
  const copies = mirrorJournal(mirror)
  for (const segment of listPlain(copies)) if (segment <= upTo) unlinkSync(segmentPath(copies, segment))
}
