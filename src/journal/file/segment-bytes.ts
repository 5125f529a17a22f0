import { closeSync, fstatSync, type Stats, statSync } from 'node:fs'
import { MailboxError } from '../../base/errors.ts'
import { identityOf, readFully } from '../../base/files.ts'
import { listArchived, openForRead, sizeOf } from './segment.ts'

/** The bytes of one segment, plain or archived. */
export interface SegmentBytes {
  /** Its current size, and whether it is in the journal: an archived one never grows. */
  look(): { size: number; live: boolean }
  /** Returns less than `length` at the end. */
  read(offset: number, length: number): Buffer
  /** It was unpacked from a damaged file: anything in it may be wrong, line ends too. */
  isPartial?: true
}

/** A segment in the journal, as an open file. It stays readable when it is archived and unlinked. */
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

/** The same, for as long as it is the file at its path: it may also be moved or replaced. */
export class PlacedSegment extends PlainSegment {
  readonly #path: string
  readonly #identity: string

  constructor(fd: number, path: string) {
    super(fd)
    this.#path = path
    this.#identity = identityOf(fstatSync(fd))
  }

  override look(): { size: number; live: boolean } {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    const live = found !== undefined && identityOf(found) === this.#identity
    return { size: live ? found.size : 0, live }
  }
}

/** An open file of the archive. */
export interface ArchivedFile {
  path: string
  fd: number
}

/** Finds and opens archived segments. Lists the directory only if a segment is not where it was. */
export class Archive {
  readonly #dir: string
  #paths = new Map<number, string>()
  readonly #unpackFile: (file: ArchivedFile) => SegmentBytes
  readonly #unpacked = new Map<number, string>()

  /** `unpackFile` decides what becomes of a damaged file: by default, what is left of it is read. */
  constructor(dir: string, unpackFile: (file: ArchivedFile) => SegmentBytes = unpackWhatIsLeft) {
    this.#dir = dir
    this.#unpackFile = unpackFile
  }

  /** Whether the file that was unpacked is still there. A repair may have replaced it. */
  has(segment: number): boolean {
    const path = this.#paths.get(segment)
    const stat = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
    return stat !== undefined && stampOf(stat) === this.#unpacked.get(segment)
  }

  /** The unpacked bytes; undefined if there is no such segment. */
  unpack(segment: number): SegmentBytes | undefined {
    return this.#with(segment, (file) => {
      this.#unpacked.set(segment, stampOf(fstatSync(file.fd)))
      return this.#unpackFile(file)
    })
  }

  /** Its first few bytes, without unpacking the rest. */
  start(segment: number): Buffer | undefined {
    return this.#with(segment, unpackStart)
  }

  #with<T>(segment: number, work: (file: ArchivedFile) => T): T | undefined {
    let file = this.#open(segment)
    if (file === undefined) {
      this.#paths = listArchived(this.#dir)
      file = this.#open(segment)
    }
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
}

const stampOf = ({ dev, ino, size, mtimeMs }: Stats): string => `${dev}:${ino}:${size}:${mtimeMs}`

const unpacked = (bytes: Buffer): SegmentBytes => ({
  look: () => ({ size: bytes.length, live: false }),
  read: (offset, length) => bytes.subarray(offset, offset + length),
})

/** An archived segment, unpacked into memory. */
export function unpack({ path, fd }: ArchivedFile): SegmentBytes {
  try {
    return unpacked(zlib().gunzipSync(readFully(fd, 0, sizeOf(fd))))
  } catch (cause) {
    throw new MailboxError('damaged', `${path} cannot be unpacked: ${(cause as Error).message}`, {
      cause,
      hint: 'restore the file from a backup; if there is none, move it away and run `mailbox rebuild`: its mail is lost, the rest is not',
    })
  }
}

/** The checksums of the lines tell which of them came out whole. */
function unpackWhatIsLeft(file: ArchivedFile): SegmentBytes {
  try {
    return unpack(file)
  } catch {
    const { gunzipSync, constants } = zlib()
    const packed = readFully(file.fd, 0, sizeOf(file.fd))
    let found = Buffer.alloc(0)
    // The longest beginning that can be unpacked.
    for (let [good, bad] = [0, packed.length + 1]; bad - good > 1; ) {
      const length = (good + bad) >> 1
      try {
        found = gunzipSync(packed.subarray(0, length), { finishFlush: constants.Z_SYNC_FLUSH })
        good = length
      } catch {
        bad = length
      }
    }
    return { ...unpacked(found), isPartial: true }
  }
}

const startBytes = 4_096

/** The first few bytes of an archived segment; none if it cannot be unpacked. */
export function unpackStart({ fd }: ArchivedFile): Buffer {
  const { gunzipSync, constants } = zlib()
  try {
    return gunzipSync(readFully(fd, 0, startBytes), { finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    // Reading the whole segment reports what is wrong with it.
    return Buffer.alloc(0)
  }
}

/** Loaded on first use: most processes never read an archive, and some live for only 50 ms. */
const zlib = () => process.getBuiltinModule('node:zlib')
