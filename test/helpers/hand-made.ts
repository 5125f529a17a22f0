import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { noSum } from '../../src/journal/codec.ts'
import { HeadMark } from '../../src/journal/file/head-mark.ts'
import { segmentPath } from '../../src/journal/file/segment.ts'
import type { Draft, SegmentReason } from '../../src/model/entry.ts'
import { messageDraft } from './drafts.ts'
import { encodeLine } from './segments.ts'
import { tempDir } from './temp.ts'

/** A line of a journal that no writer wrote: a test says what is in it, byte for byte. */
export interface MadeLine {
  seq: number
  at: string
  sum: string
  /** Without its newline. */
  text: string
}

export const madeSpace = 'made'
export const header = (reason: SegmentReason = 'size', space = madeSpace): Draft => ({
  ...({ kind: 'segment', format: 1, space, reason } as const),
})

/** When the entry with a number was written: a second after the one before. */
export const timeOf = (seq: number): string => new Date(Date.UTC(2026, 0, 2) + seq * 1_000).toISOString()

/** Lines that follow each other, and what was there before them. */
export function chain(drafts: readonly Draft[], before: { seq: number; sum: string } = start): MadeLine[] {
  let { seq, sum } = before
  return drafts.map((draft) => {
    const at = timeOf(++seq)
    const line = encodeLine(draft, seq, at, sum)
    sum = line.sum
    return { seq, at, sum, text: line.text.toString('latin1').slice(0, -1) }
  })
}

const start = { seq: 0, sum: noSum }

/** A message that says its number. */
export const numbered = (seq: number): Draft =>
  messageDraft({ subject: `${seq}`, body: 'some words', createdAt: timeOf(seq) })

/** Segments of four lines each: a header and three messages. */
export const usualLines = (segments: number): MadeLine[] =>
  chain(
    Array.from({ length: segments * 4 }, (_, at) =>
      at % 4 === 0 ? header(at === 0 ? 'created' : 'size') : numbered(at + 1),
    ),
  )

/** The file of a line, and its place there: what a finding says of it. */
export interface MadePlace {
  segment: number
  line: number
  offset: number
  bytes: number
}

export class HandMade {
  /** The directory of the journal. */
  readonly dir = join(tempDir(), 'space', 'journal')
  readonly lines: MadeLine[]

  constructor(segments = 3) {
    mkdirSync(this.dir, { recursive: true })
    this.lines = usualLines(segments)
    for (let segment = 1; segment <= segments; segment++) this.write(segment, ...this.in(segment))
  }

  get space(): string {
    return dirname(this.dir)
  }

  /** The text of the line with a number. */
  line(seq: number): string {
    return this.lines[seq - 1]!.text
  }

  /** What a segment should have. */
  in(segment: number): string[] {
    return this.lines.slice((segment - 1) * 4, segment * 4).map(({ text }) => text)
  }

  path(segment: number): string {
    return segmentPath(this.dir, segment)
  }

  write(segment: number, ...lines: string[]): void {
    this.writeText(segment, lines.map((line) => `${line}\n`).join(''))
  }

  writeText(segment: number, text: string): void {
    writeFileSync(this.path(segment), text, 'latin1')
  }

  text(segment: number): string {
    return readFileSync(this.path(segment), 'latin1')
  }

  edit(segment: number, change: (text: string) => string): void {
    this.writeText(segment, change(this.text(segment)))
  }

  /** Where a line of a segment is now, counted from 1. */
  place(segment: number, line: number): MadePlace {
    const lines = this.text(segment).split('\n')
    const offset = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
    return { segment, line, offset, bytes: lines[line - 1]!.length }
  }

  /** Says that everything up to this number was acknowledged. */
  mark(seq: number, sum = this.lines[seq - 1]!.sum, segment = Math.ceil(seq / 4)): void {
    const head = new HeadMark(this.dir, madeSpace)
    head.write({ seq, segment, end: 1, sum })
    head.close()
  }
}
