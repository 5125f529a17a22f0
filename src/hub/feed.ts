import type { Wants } from '../api/mailbox-filter.ts'
import { pause } from '../base/timers.ts'
import type { Entry } from '../model/entry.ts'
import type { Space } from '../space/api.ts'
import type { Survey } from '../space/survey.ts'
import { type Frame, toFrame, type Wrap } from './frames.ts'

/** Part of the journal as bytes, and the entry it ends with. */
export interface Chunk {
  bytes: Buffer
  to: number
  entries: number
}

/** How many entries are kept in memory at least, unless they are too large. */
const keptEntries = 5_000
/** How much is written to a follower at once. */
const chunkBytes = 131_072
/** Entries that arrive within this time are sent together: a write for each would cost more than the mail. */
const gatherMs = 10
const pageEntries = 500
const retryMs = 1_000

interface FeedOptions {
  /** How much is kept in memory, for followers that were away for a moment. */
  keptChars: number
  /** Called when the journal cannot be read. */
  onProblem?: (error: unknown) => void
}

/**
 * The end of the journal, read once for all followers. Each follower has its own cursor and takes what comes
 * after it: from memory while it keeps up, from the journal when it has fallen behind or reconnects. Both go by
 * the same cursor, so nothing is lost or repeated in between.
 */
export class Feed {
  readonly #space: Space
  readonly #survey: Survey
  readonly #keptChars: number
  readonly #onProblem: (error: unknown) => void
  readonly #ending = new AbortController()
  readonly #listeners = new Set<() => void>()
  #frames: Frame[] = []
  #chars = 0
  /** Chunks that several followers need at the same time. */
  #shared = new Map<Wrap, Map<number, Chunk>>()
  #gathering: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined

  constructor(space: Space, survey: Survey, { keptChars, onProblem = () => {} }: FeedOptions) {
    this.#space = space
    this.#survey = survey
    this.#keptChars = keptChars
    this.#onProblem = onProblem
  }

  async start(): Promise<void> {
    const end = await this.#space.lastSeq()
    let after = Math.max(0, end - keptEntries)
    while (after < end) {
      const { entries } = await this.#survey.entries(after, pageEntries)
      if (entries.length === 0) break
      for (const entry of entries) this.#keep(entry)
      after = entries.at(-1)!.seq
    }
    this.#running = this.#follow(after)
  }

  /** What cannot be read now may be readable in a moment; followers wait meanwhile. */
  async #follow(from: number): Promise<void> {
    const { signal } = this.#ending
    for (let after = from; !signal.aborted; after = this.last) {
      try {
        for await (const { entry } of this.#space.follow({ after, signal })) {
          this.#keep(entry)
          this.#gathering ??= setTimeout(() => this.#tell(), gatherMs)
        }
      } catch (error) {
        this.#onProblem(error)
        await pause(retryMs, signal)
      }
    }
  }

  #keep(entry: Entry): void {
    const frame = toFrame(entry)
    this.#frames.push(frame)
    this.#chars += frame.json.length
    if (this.#frames.length <= 2 * keptEntries && this.#chars <= 2 * this.#keptChars) return
    // Half of it at once: removing entries one by one would move the rest every time.
    const gone = this.#frames.splice(0, this.#frames.length >> 1)
    for (const { json } of gone) this.#chars -= json.length
  }

  #tell(): void {
    this.#gathering = undefined
    this.#shared.clear()
    for (const listener of this.#listeners) listener()
  }

  /** The last entry that was seen. */
  get last(): number {
    return this.#frames.at(-1)?.entry.seq ?? 0
  }

  /** Calls back when there are more entries. */
  onMore(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The index of the first entry after this one, if it is in memory. A damaged line leaves a gap in the numbers. */
  #placeAfter(after: number): number | undefined {
    const frames = this.#frames
    const first = frames[0]?.entry.seq ?? Number.POSITIVE_INFINITY
    if (after + 1 < first) return undefined
    let at = Math.min(after + 1 - first, frames.length)
    while (at > 0 && frames[at - 1]!.entry.seq > after) at--
    return at
  }

  /** What comes after an entry, if it is in memory. Undefined: it has to be read from the journal. */
  chunkAfter(after: number, wrap: Wrap, wants?: Wants): Chunk | undefined {
    const at = this.#placeAfter(after)
    if (at === undefined) return undefined
    if (wants !== undefined) return toChunk(this.#frames, at, wrap, wants)
    const shared = this.#shared.get(wrap) ?? new Map<number, Chunk>()
    this.#shared.set(wrap, shared)
    const chunk = shared.get(after) ?? toChunk(this.#frames, at, wrap)
    if (chunk !== undefined) shared.set(after, chunk)
    return chunk
  }

  /** The same from the journal. Undefined at its end. */
  async readAfter(after: number, wrap: Wrap, wants?: Wants): Promise<Chunk | undefined> {
    const { entries } = await this.#survey.entries(after, pageEntries, chunkBytes)
    return toChunk(entries.map(toFrame), 0, wrap, wants)
  }

  /** The entries themselves, for waits in this process: the journal is not read again for each of them. */
  async *follow(after: number, wants: Wants, signal: AbortSignal): AsyncGenerator<{ entry: Entry }> {
    let cursor = after
    let wake = () => {}
    const ring = () => wake()
    const unlisten = this.onMore(ring)
    signal.addEventListener('abort', ring)
    try {
      while (!signal.aborted && !this.#ending.signal.aborted) {
        for (const entry of await this.#entriesAfter(cursor)) {
          cursor = entry.seq
          if (wants(entry)) yield { entry }
          if (signal.aborted) return
        }
        if (cursor >= this.last && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      unlisten()
      signal.removeEventListener('abort', ring)
    }
  }

  async #entriesAfter(after: number): Promise<readonly Entry[]> {
    const at = this.#placeAfter(after)
    if (at !== undefined) return this.#frames.slice(at).map(({ entry }) => entry)
    return this.last <= after ? [] : (await this.#survey.entries(after, pageEntries)).entries
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    this.#tell()
    clearTimeout(this.#gathering)
    await this.#running
    this.#listeners.clear()
  }
}

function toChunk(frames: readonly Frame[], from: number, wrap: Wrap, wants?: Wants): Chunk | undefined {
  const parts: Buffer[] = []
  let size = 0
  let at = from
  for (; at < frames.length && size < chunkBytes; at++) {
    const frame = frames[at]!
    if (wants?.(frame.entry) === false) continue
    const bytes = wrap(frame)
    parts.push(bytes)
    size += bytes.length
  }
  if (at === from) return undefined
  return { bytes: Buffer.concat(parts, size), to: frames[at - 1]!.entry.seq, entries: parts.length }
}
