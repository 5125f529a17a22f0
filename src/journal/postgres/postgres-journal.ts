import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
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
  DamagedLine,
  Decide,
  Journal,
  Place,
  PlacedEntry,
  ReadResult,
} from '../journal.ts'
import type { PostgresAddress } from './address.ts'
import { AppendQueue } from './append-queue.ts'
import { ServerClock } from './clock.ts'
import { Poller } from './poller.ts'
import { Server } from './server.ts'
import { Store } from './store.ts'

export interface PostgresJournalOptions extends Partial<RotationOptions> {
  address: PostgresAddress
  /** The directory of this machine's copy; it can be deleted at any time. */
  dir: string
  /** Create the space if there is none. @default true */
  creates?: boolean
  /** Called when a batch has been written. */
  onWritten?: () => void
}

/**
 * The journal in a PostgreSQL database, which keeps the order of entries. This machine has a copy of the lines as
 * ordinary segments, so everything is read from disk.
 */
export class PostgresJournal implements Journal {
  readonly space: string
  readonly store: Store
  readonly #dir: string
  readonly #reader: SegmentReader<Entry>
  readonly #queue: AppendQueue
  readonly #poller: Poller
  readonly #onWritten: () => void
  /** How often the copy was fetched again. */
  #fetchedAgain = 0

  /** Connects, and brings the copy to the end of the journal. Without a connection it takes the copy as it is. */
  static async open(options: PostgresJournalOptions): Promise<PostgresJournal> {
    const clock = new ServerClock()
    mkdirSync(options.dir, { recursive: true, mode: 0o700 })
    const store = new Store(new Server(options.address, clock), new LineCopy(options.dir))
    try {
      const space = await identify(store, options)
      const journal = new PostgresJournal(store, space, { ...defaults(clock), ...options })
      await journal.pull()
      return journal
    } catch (error) {
      await store.close()
      throw error
    }
  }

  private constructor(store: Store, space: string, options: PostgresJournalOptions & RotationOptions) {
    this.space = space
    this.store = store
    this.#dir = join(options.dir, 'journal')
    this.#onWritten = options.onWritten ?? (() => {})
    const order = new SegmentOrder()
    this.#reader = new SegmentReader(this.#dir, decodeLine, { order })
    this.#reader.space = space
    this.#queue = new AppendQueue(store, { ...options, space, order, dir: this.#dir })
    this.#poller = new Poller(store, this.#dir)
  }

  get epoch(): number {
    return this.#queue.epoch + this.#queue.replaced + this.#reader.replaced + this.#fetchedAgain
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

  read(cursor: Cursor, maxBytes = 1_048_576): ReadResult {
    return this.#reader.read(cursor, maxBytes)
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
    return this.#reader.at(place)
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

  async close(): Promise<void> {
    await this.#queue.close()
    await this.#poller.close()
    await this.store.close()
    this.#reader.close()
  }
}

const defaults = (clock: ServerClock): RotationOptions => ({
  ...{ segmentBytes: 16 * 1_048_576, segmentEntries: 0, rotate: 'size' },
  now: clock.now,
})

/** Which space it is: by the database, or by the copy if that is all there is. */
async function identify(store: Store, { creates = true, address }: PostgresJournalOptions): Promise<string> {
  if (!(await store.server.find({ creates })))
    throw new MailboxError('not_found', `there is no space at ${address.shown}`, {
      hint: 'check the name; to create it: mailbox join NAME, or mailbox move --to ADDRESS',
    })
  return store.server.id
}
