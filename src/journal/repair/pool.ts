import type { FoundRecord } from './items.ts'
import { beforeFirst, type Link, linkOf } from './scan.ts'

/** A record that may be the one with its number. */
export interface Candidate {
  record: FoundRecord
  /** The segment it belongs to. */
  home: number
  /** Where it comes from; absent if it is in the journal already. */
  source?: string
}

/** A run of sequence numbers. */
export interface Range {
  from: number
  to: number
}

/**
 * The records of a journal by number, where something is wrong, and between them the runs that are sound, of which
 * only the ends are known. The chain decides who is who: each record names the sum of the one before.
 */
export class Pool {
  readonly chosen = new Map<number, Candidate>()
  readonly #runs: { first: Link; last: Link }[] = []
  readonly #rivals = new Map<number, Candidate[]>()

  /** A sound run: nothing in it needs to be looked at. */
  addRun(first: Link, last: Link): void {
    this.#runs.push({ first, last })
  }

  offer(candidate: Candidate): void {
    const { seq } = candidate.record
    const known = this.#rivals.get(seq)
    if (known === undefined) this.#rivals.set(seq, [candidate])
    else known.push(candidate)
  }

  /**
   * Chooses among everything that was offered since the last time: what the chain proves, and between `from` and
   * `to` also what nothing speaks against.
   */
  choose(from = 0, to = Number.POSITIVE_INFINITY): void {
    const seqs = [...this.#rivals.keys()].sort((a, b) => a - b)
    // From the end: a record is proved by the one after it, which names its sum.
    for (const seq of seqs.toReversed()) this.#chooseAt(seq, ({ sum }) => this.linkAt(seq + 1)?.prev === sum)
    for (const seq of seqs) this.#chooseAt(seq, ({ prev }) => this.linkAt(seq - 1)?.sum === prev)
    for (const seq of seqs)
      if (from <= seq && seq <= to) this.#chooseAt(seq, (record) => this.#contradictsNobody(record))
  }

  /** Takes what is left: it is in the journal and can be read, whatever the chain says. */
  chooseRest(): void {
    for (const seq of this.#rivals.keys()) this.#chooseAt(seq, () => true)
  }

  #chooseAt(seq: number, isProved: (record: FoundRecord) => boolean): void {
    if (this.has(seq)) return
    const found = this.#rivals.get(seq)?.find(({ record }) => isProved(record))
    if (found !== undefined) this.chosen.set(seq, found)
  }

  #contradictsNobody({ seq, prev, sum }: FoundRecord): boolean {
    const [before, after] = [this.linkAt(seq - 1), this.linkAt(seq + 1)]
    return (before === undefined || before.sum === prev) && (after === undefined || after.prev === sum)
  }

  has(seq: number): boolean {
    return this.chosen.has(seq) || this.#runs.some(({ first, last }) => first.seq <= seq && seq <= last.seq)
  }

  /** A record's place in the chain, if it is known. */
  linkAt(seq: number): Link | undefined {
    if (seq === 0) return beforeFirst
    const chosen = this.chosen.get(seq)
    if (chosen !== undefined) return linkOf(chosen.record)
    for (const { first, last } of this.#runs) {
      if (first.seq === seq) return first
      if (last.seq === seq) return last
    }
    return undefined
  }

  /** The numbers between the first and the last that no record has. */
  gaps(from: number): Range[] {
    const runs = [
      ...this.#runs.map(({ first, last }) => ({ from: first.seq, to: last.seq })),
      ...[...this.chosen.keys()].map((seq) => ({ from: seq, to: seq })),
    ].sort((a, b) => a.from - b.from)
    const gaps: Range[] = []
    let next = from
    for (const run of runs) {
      if (run.from > next) gaps.push({ from: next, to: run.from - 1 })
      next = Math.max(next, run.to + 1)
    }
    return gaps
  }

  get lowest(): number {
    return [...this.#runs.map(({ first }) => first.seq), ...this.chosen.keys()].reduce(
      (least, seq) => Math.min(least, seq),
      Number.POSITIVE_INFINITY,
    )
  }

  get highest(): number {
    return [...this.#runs.map(({ last }) => last.seq), ...this.chosen.keys()].reduce(
      (most, seq) => Math.max(most, seq),
      0,
    )
  }
}

export const isIn = (ranges: readonly Range[], seq: number): boolean =>
  ranges.some(({ from, to }) => from <= seq && seq <= to)
