import { hash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { segmentPath } from '../../src/journal/segment.ts'
import { type VerifyReport, verifyJournal } from '../../src/journal/verify.ts'

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

/** The line with a checksum that fits what it says now: what a forger who knows the format would do. */
export function withOwnSum(line: string): string {
  const head = line.replace(/,"sum":"[0-9a-f]{32}"\}$/, '')
  return `${head},"sum":"${hash('sha256', head, 'hex').slice(0, 32)}"}`
}

export const verifyDir = (dir: string): Promise<VerifyReport> => verifyJournal(join(dir, 'journal'))
