import { hash } from 'node:crypto'
import type { Entry, SegmentReason } from '../../model/entry.ts'
import { KeyHistory } from '../../model/signature.ts'
import { type DecodedLine, decodeLine, looksWhole, noSum } from '../codec.ts'
import { type Damage, type DamageName, damageNames, sentenceOf } from '../damage.ts'
import { type Piece, salvage, startsWithMark, wasNewline } from '../salvage.ts'
import { flawOf } from './entry-flaw.ts'
import type { First } from './first-mark.ts'
import type { Head } from './head-mark.ts'
import type { Beforehand, KnownDamage, SeenEntry, VerifyReport } from './verify.ts'

interface Segment {
  segment: number
}

interface LinePlace extends Segment {
  line: number
  offset: number
  bytes: number
}

/** Bytes that are no entry. What they were follows from what comes after them. */
interface Broken extends LinePlace {
  content: Buffer
  /** Whether a newline follows. */
  complete: boolean
}

/** An entry, and what stands between it and the entry before. */
interface Found extends DecodedLine {
  place: LinePlace
  content: Buffer
  broken: Broken[]
}

/** Damage that a whole file can have in the same way is one finding for the file. */
const collected: readonly DamageName[] = ['crlf', 'bom', 'extra_newline', 'repeated_line', 'backwards_seq']
/** How many checksums are remembered, to tell a repeated line from another one. */
const sumsAtMost = 200_000
const newline = Buffer.from('\n')
const isBlank = ({ content }: Broken) => content.length === 0 || (content.length === 1 && content[0] === 0x0d)

const rewritten = ({ seq, at }: SeenEntry): string =>
  `the journal was rewritten or cut: entry ${seq} is not the one that was here on ${at.slice(0, 16).replace('T', ' ')}`

/** Follows the chain through the segments, and names what is wrong with it. */
export class ChainCheck {
  readonly #report: VerifyReport
  readonly #head: Head | undefined
  readonly #known: readonly KnownDamage[]
  readonly #seen: SeenEntry | undefined
  #segment = 0
  #line = 0
  #seq = 0
  #sum = noSum
  /** False until the first line if older segments were removed: there is nothing to compare it with. */
  #linked = false
  /** Not explained yet. */
  #broken: Broken[] = []
  /** An entry whose seq is too high. The next one tells whether entries are missing or this one is out of place. */
  #ahead: Found | undefined
  readonly #sums = new Set<string>()
  #keys: KeyHistory | undefined
  #missing: Damage[] = []
  /** Files since the last entry whose content is gone. */
  #gone: Damage[] = []
  /** The highest number that a file has. */
  #lastNumber = 0
  /** Where the last entry was. */
  #lastSegment = 1

  constructor(report: VerifyReport, head: Head | undefined, { known, seen }: Beforehand) {
    this.#report = report
    this.#head = head
    this.#known = known
    this.#seen = seen
  }

  /** Tells which numbers have a file, in order. There is one for every number between the two that were marked. */
  numbers(present: readonly number[], first: First | undefined): void {
    this.#lastNumber = present.at(-1) ?? 0
    const lowest = present[0] ?? this.#head?.segment ?? 1
    let next = Math.min(lowest, first?.segment ?? lowest)
    if (first !== undefined && next < lowest) {
      this.#linked = true
      this.#seq = first.seq - 1
    }
    for (const number of [...present, Math.max(this.#head?.segment ?? 0, this.#lastNumber) + 1]) {
      if (number > next) {
        const what = `segments ${next} to ${number - 1} are missing`
        this.#missing.push(this.#add('missing_segment', { segment: next }, { what }))
      }
      next = number + 1
    }
  }

  /** `slot`: the number that it should have. `size` is undefined if its content cannot be used. */
  startSegment(segment: number, slot: number, size: number | undefined): void {
    if (this.#segment === 0) this.#linked ||= slot === 1
    this.#gone.push(...this.#missing.filter((one) => one.segment < slot))
    this.#missing = this.#missing.filter((one) => one.segment >= slot)
    this.#segment = segment
    this.#line = 0
    if (slot !== segment)
      this.#add('swapped_segment', { segment }, { what: `the file has the content of segment ${slot}` })
    // A process that was killed can leave an empty file, but only as the last one.
    if (size === 0 && (segment < this.#lastNumber || segment <= (this.#head?.segment ?? 0)))
      this.#gone.push(this.#add('empty_segment', { segment }))
  }

  foreign(segment: number): void {
    this.#gone.push(this.#add('foreign_segment', { segment }))
  }

  /** Its lines cannot be checked, nor the next segment's link to them. */
  unreadable(segment: number, what: string): void {
    this.#add('unreadable_segment', { segment }, { what })
    this.#linked = false
  }

  line(content: Buffer, offset: number, complete: boolean): void {
    const place = { segment: this.#segment, line: ++this.#line, offset, bytes: content.length }
    const decoded = complete ? decodeLine(content) : undefined
    if (decoded === undefined) this.#brokenLine(content, place, complete)
    else this.#found({ ...decoded, place, content, broken: this.#takeBroken() })
  }

  #brokenLine(content: Buffer, place: LinePlace, complete: boolean): void {
    const wasEnded = complete || !wasNewline(content.at(-1))
    const pieces = salvage(wasEnded ? content : content.subarray(0, -1), decodeLine)
    if (pieces.every(({ decoded }) => decoded === undefined) || this.#isUnfinished(pieces, complete)) {
      this.#broken.push({ ...place, content: Buffer.from(content), complete })
      return
    }
    if (pieces.length > 1 || !complete) this.#add('lost_newline', place)
    else {
      if (startsWithMark(content)) this.#add('bom', place)
      if (content.at(-1) === 0x0d) this.#add('crlf', place)
    }
    for (const { start, end } of pieces) {
      const own = { ...place, offset: place.offset + start, bytes: end - start }
      const part = content.subarray(start, end)
      const decoded = decodeLine(part)
      if (decoded !== undefined)
        this.#found({ ...decoded, place: own, content: part, broken: this.#takeBroken() })
      else this.#broken.push({ ...own, content: Buffer.from(part), complete: true })
    }
  }

  /** A writer was killed before the newline: nobody was told of the line. */
  #isUnfinished(pieces: readonly Piece<DecodedLine['entry']>[], complete: boolean): boolean {
    return !complete && pieces.length === 1 && pieces[0]!.decoded!.entry.seq > (this.#head?.seq ?? 0)
  }

  #takeBroken(): Broken[] {
    const broken = this.#broken
    this.#broken = []
    return broken
  }

  #found(found: Found): void {
    const ahead = this.#ahead
    this.#ahead = undefined
    const { seq } = found.entry
    if (ahead !== undefined) {
      if (seq > this.#seq && seq <= ahead.entry.seq) {
        this.#add('stray_line', ahead.place)
        found.broken.unshift(...ahead.broken)
      } else this.#accept(ahead)
    }
    if (this.#linked && seq <= this.#seq) {
      this.#add(this.#sums.has(found.sum) ? 'repeated_line' : 'backwards_seq', found.place)
      this.#broken.push(...found.broken)
    } else if (this.#linked && seq > this.#seq + 1) this.#ahead = found
    else this.#accept(found)
  }

  #accept({ entry, prev, sum, place, content, broken }: Found): void {
    const { seq } = entry
    const missing = this.#linked ? seq - this.#seq - 1 : 0
    // A seal in a segment without a header comes after the header.
    const waiting =
      entry.kind === 'segment' && missing === 0 ? broken.filter((one) => one.segment === place.segment) : []
    this.#broken.unshift(...waiting)
    const unexplained = broken.filter((one) => !waiting.includes(one))
    const rest = entry.kind === 'torn' ? this.#sealed(entry, unexplained, place) : unexplained
    this.#explain(rest, missing, entry.kind === 'segment' ? entry.reason : undefined, place)
    if (this.#linked && missing === 0 && prev !== this.#sum) this.#add('broken_chain', place)
    if (seq === this.#head?.seq && sum !== this.#head.sum) this.#add('replaced_journal', place)
    if (seq === this.#seen?.seq && sum !== this.#seen.sum)
      this.#add('rewritten_journal', place, { what: rewritten(this.#seen) })
    const flaw = flawOf(content)
    if (flaw !== undefined) this.#add('bad_entry', place, { what: flaw })
    if (entry.kind === 'segment') this.#keys ??= new KeyHistory(entry.space)
    const forged = this.#keys?.forgedIn(entry)
    if (forged !== undefined) this.#add('forged_entry', place, { what: forged })
    if (this.#keys?.isUnsigned(entry)) this.#report.unsigned.push(seq)
    this.#report.entries++
    if (entry.kind === 'message') this.#report.messages++
    this.#date(entry)
    this.#linked = true
    this.#seq = seq
    this.#sum = sum
    this.#gone = []
    this.#lastSegment = place.segment
    if (this.#sums.size >= sumsAtMost) this.#sums.clear()
    this.#sums.add(sum)
  }

  /** An entry that says what is lost tells since when that is known. */
  #date(entry: Entry): void {
    const lost = entry.kind === 'damage' ? [entry] : entry.kind === 'repair' ? entry.lost : []
    for (const { from, to } of lost) {
      for (const one of this.#report.damage)
        if (one.lost !== undefined && one.lost.from <= to && one.lost.to >= from) one.since ??= entry.at
    }
  }

  /** A seal covers everything between the last line and itself: usually one fragment, more if a seal was torn. */
  #sealed(
    torn: { offset: number; bytes: number; digest: string },
    broken: Broken[],
    place: LinePlace,
  ): Broken[] {
    const inside = ({ offset }: Broken) => offset >= torn.offset && offset < torn.offset + torn.bytes
    const pieces = broken.filter(inside)
    const joined = Buffer.concat(pieces.flatMap(({ content }) => [content, newline])).subarray(0, torn.bytes)
    if (joined.length !== torn.bytes || hash('sha256', joined, 'hex') !== torn.digest) {
      this.#add('false_seal', place)
      return broken
    }
    for (const piece of pieces) this.#torn(piece, true)
    return broken.filter((one) => !inside(one))
  }

  /** Names what stands between two entries, `missing` of which are lost. */
  #explain(broken: Broken[], missing: number, reason: SegmentReason | undefined, place: Segment): void {
    const hasFailed = reason === 'write_failed' || reason === 'sync_failed'
    const surestFirst = broken
      .filter((one) => !isBlank(one))
      .sort((a, b) => Number(looksWhole(b.content)) - Number(looksWhole(a.content)))
    const lost = new Set(surestFirst.slice(0, missing))
    let from = this.#seq + 1
    for (const one of broken) {
      if (lost.has(one)) this.#add('changed_line', one, { lost: { from, to: from++ } })
      else if (isBlank(one)) this.#add('extra_newline', one)
      else if (hasFailed || !one.complete) this.#torn(one, true)
      else this.#add('changed_line', one)
    }
    if (lost.size === missing) return
    const range = { lost: { from, to: this.#seq + missing } }
    const [file] = this.#gone
    if (file !== undefined) Object.assign(file, range)
    else if (reason === 'damaged') this.#add('lost_end', { segment: this.#lastSegment }, range)
    else this.#add('missing_lines', place, range)
  }

  end(): void {
    if (this.#ahead !== undefined) this.#accept(this.#ahead)
    this.#ahead = undefined
    this.#gone.push(...this.#missing)
    if (this.#seen !== undefined && this.#seq < this.#seen.seq)
      this.#add('rewritten_journal', { segment: this.#segment || 1 }, { what: rewritten(this.#seen) })
    const broken = this.#takeBroken()
    const missing = Math.max(0, (this.#head?.seq ?? 0) - this.#seq)
    if (missing > 0) this.#explain(broken, missing, 'damaged', { segment: this.#segment || 1 })
    else for (const one of broken) this.#atEnd(one)
    this.#report.damage.sort((a, b) => a.segment - b.segment || (a.offset ?? 0) - (b.offset ?? 0))
    this.#report.problems.push(...this.#report.damage.map(sentenceOf))
  }

  /** After the last entry, with everything there that was acknowledged: what a killed writer left, or an editor. */
  #atEnd(one: Broken): void {
    if (isBlank(one)) this.#add('extra_newline', one)
    else if (!one.complete || (this.#head !== undefined && !looksWhole(one.content))) this.#torn(one, false)
    else this.#add('changed_line', one)
  }

  #torn({ segment, offset, bytes }: Broken, sealed: boolean): void {
    this.#report.torn.push({ segment, offset, bytes, sealed })
  }

  #add(name: DamageName, place: Segment | LinePlace, more: Partial<Damage> = {}): Damage {
    const { damage } = this.#report
    const alike = ({ name: other, segment }: Damage) => other === name && segment === place.segment
    const known = collected.includes(name) ? damage.find(alike) : undefined
    if (known !== undefined) {
      known.lines = (known.lines ?? 1) + 1
      return known
    }
    const { segment } = place
    const where = 'line' in place ? { line: place.line, offset: place.offset, bytes: place.bytes } : {}
    const found: Damage = { name, segment, ...where, what: damageNames[name], ...more }
    const since = this.#known.find((one) => one.segment === segment && one.offset === found.offset)?.at
    if (since !== undefined) found.since = since
    damage.push(found)
    return found
  }
}
