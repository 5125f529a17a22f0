import { MailboxError } from '../../base/errors.ts'
import { type Draft, type Entry, type Gist, journalFormat, type SegmentReason } from '../../model/entry.ts'
import { isoTime } from '../../model/time.ts'
import { decodeGist } from '../codec.ts'
import { placesAfter } from '../copy/line-place.ts'
import { Batch } from '../file/batch.ts'
import { Rotation, type RotationOptions } from '../file/rotation.ts'
import type { SegmentOrder } from '../file/segment-order.ts'
import { SegmentReader } from '../file/segment-reader.ts'
import type { AppendOptions, Cursor, Decide, PlacedEntry } from '../journal.ts'
import { startCursor } from '../journal.ts'
import { isLost } from '../unreachable.ts'
import type { Hold, Store } from './store.ts'

interface Request {
  decide: Decide
  settled: boolean
  begin: SegmentReason | undefined
  resolve: (entries: PlacedEntry[]) => void
  reject: (error: unknown) => void
}

/** What a request came to, if the journal ends where it was decided. */
interface Outcome {
  request: Request
  entries: Entry[]
  error?: unknown
}

interface Round {
  outcomes: Outcome[]
  /** Those that have to wait until the others are in the journal. */
  later: Request[]
  lines: string[]
  entries: Entry[]
  sum: string
}

export interface AppendQueueOptions extends RotationOptions {
  space: string
  order: SegmentOrder
  dir: string
}

/** A writer that was too late waits in line, until it has found nobody else there so many times in a row. */
const turnsInLine = 4

/**
 * The appends of this process, in order, in batches. A batch is decided on what this machine knows, and the database
 * takes it if that was the end of the journal. If another machine was first, what it wrote comes back and the batch is
 * decided again: from then on this process takes the lock first, and decides while it has it, until it is alone.
 */
export class AppendQueue {
  readonly #store: Store
  readonly #options: AppendQueueOptions
  readonly #reader: SegmentReader<Gist>
  #rotation: Rotation
  readonly #batch = new Batch()
  /** Up to here entries are seen by decisions, or in the tail. */
  #cursor: Cursor = startCursor
  #tail: Gist[] = []
  #lastAt = ''
  #waiting: Request[] = []
  #draining: Promise<void> | undefined
  /** Something is being decided or appended, so the cursor stays where it is. */
  #isBusy = false
  #turnsLeft = 0
  #closed = false
  /** See {@link Journal.epoch}. */
  epoch = 0

  constructor(store: Store, options: AppendQueueOptions) {
    this.#store = store
    this.#options = options
    this.#reader = new SegmentReader(options.dir, decodeGist, { order: options.order })
    this.#reader.space = options.space
    this.#rotation = new Rotation(options, this.#readStart)
  }

  #readStart = (segment: number) => this.#reader.head(segment) ?? this.#reader.first(segment)

  rotateBy(options: RotationOptions): void {
    this.#rotation = new Rotation(options, this.#readStart)
  }

  seek(cursor: Cursor): boolean {
    if (this.#isBusy) return false
    this.#cursor = cursor
    this.#tail = []
    return true
  }

  append(decide: Decide, { settled = false, begin }: AppendOptions = {}): Promise<PlacedEntry[]> {
    if (this.#closed)
      return Promise.reject(new MailboxError('closed', 'the space is closed', { hint: 'open it again' }))
    return new Promise((resolve, reject) => {
      this.#isBusy = true
      this.#waiting.push({ decide, settled, begin, resolve, reject })
      this.#draining ??= this.#drain()
    })
  }

  async #drain(): Promise<void> {
    // Everything that is sent in this turn of the event loop joins the batch.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) await this.#settle(this.#waiting.splice(0))
    this.#draining = undefined
  }

  async #settle(requests: Request[]): Promise<void> {
    let left = requests
    while (left.length > 0) {
      let hold: Hold | undefined
      try {
        if (this.#turnsLeft > 0) hold = await this.#takeTurn()
        // What has come meanwhile goes along.
        left.push(...this.#waiting.splice(0))
        left = await this.#round(left, hold)
      } catch (error) {
        // What was decided is not in the journal, as far as anybody knows.
        this.#forget()
        this.#isBusy = this.#waiting.length > 0
        for (const request of left) request.reject(error)
        return
      } finally {
        await hold?.release()
      }
    }
  }

  /** Undefined if the connection broke: without a turn the call is made again until there is an answer. */
  async #takeTurn(): Promise<Hold | undefined> {
    try {
      return await this.#store.hold()
    } catch (error) {
      if (!isLost(error)) throw error
      this.#turnsLeft = 0
      return undefined
    }
  }

  /** Decides as many as can be decided together, and appends them. Returns those that are still to be decided. */
  async #round(requests: Request[], hold: Hold | undefined): Promise<Request[]> {
    await this.#follow()
    const before = this.#cursor
    const { replaced } = this
    const round = this.#decide(requests)
    const isRight =
      (await this.#confirm(before, round, hold)) && (round.lines.length > 0 || this.replaced === replaced)
    if (!isRight) {
      this.#turnsLeft = turnsInLine
      // What one has decided was shown to those after it, and never happened.
      if (round.outcomes.slice(0, -1).some(({ entries }) => entries.length > 0)) this.#forget()
      this.#tail = []
      return requests
    }
    if (hold !== undefined) this.#turnsLeft = hold.hasNews ? turnsInLine : this.#turnsLeft - 1
    this.#isBusy = round.later.length > 0 || this.#waiting.length > 0
    this.#tell(round, placesAfter(before, round.lines))
    return round.later
  }

  async #follow(): Promise<void> {
    // The copy may have been removed: nothing is decided on what is left of it.
    if (this.#store.copy.end().seq < this.#cursor.seq) await this.#store.pull({ strict: true })
    while (!this.#reader.atEnd(this.#cursor)) {
      const { entries, damaged, cursor } = this.#reader.read(this.#cursor, 16 * 1_048_576)
      if (damaged.length > 0) throw this.#discard()
      this.#cursor = cursor
      if (entries.length === 0) break
      for (const { entry } of entries) this.#tail.push(entry)
      this.#lastAt = entries.at(-1)!.entry.at
    }
  }

  #discard(): MailboxError {
    this.#store.copy.drop()
    return new MailboxError('damaged', 'the local copy of the journal was damaged; nothing was stored', {
      hint: 'try again: it is fetched again from the database; check the disk (dmesg)',
    })
  }

  #decide(requests: readonly Request[]): Round {
    this.#batch.rewind(0, this.#cursor)
    const outcomes: Outcome[] = []
    let [next, isBegun] = [0, false]
    for (; next < requests.length; next++) {
      const request = requests[next]!
      const mustBeAlone = request.settled || request.begin !== undefined
      if (mustBeAlone && this.#batch.length > 0) break
      const kept = this.#batch.length
      const tail = this.#tail
      this.#tail = []
      const entries: Entry[] = []
      try {
        // Where these end: a directory that knows it need not read them again.
        for (const draft of request.decide(tail, kept === 0 ? this.#cursor : undefined)) {
          if (!isBegun) this.#begin(request.begin)
          isBegun = true
          entries.push(this.#add(typeof draft === 'function' ? draft(entries) : draft))
        }
        this.#tail.push(...entries)
        outcomes.push({ request, entries })
      } catch (error) {
        this.#batch.rewind(kept, this.#cursor)
        isBegun = kept > 0
        outcomes.push({ request, entries: [], error })
      }
    }
    const { lines, bytes } = this.#batch.take()
    return {
      outcomes,
      later: requests.slice(next),
      lines: lines.map(({ start, end }) => bytes.toString('utf8', start, end)),
      entries: lines.map(({ entry }) => entry),
      sum: lines.at(-1)?.sum ?? '',
    }
  }

  /** A new segment where this one is full. Its header is an entry as any other. */
  #begin(asked: SegmentReason | undefined): void {
    const reason = asked ?? this.#rotation.fullBy(this.#cursor)
    if (reason === undefined) return
    this.#add({ kind: 'segment', format: journalFormat, space: this.#options.space, reason })
  }

  /** Clocks of machines differ by milliseconds, and time in a journal does not go back. */
  #add(draft: Draft): Entry {
    const now = isoTime(this.#options.now())
    if (now > this.#lastAt) this.#lastAt = now
    return this.#batch.add(draft, this.#lastAt)
  }

  /** Whether the journal ended where the round was decided; then what was decided is in it now. */
  async #confirm(before: Cursor, { lines, sum }: Round, hold: Hold | undefined): Promise<boolean> {
    if (lines.length === 0) {
      // Nothing to write: what was found, or refused, counts if nobody has written since it was asked.
      if (hold !== undefined) return true
      await this.#store.pull({ strict: true })
      return this.#store.copy.end().seq === before.seq
    }
    const answer = await (hold ?? this.#store).append(before, lines, sum)
    if (answer.outcome === 'appended') {
      this.#copy(lines)
      return true
    }
    // Throws if the database is another one than before.
    await this.#store.take(answer, before)
    return false
  }

  /** It is stored, whatever becomes of the copy: the next one who reads finds out what is wrong with that. */
  #copy(lines: readonly string[]): void {
    try {
      this.#store.copy.add(lines, this.#options.space)
    } catch {
      // A full disk, for one.
    }
  }

  #tell({ outcomes, entries: all }: Round, places: ReturnType<typeof placesAfter>): void {
    const first = all[0]?.seq ?? 0
    // What this process has written it need not read again.
    const last = all.at(-1)
    if (last !== undefined) this.#passOver(last.seq)
    for (const { request, entries, error } of outcomes) {
      if (error !== undefined) request.reject(error)
      else request.resolve(entries.map((entry) => ({ entry, place: places[entry.seq - first]! })))
    }
  }

  /** Moves the cursor behind our own entries: the tail has them. Others may have written after them already. */
  #passOver(seq: number): void {
    while (this.#cursor.seq < seq && !this.#reader.atEnd(this.#cursor)) {
      const { entries, cursor } = this.#reader.read(this.#cursor, 16 * 1_048_576)
      if (entries.length === 0) return
      this.#cursor = cursor
      for (const { entry } of entries) if (entry.seq > seq) this.#tail.push(entry)
      this.#lastAt = entries.at(-1)!.entry.at
    }
  }

  /** Decisions have seen what is not in the journal, or may have. */
  #forget(): void {
    this.epoch++
    this.#tail = []
  }

  get replaced(): number {
    return this.#reader.replaced
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#draining
    this.#reader.close()
  }
}
