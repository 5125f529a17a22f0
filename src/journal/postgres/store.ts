import { MailboxError } from '../../base/errors.ts'
import { pause } from '../../base/timers.ts'
import { BrokenLine, type LineCopy, Unconnected } from '../copy/line-copy.ts'
import { lineStart } from '../copy/line-place.ts'
import type { Cursor, CutOff } from '../journal.ts'
import { isLost, openError } from '../unreachable.ts'
import { linesOfPacked, packedAfter } from './archive.ts'
import type { Link } from './driver.ts'
import type { Appended, First, Head, Server } from './server.ts'
import { changedError, forkedError, movedError, replacedError } from './store-errors.ts'

/** The right to append, which nobody else has until it is released. */
export interface Hold {
  /** Whether others have written since this process knew the end. */
  hasNews: boolean
  append(after: Cursor, lines: readonly string[], sum: string): Promise<Appended>
  release(): Promise<void>
}

const firstPauseMs = 50
const longestPauseMs = 1_000
/** While the database does not answer, questions do not wait for it again so soon. */
const againMs = 1_000
/** How exactly other processes of this machine know when the end was last known. */
const noteEveryMs = 1_000

/** The lines of a space in the database, and the copy of them on this machine. */
export class Store {
  readonly server: Server
  readonly copy: LineCopy
  /** Called with every answer of the database. */
  onHead: (head: Head) => void = () => {}
  cutOff: CutOff | undefined
  /** See {@link Head.files}, by the last answer. */
  files = 0
  /** The space that the copy is of. */
  space = ''
  /** Where the journal begins in the database, by the last answer that said it. */
  first: First = { segment: 1, seq: 1 }
  #checkedAt: number
  #notedAt = Number.NEGATIVE_INFINITY
  /** When the database last said where the journal ends, by `performance.now()`. */
  answeredAt = Number.NEGATIVE_INFINITY
  #triedAt = Number.NEGATIVE_INFINITY
  #pulling: Promise<void> | undefined
  #next: Promise<void> | undefined
  readonly #ending = new AbortController()

  constructor(server: Server, copy: LineCopy) {
    this.server = server
    this.copy = copy
    this.#checkedAt = copy.checkedAt ?? Date.now()
  }

  /**
   * Brings the copy to where the journal ends now. If the database does not answer, the copy stays as it is and
   * {@link cutOff} says since when; whoever must know the end (`strict`) gets the error.
   */
  async pull({ strict = false } = {}): Promise<void> {
    const isResting = this.cutOff !== undefined && performance.now() - this.#triedAt < againMs
    if (isResting && !strict) return
    try {
      await this.#fresh()
    } catch (error) {
      if (strict || !isLost(error) || this.copy.end().seq === 0) throw error
    }
  }

  /** One that is under way may have asked too early; all who come meanwhile share the one after it. */
  #fresh(): Promise<void> {
    if (this.#pulling === undefined) return this.#start()
    this.#next ??= this.#pulling
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        return this.#start()
      })
    return this.#next
  }

  #start(): Promise<void> {
    const pulling = this.#pull().finally(() => {
      if (this.#pulling === pulling) this.#pulling = undefined
    })
    this.#pulling = pulling
    return pulling
  }

  async #pull(): Promise<void> {
    this.#triedAt = performance.now()
    await this.#noting(async () => {
      for (;;) {
        const end = this.#end()
        const head = await this.server.since(end.seq)
        if (await this.take(head, end)) return
      }
    })
  }

  /** Takes in what the database has sent for an end of ours. True if that was all. */
  async take(head: Head, end: Cursor): Promise<boolean> {
    const { shown } = this.server.address
    if (head.id !== this.space) throw replacedError(shown)
    if (head.movedTo !== null) throw movedError(shown, head.movedTo)
    if (head.seq < end.seq || (head.seq === end.seq && head.sum !== end.sum))
      throw forkedError(this.copy.dir, shown, head, end)
    if (head.first !== undefined) this.first = head.first
    if (this.#isBehindArchive(head, end)) {
      if (await this.#fetchPacked(end)) return false
      throw changedError(shown, end.seq === 0 ? this.first.seq : end.seq + 1)
    }
    if (head.lines.length > 0) {
      if (end.seq === 0) this.copy.firstSegment = this.first.segment
      try {
        this.copy.add(head.lines, head.id)
      } catch (error) {
        if (error instanceof Unconnected && error.seq === end.seq + 1)
          throw forkedError(this.copy.dir, shown, head, end)
        if (error instanceof Unconnected || error instanceof BrokenLine) throw changedError(shown, error.seq)
        throw error
      }
    }
    this.files = head.files
    this.onHead(head)
    const reached = this.copy.end().seq
    // A row is missing.
    if (reached === end.seq && reached < head.seq) throw changedError(shown, end.seq + 1)
    return reached >= head.seq
  }

  /** Whether the lines in the table begin later than the copy needs them. */
  #isBehindArchive({ seq, lines }: Head, end: Cursor): boolean {
    const next = lines[0] === undefined ? undefined : lineStart(lines[0])?.seq
    return seq > end.seq && next !== (end.seq === 0 ? this.first.seq : end.seq + 1)
  }

  /** Brings the next archived segment into the copy. False if there is nothing that comes next. */
  async #fetchPacked(end: Cursor): Promise<boolean> {
    const { first } = this
    const packed = await packedAfter(this.server, end.seq)
    // What comes after the end of the copy was removed.
    if (end.seq > 0 && first.seq > end.seq + 1) {
      this.copy.drop()
      return true
    }
    const next = end.seq === 0 ? first.seq : end.seq + 1
    if (packed === undefined || packed.first > next) {
      // Somebody may have removed it just now.
      this.first = (await this.server.since(end.seq)).first ?? first
      return this.first.seq !== first.seq
    }
    const lines = await linesOfPacked(this.server, packed)
    if (end.seq === 0) this.copy.firstSegment = first.segment
    if (!this.copy.addPacked(packed, lines)) this.copy.add(lines, this.space)
    return true
  }

  /** A copy that is damaged is fetched again. */
  #end(): Cursor {
    try {
      return this.copy.end()
    } catch (error) {
      if (!(error instanceof MailboxError) || error.code !== 'damaged') throw error
      this.copy.drop()
      return this.copy.end()
    }
  }

  async #noting<T>(work: () => Promise<T>): Promise<T> {
    try {
      const asked = Date.now()
      const value = await work()
      if (asked - this.#notedAt > noteEveryMs) {
        this.copy.checked()
        this.#notedAt = asked
      }
      this.#checkedAt = asked
      this.answeredAt = performance.now()
      this.cutOff = undefined
      return value
    } catch (error) {
      if (isLost(error)) this.cutOff = { since: this.#checkedAt, error }
      throw error
    }
  }

  /**
   * Appends lines after an end that we know, or brings what is missing. A connection that breaks on the way leaves
   * open whether they were stored, so the same call is made again until there is an answer: see schema.ts.
   */
  async append(after: Cursor, lines: readonly string[], sum: string): Promise<Appended> {
    return this.#retrying((link) => this.server.appendOn(link, after, lines, sum))
  }

  async #retrying(call: (link: Link) => Promise<Appended>): Promise<Appended> {
    const deadline = performance.now() + this.server.address.timeoutMs
    let isOpen = false
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#noting(() =>
          this.server.with((link) => {
            isOpen = true
            return call(link)
          }),
        )
      } catch (error) {
        if (!isLost(error)) throw error
        if (performance.now() > deadline) throw isOpen ? openError(error) : error
        await pause(Math.min(longestPauseMs, firstPauseMs * 2 ** attempt), this.#ending.signal)
        if (this.#ending.signal.aborted) throw isOpen ? openError(error) : error
      }
    }
  }

  /** Waits for its turn to append, and brings the copy to the end. For whoever was too late a few times. */
  async hold(): Promise<Hold> {
    let done!: () => void
    let release!: Promise<void>
    const hold = await new Promise<Hold>((resolve, reject) => {
      release = this.server
        .with(async (link) => {
          const hasNews = await this.#noting(() => this.#takeTurn(link))
          let isOver = false
          const over = new Promise<void>((end) => (done = end))
          resolve({
            hasNews,
            append: async (after, lines, sum) => {
              try {
                const appended = this.server.appendOn(link, after, lines, sum)
                const [answer] = await Promise.all([appended, link.query('COMMIT')])
                isOver = true
                return answer
              } catch (error) {
                isOver = true
                if (!isLost(error)) {
                  await link.query('ROLLBACK').catch(() => {})
                  throw error
                }
                // Whether it was stored is found out without the lock, by the same call.
                return await this.append(after, lines, sum)
              }
            },
            release: async () => {
              done()
              await release
            },
          })
          await over
          if (!isOver) await link.query('ROLLBACK').catch(() => {})
        })
        .catch(reject)
    })
    return hold
  }

  /** True if others have written since this process knew the end. */
  async #takeTurn(link: Link): Promise<boolean> {
    const begun = link.query('BEGIN')
    try {
      let hasNews = false
      for (;;) {
        const end = this.#end()
        const [head] = await Promise.all([this.server.turnOn(link, end.seq), begun])
        hasNews ||= head.lines.length > 0
        if (await this.take(head, end)) return hasNews
      }
    } catch (error) {
      await link.query('ROLLBACK').catch(() => {})
      throw error
    }
  }

  /** Ends the life of the space here. `take` runs while nobody can append, with the whole journal in the copy. */
  async moveAway<T>(to: string, take: () => T): Promise<T> {
    return this.server.with(async (link) => {
      await this.#takeTurn(link)
      try {
        const value = take()
        await link.query('UPDATE mailbox.spaces SET moved_to = $2 WHERE space = $1', [this.server.number, to])
        await link.query('COMMIT')
        return value
      } catch (error) {
        await link.query('ROLLBACK').catch(() => {})
        throw error
      }
    })
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#next?.catch(() => {})
    await this.#pulling?.catch(() => {})
    await this.server.close()
    this.copy.close()
  }
}
