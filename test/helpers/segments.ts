import { hash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LineBuffer } from '../../src/journal/codec.ts'
import { segmentPath } from '../../src/journal/file/segment.ts'
import { type VerifyReport, verifyJournal } from '../../src/journal/file/verify.ts'
import type { Draft } from '../../src/model/entry.ts'

/** Looks at a space's journal as `cat` and an editor would, without any of the code under test in between. */
export const segmentFile = (dir: string, segment = 1): string => segmentPath(join(dir, 'journal'), segment)

export const segmentFiles = (dir: string): string[] => readdirSync(join(dir, 'journal')).sort()

/** The lines of a segment, without their newlines. */
export function linesIn(dir: string, segment = 1): string[] {
  const text = readFileSync(segmentFile(dir, segment), 'utf8')
  return text.split('\n').slice(0, -1)
}

export function writeLines(dir: string, lines: readonly string[], segment = 1): void {
  writeFileSync(segmentFile(dir, segment), lines.map((line) => `${line}\n`).join(''))
}

/** One line as the journal writes it, with its newline. */
export function encodeLine(
  draft: Draft,
  seq: number,
  at: string,
  prev: string,
): { text: Buffer; sum: string } {
  const buffer = new LineBuffer()
  const sum = buffer.add(draft, seq, at, prev)
  return { text: Buffer.from(buffer.bytes), sum }
}

/** The line with a checksum that fits what it says now: what a forger who knows the format would do. */
export function withOwnSum(line: string): string {
  const head = line.replace(/,"sum":"[0-9a-f]{32}"\}$/, '')
  return `${head},"sum":"${hash('sha256', head, 'hex').slice(0, 32)}"}`
}

export const verifyDir = (dir: string): Promise<VerifyReport> => verifyJournal(join(dir, 'journal'))
