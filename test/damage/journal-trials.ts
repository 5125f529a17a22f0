import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { MailboxError } from '../../src/base/errors.ts'
import { decodeLine } from '../../src/journal/codec.ts'
import type { DamageName } from '../../src/journal/damage.ts'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { SegmentReader } from '../../src/journal/file/segment-reader.ts'
import { verifyJournal } from '../../src/journal/file/verify.ts'
import { type Cursor, type Place, type ReadResult, startCursor } from '../../src/journal/journal.ts'
import type { Entry } from '../../src/model/entry.ts'
import { openDisk } from '../../src/space/open.ts'
import {
  buildDamageSpace,
  type DamageSpace,
  damageAgents,
  damageSettings,
  isIndex,
  layOut,
  memoryDir,
} from '../helpers/damage-space.ts'
import { appendMessage } from '../helpers/drafts.ts'

const segment = 'journal/00000001.jsonl'
const lostWords = ['lost no record', 'lost one record'] as const

const entriesOf = ({ entries }: ReadResult): Entry[] => entries.map(({ entry }) => entry)

export interface TrialOptions {
  /** Of the trials that go through the whole space although their outcome is known: from 0 to 1. */
  share: number
  opensAtMost: number
}

/**
 * Damages one journal in many ways. Every way goes through the journal: it is read, verified, appended to, read and
 * verified again. The index and everything above it see nothing of the files but what a `Journal` answers. So two
 * ways for which it gives the same answers to all questions are one outcome, and the whole space is opened once for
 * every outcome, and for as many others as `share` says.
 */
export class JournalTrials {
  readonly #base = memoryDir()
  readonly #dir = join(this.#base, 'trial')
  readonly #outcomes = new Set<string>()
  readonly #options: TrialOptions
  #space!: DamageSpace
  readonly #entries: Entry[] = []
  readonly #places: (Place & { seq: number })[] = []
  readonly #cursors: Cursor[] = []
  /** What should not have happened. */
  readonly wrong: string[] = []
  readonly figures = {
    'damaged journals': 0,
    detected: 0,
    'lost no record': 0,
    'lost one record': 0,
    'lost more, all of them cut off': 0,
    'different outcomes': 0,
    'spaces opened with the index kept': 0,
    'spaces opened without an index': 0,
  }

  constructor(options: TrialOptions) {
    this.#options = options
  }

  async prepare(): Promise<Buffer> {
    this.#space = await buildDamageSpace(join(this.#base, 'whole'))
    layOut(this.#space, this.#dir)
    this.#remember()
    return this.#space.files.get(segment)!
  }

  /** What the journal has while it is whole: the index that is kept was made from it. */
  #remember(): void {
    const reader = new SegmentReader(join(this.#dir, 'journal'), decodeLine)
    for (let cursor = startCursor; ; ) {
      const read = reader.read(cursor, 1)
      if (read.entries.length === 0) break
      for (const { entry, place } of read.entries) {
        this.#entries.push(entry)
        this.#places.push({ ...place, seq: entry.seq })
      }
      cursor = read.cursor
      this.#cursors.push(cursor)
    }
    reader.close()
  }

  /** `mayLose`: how many records the damage can cost. */
  async try(what: string, damaged: Buffer, mayLose: number): Promise<void> {
    const wrong = (why: string) => this.wrong.push(`${what}: ${why}`)
    this.figures['damaged journals']++
    try {
      const found = await this.#tryJournal(damaged, mayLose, wrong)
      const isNew = !this.#outcomes.has(found.outcome)
      this.#outcomes.add(found.outcome)
      this.figures['different outcomes'] = this.#outcomes.size
      if (!isNew && Math.random() >= this.#options.share) return
      if (this.figures['spaces opened without an index'] >= this.#options.opensAtMost) return
      for (const index of ['kept', 'gone'] as const) {
        this.figures[
          index === 'kept' ? 'spaces opened with the index kept' : 'spaces opened without an index'
        ]++
        await this.#trySpace(damaged, index, found.lost, (why) => wrong(`index ${index}: ${why}`))
      }
    } catch (error) {
      wrong((error as Error).stack ?? String(error))
    }
  }

  async #tryJournal(damaged: Buffer, mayLose: number, wrong: (why: string) => void) {
    layOut(this.#space, this.#dir, { without: isIndex, changed: { [segment]: damaged } })
    const before = await this.#verify()
    if (before.length > 0) this.figures.detected++
    else wrong('not detected')
    const [entries, answers] = await this.#readJournal((journal, read) => [
      entriesOf(read),
      this.#answersOf(journal, read),
    ])
    const lost = this.#compare(entries, wrong)
    this.figures[lostWords[lost.length] ?? 'lost more, all of them cut off']++
    if (lost.length > mayLose) wrong(`lost entries ${lost.join(', ')}`)

    const journal = new FileJournal({ dir: this.#dir, durability: 'os' })
    const { entry, place } = await appendMessage(journal, { subject: 'after' })
    await journal.close()
    const last = this.#entries.at(-1)!.seq
    if (entry.seq <= last) wrong(`seq ${entry.seq} was used twice`)
    const after = await this.#readJournal((_, read) => entriesOf(read))
    if (!after.some(({ seq }) => seq === entry.seq)) wrong('what was appended cannot be read')
    const lostNow = this.#compare(
      after.filter(({ seq }) => seq <= last),
      wrong,
    )
    if (lostNow.length > lost.length) wrong(`appending lost entries ${lostNow.join(', ')}`)
    if ((await this.#verify()).length === 0 && !this.#isWhole()) wrong('not detected after an append')
    return { lost, outcome: JSON.stringify([answers, before, entry.seq, place.segment, place.offset]) }
  }

  #compare(entries: readonly Entry[], wrong: (why: string) => void): number[] {
    const found = new Map(entries.map((entry) => [entry.seq, entry]))
    if (found.size < entries.length) wrong('an entry is delivered twice')
    for (const entry of this.#entries) {
      const same = found.get(entry.seq)
      if (same !== undefined && !isDeepStrictEqual(same, entry)) wrong(`entry ${entry.seq} is another one`)
      found.delete(entry.seq)
    }
    if (found.size > 0) wrong(`entries ${[...found.keys()].join(', ')} were never written`)
    const seqs = new Set(entries.map(({ seq }) => seq))
    return this.#entries.flatMap(({ seq }) => (seqs.has(seq) ? [] : [seq]))
  }

  /** A last newline that was cut off is written again by the next append, and then nothing is wrong any more. */
  #isWhole(): boolean {
    const whole = this.#space.files.get(segment)!
    return readFileSync(join(this.#dir, segment)).subarray(0, whole.length).equals(whole)
  }

  async #verify(): Promise<DamageName[]> {
    const { damage } = await verifyJournal(join(this.#dir, 'journal'))
    return damage.map(({ name }) => name)
  }

  async #readJournal<T>(ask: (journal: FileJournal, read: ReadResult) => T): Promise<T> {
    const journal = new FileJournal({ dir: this.#dir, durability: 'os' })
    try {
      return ask(journal, journal.read(startCursor, Number.MAX_SAFE_INTEGER))
    } finally {
      await journal.close()
    }
  }

  /** What a journal answers to everything that it can be asked. */
  #answersOf(journal: FileJournal, read: ReadResult): unknown {
    // Entry by entry as well, as whoever follows reads it.
    const steps: Cursor[] = []
    for (let cursor = startCursor; ; cursor = steps.at(-1)!) {
      const { entries, cursor: next } = journal.read(cursor, 1)
      if (entries.length === 0) break
      steps.push(next)
    }
    const around = this.#places.map((place) => [journal.at(place) !== undefined, journal.damageAt(place)])
    // There is one segment, so what it depends on is the same for all of them.
    const located = [this.#places[0]!, this.#places.at(-1)!].map(({ seq }) => journal.locate(seq))
    const ends = this.#cursors.map((cursor) => [journal.fits(cursor), journal.atEnd(cursor)])
    const sums = new Set(this.#cursors.map(({ sum }) => sum))
    const asTold = (cursor: Cursor) => ({ ...cursor, sum: sums.has(cursor.sum) ? cursor.sum : 'another' })
    const places = read.entries.map(({ entry, place }) => [entry.seq, place])
    const cursors = [read.cursor, ...steps].map(asTold)
    return [journal.space, places, read.damaged, cursors, around, located, ends]
  }

  /** Everything that a mailbox can be asked, and a send that arrives. */
  async #trySpace(
    damaged: Buffer,
    index: 'kept' | 'gone',
    lost: readonly number[],
    wrong: (why: string) => void,
  ): Promise<void> {
    const without = (name: string) => index === 'gone' && isIndex(name)
    layOut(this.#space, this.#dir, { without, changed: { [segment]: damaged } })
    const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await work()
      } catch (error) {
        wrong(`${what}: ${(error as Error).stack}`)
        return undefined
      }
    }
    const space = await openDisk({ dir: this.#dir, settings: damageSettings })
    try {
      await attempt('agents', () => space.agents())
      await attempt('stats', () => space.stats())
      await attempt('dead', () => space.deadLetters())
      await attempt('owed', () => space.owed())
      for (const entry of this.#entries) {
        if (entry.kind !== 'message') continue
        const { id, subject } = entry.message
        try {
          const { message } = await space.show(id)
          // Of a lost one, what is known from elsewhere may be shown.
          const isSame = lost.includes(entry.seq) || message.subject === subject
          if (!isSame) wrong(`${id} has another subject`)
        } catch (error) {
          const isTyped = error instanceof MailboxError && ['damaged', 'not_found'].includes(error.code)
          if (!isTyped || !lost.includes(entry.seq)) wrong(`show ${entry.seq}: ${(error as Error).stack}`)
        }
      }
      for (const name of damageAgents) {
        const mailbox = await attempt('mailbox', () => space.mailbox(name))
        if (mailbox === undefined) continue
        await attempt('inbox', () => mailbox.inbox())
        await attempt('sent', () => mailbox.sent())
        await attempt('search', () => mailbox.search('task'))
        await attempt('check', () => mailbox.check())
        await attempt('count', () => mailbox.count())
      }
      const bob = await space.mailbox('bob')
      const sent = await attempt('send', () => bob.send({ to: 'bob', subject: 'after the damage' }))
      const inbox = await attempt('inbox', () => bob.inbox())
      if (!inbox?.messages.some(({ id }) => id === sent?.id)) wrong('a new message does not arrive')
    } finally {
      await space.close()
    }
  }

  close(): void {
    rmSync(this.#base, { recursive: true, force: true })
  }
}
