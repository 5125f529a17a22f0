import { type DirectoryOptions, loadDirectory, readDirectory } from '../index/open.ts'
import type { Projection } from '../index/projection.ts'
import { type Cursor, type Journal, startCursor } from '../journal/journal.ts'
import type { Directory } from '../model/directory.ts'
import type { Gist } from '../model/entry.ts'

/** An index that is ahead of the directory by more than this is cheaper to load than to fold. */
const foldLimit = 2_000

/** The directory that sends are decided on: it starts from the index, and follows the journal. */
export class DirectoryKeeper {
  readonly #journal: Journal
  readonly #index: Projection
  readonly #options: () => DirectoryOptions
  directory!: Directory
  /** Up to here at least. */
  #foldedTo: Cursor = startCursor
  #epoch = 0

  constructor(journal: Journal, index: Projection, options: () => DirectoryOptions) {
    this.#journal = journal
    this.#index = index
    this.#options = options
  }

  /** Starts the directory from the index, and the journal's tail from where the index is. */
  load(): boolean {
    const { directory, cursor } = loadDirectory(this.#index, this.#options())
    const isSought = this.#journal.seek(cursor)
    if (!isSought && this.directory !== undefined) return false
    this.directory = directory
    this.#foldedTo = cursor
    return isSought
  }

  /** Before a decision: starts again where what was known is not what is there, or is far behind. */
  refresh(): void {
    const { epoch } = this.#journal
    if (epoch === this.#epoch) {
      if (this.#index.cursor.seq > this.directory.seq + foldLimit) this.load()
      return
    }
    // While appends are running, the next of them does this: see fold.
    this.#index.catchUp()
    if (this.load()) this.#epoch = epoch
  }

  /** The directory at the end of the journal, which `cursor` is: what is missing in it is folded in. */
  at(cursor: Cursor): Directory {
    const journal = this.#journal
    const isUsable =
      journal.epoch === this.#epoch &&
      cursor.seq <= this.directory.seq + foldLimit &&
      journal.fits(this.#foldedTo)
    if (!isUsable) {
      this.directory = readDirectory(this.#index, cursor, this.#options())
      this.#epoch = journal.epoch
    }
    for (let from = this.#foldedTo; this.directory.seq < cursor.seq; ) {
      const read = journal.read(from)
      if (read.entries.length === 0) break
      for (const { entry } of read.entries) this.directory.fold(entry)
      from = read.cursor
    }
    this.#foldedTo = cursor
    return this.directory
  }

  /** `end`: where the last of these entries ends, if that is known. */
  fold(tail: readonly Gist[], end?: Cursor): Directory {
    const { epoch } = this.#journal
    if (epoch !== this.#epoch) {
      // Something we had folded was lost with a full disk. Start again from what is really there; nothing is
      // decided while that cannot be read.
      this.#index.catchUp()
      this.directory = loadDirectory(this.#index, this.#options()).directory
      this.#epoch = epoch
    }
    for (const entry of tail) this.directory.fold(entry)
    // A query that needs the directory reads on from here, and not all that was written since the last one.
    if (end?.seq === this.directory.seq) this.#foldedTo = end
    return this.directory
  }
}
