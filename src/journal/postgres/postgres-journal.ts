import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { MailboxError } from '../../base/errors.ts'
import type { Entry } from '../../model/entry.ts'
import { decodeLine } from '../codec.ts'
import { LineCopy } from '../copy/line-copy.ts'
import type { RotationOptions } from '../file/rotation.ts'
import { listSegments } from '../file/segment.ts'
import { SegmentOrder } from '../file/segment-order.ts'
import { locateIn, SegmentReader } from '../file/segment-reader.ts'
import type {
  AppendOptions,
  Cursor,
  CutOff,
  DamagedLine,
  Decide,
  Journal,
  Place,
  PlacedEntry,
  ReadResult,
  SourceArchive,
  SummedEntry,
} from '../journal.ts'
import type { PostgresAddress } from './address.ts'
import { AppendQueue } from './append-queue.ts'
import { packThere, removeThere } from './archive.ts'
import { ServerClock } from './clock.ts'
import { identify } from './identify.ts'
import { Poller } from './poller.ts'
import { Server } from './server.ts'
import { SharedFiles } from './shared-files.ts'
import { Store } from './store.ts'
import { verifyLines } from './verify-lines.ts'

export interface PostgresJournalOptions extends Partial<Omit<RotationOptions, 'now'>> {
  /** @default the clock of the database */
  now?: Clock | undefined
  address: PostgresAddress
  /** The directory of this machine's copy; it can be deleted at any time. */
  dir: string
  /** Create the space if there is none. @default true */
  creates?: boolean
  /** Called when a batch has been written. */
  onWritten?: () => void
}

type Options = Omit<PostgresJournalOptions, keyof RotationOptions> & RotationOptions & { now: Clock }

/**
 * The journal in a PostgreSQL database, which keeps the order of entries. This machine has a copy of the lines as
 * ordinary segments, so everything is read from disk.
 */
export class PostgresJournal implements Journal {
  readonly space: string
  readonly isElsewhere = true
  /** The database orders the writers: nobody waits for a lock here. */
  readonly contendedAt = Number.NEGATIVE_INFINITY
  readonly store: Store
  /** The time of the space. */
  readonly now: Clock
  readonly #dir: string
  readonly #reader: SegmentReader<Entry>
  readonly #queue: AppendQueue
  readonly #poller: Poller
  readonly #onWritten: () => void
  readonly #files: SharedFiles
  /** How often the copy was fetched again. */
  #fetchedAgain = 0

  /** Connects, and brings the copy to the end of the journal. Without a connection it takes the copy as it is. */
  static async open(options: PostgresJournalOptions): Promise<PostgresJournal> {
    const clock = new ServerClock()
    mkdirSync(options.dir, { recursive: true, mode: 0o700 })
    const store = new Store(new Server(options.address, clock), new LineCopy(options.dir))
    try {
      const space = await identify(store, { creates: options.creates ?? true, dir: options.dir })
      store.space = space
      const now = options.now ?? clock.now
      const journal = new PostgresJournal(store, space, { ...defaults, ...options, now })
      await journal.#followFiles()
      return journal
    } catch (error) {
      await store.close()
      throw error
    }
  }

  private constructor(store: Store, space: string, options: Options) {
    this.space = space
    this.store = store
    this.now = options.now
    this.#dir = join(options.dir, 'journal')
    this.#onWritten = options.onWritten ?? (() => {})
    const order = new SegmentOrder()
    this.#reader = new SegmentReader(this.#dir, decodeLine, { order })
    this.#reader.space = space
    this.#queue = new AppendQueue(store, { ...options, space, order, dir: this.#dir })
    this.#poller = new Poller(store, this.#dir)
    this.#files = new SharedFiles(store.server, options.dir)
  }

  /** Settings, tokens and templates change seldom, and with every answer the database says whether they have. */
  async #followFiles(): Promise<void> {
    const { store } = this
    await this.pullFiles()
    let seen = store.files
    store.onHead = ({ files }) => {
      if (files === seen) return
      const before = seen
      seen = files
      // If that fails, the next answer tries again.
      this.#files.fetchAt(files).catch(() => (seen = before))
    }
  }

  /** When to begin new segments. */
  rotateBy(options: Omit<RotationOptions, 'now'>): void {
    this.#queue.rotateBy({ ...options, now: this.now })
  }

  get epoch(): number {
    return this.#queue.epoch + this.#queue.replaced + this.#reader.replaced + this.#fetchedAgain
  }

  get address(): string {
    return this.store.server.address.shown
  }

  get cutOff(): CutOff | undefined {
    return this.store.cutOff
  }

  mustBeInPlace(): void {}

  seek(cursor: Cursor): boolean {
    return this.#queue.seek(cursor)
  }

  async append(decide: Decide, options?: AppendOptions): Promise<PlacedEntry[]> {
    const placed = await this.#queue.append(decide, options)
    if (placed.length > 0) {
      this.#poller.ring()
      this.#onWritten()
    }
    return placed
  }

  async pull(): Promise<void> {
    await this.store.pull()
  }

  async pullFiles(): Promise<void> {
    const { store } = this
    await store.pull()
    if (store.cutOff === undefined) await this.#files.fetchAt(store.files)
  }

  read(cursor: Cursor, maxBytes = 1_048_576): ReadResult {
    const read = this.#reader.read(cursor, maxBytes)
    if (read.damaged.length > 0) throw this.#discard()
    return read
  }

  /** A copy that is damaged gives no answers. The next question fetches it again. */
  #discard(): MailboxError {
    this.store.copy.drop()
    this.#fetchedAgain++
    return new MailboxError('damaged', `the copy of the journal in ${this.#dir} was damaged`, {
      hint: 'try again: it is fetched again from the database; check the disk (dmesg)',
    })
  }

  fits(cursor: Cursor): boolean {
    return this.#reader.fits(cursor)
  }

  atEnd(cursor: Cursor): boolean {
    return this.#reader.atEnd(cursor)
  }

  inLast({ segment }: Cursor): boolean {
    return (listSegments(this.#dir).at(-1) ?? segment) <= segment
  }

  at(place: Place): Entry | undefined {
    return this.lineAt(place)?.entry
  }

  lineAt(place: Place): SummedEntry | undefined {
    const found = this.#reader.lineAt(place)
    if (found === undefined && this.#has(place) && this.#reader.damageAt(place) !== undefined)
      throw this.#discard()
    return found
  }

  #has({ segment, offset, bytes }: Place): boolean {
    const end = this.store.copy.end()
    return segment < end.segment || (segment === end.segment && offset + bytes < end.offset)
  }

  damageAt(place: Place): Omit<DamagedLine, 'seq'> | undefined {
    return this.#reader.damageAt(place)
  }

  locate(seq: number): Cursor {
    return locateIn(this.#reader, this.#dir, seq)
  }

  onWake(listener: () => void): () => void {
    return this.#poller.on(listener)
  }

  withLock<T>(work: () => T): T {
    return this.store.copy.locked(work)
  }

  get sourceArchive(): SourceArchive {
    const { server, first } = this.store
    return {
      first,
      pack: (segment, name, from, to) => packThere(server, segment, name, from, to),
      removeBefore: (segment, seq) => removeThere(server, segment, seq),
    }
  }

  /** What is wrong with the lines in the database, one sentence each. */
  verifySource(): Promise<string[]> {
    return verifyLines(this.store.server)
  }

  async close(): Promise<void> {
    await this.#queue.close()
    await this.#poller.close()
    await this.store.close()
    this.#reader.close()
  }
}

const defaults = { segmentBytes: 16 * 1_048_576, segmentEntries: 0, rotate: 'size' } as const
