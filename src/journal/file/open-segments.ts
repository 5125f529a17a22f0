import { closeSync } from 'node:fs'
import { readFully } from '../../base/files.ts'
import { listSegments, openForRead, segmentPath } from './segment.ts'
import { type Archive, PlacedSegment, type SegmentBytes } from './segment-bytes.ts'
import type { SegmentOrder } from './segment-order.ts'

const openAtMost = 4
const unpackedAtMost = 2
/** More than the first line of a segment has. */
const startBytes = 1_024

/** The segments of a journal by their numbers, a few of which are kept open. */
export class OpenSegments {
  readonly #dir: string
  readonly #archive: Archive
  readonly #order: SegmentOrder
  /** The order under which those below were opened. */
  #version: number
  readonly #plain = new Map<number, PlacedSegment>()
  /** In the order of their last use. */
  readonly #unpacked = new Map<number, SegmentBytes>()

  constructor(dir: string, archive: Archive, order: SegmentOrder) {
    this.#dir = dir
    this.#archive = archive
    this.#order = order
    this.#version = order.version
  }

  any(segment: number): SegmentBytes | undefined {
    return this.plain(segment) ?? this.unpack(segment)
  }

  plain(segment: number): PlacedSegment | undefined {
    if (this.#version !== this.#order.version) this.close()
    const known = this.#plain.get(segment)
    if (known !== undefined || this.#unpacked.has(segment)) return known
    const path = segmentPath(this.#dir, this.#order.fileOf(segment))
    const fd = openForRead(path)
    if (fd === undefined) return undefined
    if (this.#plain.size >= openAtMost) this.#closePlain()
    const opened = new PlacedSegment(fd, path)
    this.#plain.set(segment, opened)
    return opened
  }

  unpack(segment: number): SegmentBytes | undefined {
    const file = this.#order.fileOf(segment)
    const known = this.#archive.has(file) ? this.#unpacked.get(segment) : undefined
    const bytes = known ?? this.#archive.unpack(file)
    this.#unpacked.delete(segment)
    if (bytes === undefined) return undefined
    this.#unpacked.set(segment, bytes)
    const [oldest] = this.#unpacked.keys()
    if (this.#unpacked.size > unpackedAtMost) this.#unpacked.delete(oldest!)
    return bytes
  }

  /** Its first few bytes; none if there is no such segment. */
  start(segment: number): Buffer {
    return this.#startOf(this.#order.fileOf(segment))
  }

  #startOf(file: number): Buffer {
    const fd = openForRead(segmentPath(this.#dir, file))
    if (fd === undefined) return this.#archive.start(file) ?? Buffer.alloc(0)
    try {
      return readFully(fd, 0, startBytes)
    } finally {
      closeSync(fd)
    }
  }

  /** Whether the segment is in the file of its number. */
  isInPlace(segment: number): boolean {
    return this.#order.fileOf(segment) === segment
  }

  /** Finds out again which file has which segment, by its first bytes. Returns whether that has changed. */
  reorder(seqOf: (start: Buffer) => number | undefined): boolean {
    return this.#order.find(listSegments(this.#dir), (file) => seqOf(this.#startOf(file)))
  }

  /** The files are others than they were. */
  forgetOrder(): void {
    this.#order.forget()
  }

  /** Whether the open file of a segment is no longer the one in its place. */
  isReplaced(segment: number): boolean {
    return this.#plain.get(segment)?.look().live === false
  }

  forget(segment: number): void {
    const plain = this.#plain.get(segment)
    if (plain !== undefined) closeSync(plain.fd)
    this.#plain.delete(segment)
  }

  #closePlain(): void {
    for (const { fd } of this.#plain.values()) closeSync(fd)
    this.#plain.clear()
  }

  close(): void {
    this.#version = this.#order.version
    this.#closePlain()
    this.#unpacked.clear()
  }
}
