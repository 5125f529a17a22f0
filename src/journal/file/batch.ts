import type { MailboxError } from '../../base/errors.ts'
import type { Draft, Entry, MessageEntry } from '../../model/entry.ts'
import {
  LeafBuffer,
  type MessageSigner,
  signedTextIn,
  signLeaves,
  signTogether,
} from '../../model/signature.ts'
import { LineBuffer, noSum, textOf } from '../codec.ts'
import { type PlacedEntry, startCursor } from '../journal.ts'

interface PendingLine {
  entry: Entry
  /** The text of its draft. */
  text: string
  /** The same, once it is encoded. */
  bytes?: Buffer | undefined
  signature?: string
}

interface SignedLine {
  line: PendingLine
  entry: MessageEntry
}

export interface BatchLine {
  entry: Entry
  sum: string
  /** Where its line starts and ends (before the newline) in the buffer. */
  start: number
  end: number
}

/** What became of a batch: the entries that are in the file, and why the others are not. */
export interface FlushOutcome {
  placed: PlacedEntry[]
  error: MailboxError | undefined
}

/**
 * Lines that are numbered, but not written yet. They are signed, chained and encoded when they are: what one sender says
 * in a batch takes one signature.
 */
export class Batch {
  #lines: PendingLine[] = []
  readonly #buffer = new LineBuffer()
  readonly #leaves = new LeafBuffer()
  /** The entry that the first line follows. */
  #before: { seq: number; sum: string } = startCursor

  get length(): number {
    return this.#lines.length
  }

  /** The next line follows this entry. Only while the batch is empty. */
  startAfter({ seq, sum }: { seq: number; sum: string }): void {
    this.#before = { seq, sum }
  }

  addSeal(): void {
    this.#buffer.addSeal()
  }

  add(draft: Draft, at: string): Entry {
    const seq = (this.#lines.at(-1)?.entry ?? this.#before).seq + 1
    const text = textOf(draft)
    const entry: Entry = { seq, at, ...draft }
    this.#lines.push({ entry, text })
    return entry
  }

  /** Drops lines, back to the first `keep`. If none is left, the next one follows `before`. */
  rewind(keep: number, before: { seq: number; sum: string }): void {
    this.#lines.length = keep
    if (keep > 0) return
    this.#buffer.length = 0
    this.startAfter(before)
  }

  /** Empties the batch. The bytes are good until the next line is added. */
  take(): { lines: BatchLine[]; bytes: Buffer } {
    this.#sign()
    let { sum: prev } = this.#before
    const lines = this.#lines.map(({ entry, text, bytes, signature }): BatchLine => {
      const start = this.#buffer.length
      const more = signature === undefined ? '' : `,"signature":"${signature}"`
      const sum = this.#buffer.addText(bytes ?? text, entry.seq, entry.at, prev || noSum, more)
      prev = sum
      return { entry, sum, start, end: this.#buffer.length - 1 }
    })
    const { bytes } = this.#buffer
    this.#lines = []
    this.#buffer.length = 0
    return { lines, bytes }
  }

  #sign(): void {
    const bySigner = new Map<MessageSigner, SignedLine[]>()
    for (const line of this.#lines) {
      const { entry } = line
      if (entry.kind !== 'message' || entry.signer === undefined) continue
      const signer = entry.signer()
      delete entry.signer
      const signed = bySigner.get(signer)
      if (signed === undefined) bySigner.set(signer, [{ line, entry }])
      else signed.push({ line, entry })
    }
    this.#leaves.clear()
    for (const [signer, signed] of bySigner) {
      for (const [at, signature] of this.#signaturesOf(signed, signer).entries()) {
        const { line, entry } = signed[at]!
        entry.signature = signature
        line.signature = signature
      }
    }
  }

  #signaturesOf(signed: readonly SignedLine[], signer: MessageSigner): string[] {
    const [{ line, entry }] = signed as [SignedLine]
    if (signed.length === 1) return signTogether([signedTextIn(line.text, entry, signer.space)], signer)
    const leaves = signed.map(({ line, entry }) => {
      const { leaf, bytes } = this.#leaves.add(line.text, entry, signer.space)
      line.bytes = bytes
      return leaf
    })
    return signLeaves(leaves, signer)
  }
}
