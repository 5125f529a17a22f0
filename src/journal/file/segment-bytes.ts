import { closeSync, existsSync, fstatSync } from 'node:fs'
import { MailboxError } from '../../base/errors.ts'
import { listArchived, openForRead, readFully, sizeOf } from './segment.ts'

/** The bytes of one segment, wherever they come from. */
export interface SegmentBytes {
  /** Its size now, and whether it lies in the journal: one that was archived has had its last line. */
  look(): { size: number; live: boolean }
  /** Less than was asked for at the end. */
  read(offset: number, length: number): Buffer
}

/** A segment of the journal, by its open file. The file stays readable when it is archived and unlinked. */
export class PlainSegment implements SegmentBytes {
  readonly fd: number

  constructor(fd: number) {
    this.fd = fd
  }

  look(): { size: number; live: boolean } {
    const { size, nlink } = fstatSync(this.fd)
    return { size, live: nlink > 0 }
  }

  read(offset: number, length: number): Buffer {
    return readFully(this.fd, offset, length)
  }
}

/** A segment of the archive, unpacked into memory. */
class UnpackedSegment implements SegmentBytes {
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  look(): { size: number; live: boolean } {
    return { size: this.#bytes.length, live: false }
  }

  read(offset: number, length: number): Buffer {
    return this.#bytes.subarray(offset, offset + length)
  }
}

/** A file of the archive, open. */
export interface ArchivedFile {
  path: string
  fd: number
}

/** Finds and opens archived segments. Looks the directory through only when one is not where it was. */
export class Archive {
  readonly #dir: string
  #paths = new Map<number, string>()

  constructor(dir: string) {
    this.#dir = dir
  }

  /** Whether it is where it was when it was last looked for. */
  has(segment: number): boolean {
    const path = this.#paths.get(segment)
    return path !== undefined && existsSync(path)
  }

  /** The unpacked bytes; undefined when there is no such segment. */
  unpack(segment: number): SegmentBytes | undefined {
    return this.#with(segment, unpack)
  }

  /** Some of its first bytes, without unpacking the rest. */
  start(segment: number): Buffer | undefined {
    return this.#with(segment, unpackStart)
  }

  #with<T>(segment: number, work: (file: ArchivedFile) => T): T | undefined {
    const file = this.#open(segment) ?? this.#openAnew(segment)
    if (file === undefined) return undefined
    try {
      return work(file)
    } finally {
      closeSync(file.fd)
    }
  }

  #open(segment: number): ArchivedFile | undefined {
    const path = this.#paths.get(segment)
    const fd = path === undefined ? undefined : openForRead(path)
    return fd === undefined ? undefined : { path: path!, fd }
  }

  #openAnew(segment: number): ArchivedFile | undefined {
    this.#paths = listArchived(this.#dir)
    return this.#open(segment)
  }
}

export function unpack({ path, fd }: ArchivedFile): SegmentBytes {
  try {
    return new UnpackedSegment(zlib().gunzipSync(readFully(fd, 0, sizeOf(fd))))
  } catch (cause) {
    throw new MailboxError('damaged', `${path} cannot be unpacked: ${(cause as Error).message}`, {
      cause,
      hint: 'put a copy of the file in its place; if there is none, move it away and run `mailbox rebuild`: its mail is lost, the rest is not',
    })
  }
}

const startBytes = 4_096

function unpackStart({ fd }: ArchivedFile): Buffer {
  const { gunzipSync, constants } = zlib()
  try {
    return gunzipSync(readFully(fd, 0, startBytes), { finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    // Whoever reads the segment is told what is wrong with it.
    return Buffer.alloc(0)
  }
}

/** Loaded when first needed: most processes never meet an archive, and some live for 50 ms. */
const zlib = () => process.getBuiltinModule('node:zlib')
