import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { hasItsSum, noSum, prevText, sumText } from '../codec.ts'
import { lineStart } from '../copy/line-place.ts'
import type { Link } from './driver.ts'
import type { Server } from './server.ts'
import { changedError, packedError } from './store-errors.ts'

const toGzip = promisify(gzip)
const fromGzip = promisify(gunzip)
const newline = 0x0a

/** A segment in the archive of the database. */
export interface PackedSegment {
  segment: number
  /** The name of its file, with the month of its last entry. */
  name: string
  first: number
  last: number
  content: Buffer
}

interface PackedRow {
  segment: number
  name: string
  first_seq: string
  last_seq: string
  content: Buffer
}

/** The first segment in the archive that has something after `seq`. */
export async function packedAfter(server: Server, seq: number): Promise<PackedSegment | undefined> {
  const rows: PackedRow[] = await server.asking((link) =>
    link.query<PackedRow>(
      `SELECT segment, name, first_seq, last_seq, content FROM mailbox.archive
       WHERE space = $1 AND last_seq > $2 ORDER BY segment LIMIT 1`,
      [server.number, seq],
    ),
  )
  const [row] = rows
  if (row === undefined) return undefined
  const { segment, name, first_seq: first, last_seq: last, content } = row
  return { segment, name, first: Number(first), last: Number(last), content }
}

/** The lines of an archived segment. Throws unless all are there, each following the one before. */
export async function linesOfPacked(server: Server, packed: PackedSegment): Promise<string[]> {
  const lines = await fromGzip(packed.content).then(
    (bytes) => bytes.toString('utf8').split('\n').slice(0, -1),
    () => [],
  )
  if (brokenAt(lines, packed.first, packed.last) !== undefined)
    throw packedError(server.address.shown, packed.segment, packed.name)
  return lines
}

/**
 * Moves the lines of a segment into the archive, in one transaction. Whoever reads meanwhile finds them in one of the
 * two. When another machine was faster, there is nothing left to move.
 */
export async function packThere(
  server: Server,
  segment: number,
  name: string,
  from: number,
  to: number,
): Promise<void> {
  const range = [server.number, from, to]
  await inTransaction(server, async (link) => {
    const rows: { line: string }[] = await link.query<{ line: string }>(
      'SELECT line FROM mailbox.entries WHERE space = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq',
      range,
    )
    const isThere: unknown[] = await link.query(
      'SELECT FROM mailbox.archive WHERE space = $1 AND segment = $2',
      [server.number, segment],
    )
    if (isThere.length === 0) {
      const lines = rows.map(({ line }) => line)
      const broken = brokenAt(lines, from, to)
      if (broken !== undefined) throw changedError(server.address.shown, broken)
      const content = await toGzip(Buffer.from(`${lines.join('\n')}\n`))
      // What cannot be read back takes nothing's place.
      await linesOfPacked(server, { segment, name, first: from, last: to, content })
      const packed = [server.number, segment, name, from, to, content]
      await link.query(
        `INSERT INTO mailbox.archive (space, segment, name, first_seq, last_seq, content)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
        packed,
      )
    }
    await link.query('DELETE FROM mailbox.entries WHERE space = $1 AND seq BETWEEN $2 AND $3', range)
  })
}

/** Removes everything before an entry, with which a segment begins. */
export async function removeThere(server: Server, segment: number, seq: number): Promise<void> {
  await inTransaction(server, (link) => removeOn(link, server.number, segment, seq))
}

export async function removeOn(link: Link, space: string, segment: number, seq: number): Promise<void> {
  await link.query(
    `UPDATE mailbox.spaces SET first_segment = greatest(first_segment, $2), first_seq = greatest(first_seq, $3)
     WHERE space = $1`,
    [space, segment, seq],
  )
  await link.query('DELETE FROM mailbox.archive WHERE space = $1 AND segment < $2', [space, segment])
  await link.query('DELETE FROM mailbox.entries WHERE space = $1 AND seq < $2', [space, seq])
}

/** The first entry that is missing, or not as it was written; undefined if all are whole. */
function brokenAt(lines: readonly string[], from: number, to: number): number | undefined {
  let sum: string | undefined = from === 1 ? noSum : undefined
  for (const [at, text] of lines.entries()) {
    const line = Buffer.from(text)
    const isNext = lineStart(text)?.seq === from + at && (sum === undefined || prevText(line) === sum)
    if (!isNext || !hasItsSum(line) || line.includes(newline)) return from + at
    sum = sumText(line)
  }
  return lines.length === to - from + 1 ? undefined : from + lines.length
}

async function inTransaction(server: Server, work: (link: Link) => Promise<void>): Promise<void> {
  await server.with(async (link) => {
    await link.query('BEGIN')
    try {
      await work(link)
      await link.query('COMMIT')
    } catch (error) {
      await link.query('ROLLBACK').catch(() => {})
      throw error
    }
  })
}
