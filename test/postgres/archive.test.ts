import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parseAddress } from '../../src/journal/postgres/address.ts'
import { linesOfPacked, packedAfter } from '../../src/journal/postgres/archive.ts'
import type { PostgresJournal } from '../../src/journal/postgres/postgres-journal.ts'
import { messageDraft, readAll, seqsOf, subjectsIn, upTo } from '../helpers/drafts.ts'
import { withOwnSum } from '../helpers/segments.ts'
import { ownSpace } from './place.ts'

const shown = (url: string) => parseAddress(url).shown
const nameOf = (segment: number) => `2026-01-${String(segment).padStart(8, '0')}.jsonl.gz`

/** A journal of segments of four lines each, in a database. */
async function filled(segments = 3) {
  const place = await ownSpace()
  const journal = await place.open({ segmentEntries: 4 })
  for (let n = 2; n < segments * 4 + 1; n++)
    if (n % 4 !== 1) await journal.append(() => [messageDraft({ subject: `${n}` })])
  const lines = async () =>
    (
      await place.sql<{ line: string }>('SELECT line FROM mailbox.entries WHERE space = SPACE ORDER BY seq')
    ).map(({ line }) => line)
  const seqs = async () => (await lines()).map((line) => (JSON.parse(line) as { seq: number }).seq)
  const archive = () =>
    place.sql<{ segment: number; name: string; first_seq: string; last_seq: string; content: Buffer }>(
      'SELECT segment, name, first_seq, last_seq, content FROM mailbox.archive WHERE space = SPACE ORDER BY segment',
    )
  const pack = (segment: number, on: PostgresJournal = journal) =>
    on.sourceArchive.pack(segment, nameOf(segment), segment * 4 - 3, segment * 4)
  const seqsRead = async (on: PostgresJournal) => seqsOf((await readAll(on)).map(({ entry }) => entry))
  return { ...place, journal, lines, seqs, archive, pack, seqsRead }
}

describe('a segment in a database', () => {
  it('is moved into the archive with all its lines, once', async () => {
    const { journal, lines, seqs, archive, pack, open, seqsRead } = await filled()
    const before = await lines()
    expect(before).toHaveLength(12)
    await pack(1)
    const [packed, ...others] = await archive()
    expect(others).toEqual([])
    expect(packed).toMatchObject({ segment: 1, name: nameOf(1), first_seq: '1', last_seq: '4' })
    expect(gunzipSync(packed!.content).toString('utf8')).toBe(
      before
        .slice(0, 4)
        .map((line) => `${line}\n`)
        .join(''),
    )
    expect(await seqs()).toEqual([5, 6, 7, 8, 9, 10, 11, 12])
    await pack(1)
    expect(await archive()).toEqual([packed])
    await pack(2)
    expect((await archive()).map(({ segment }) => segment)).toEqual([1, 2])
    expect(await journal.verifySource()).toEqual([])
    expect(await seqsRead(await open())).toEqual(upTo(12))
    const { server } = journal.store
    for (const [seq, segment] of [
      [0, 1],
      [3, 1],
      [4, 2],
      [7, 2],
      [8, undefined],
    ] as const)
      expect((await packedAfter(server, seq))?.segment).toBe(segment)
    expect(await linesOfPacked(server, (await packedAfter(server, 0))!)).toEqual(before.slice(0, 4))
  })

  it('that is not whole is not moved, and stays as it is', async () => {
    const { sql, seqs, archive, pack, url } = await filled()
    const change = (from: string, to: string, seq: number) =>
      sql(
        'UPDATE mailbox.entries SET line = replace(line, $1, $2) WHERE space = SPACE AND seq = $3',
        from,
        to,
        seq,
      )
    const refused = (seq: number) => ({
      code: 'damaged',
      message: `${shown(url)}: entry ${seq} in the table mailbox.entries is missing, or not as it was written`,
    })
    await change('"subject":"6"', '"subject":"9"', 6)
    await expect(pack(2)).rejects.toMatchObject(refused(6))
    await change('"subject":"9"', '"subject":"6"', 6)
    await sql("UPDATE mailbox.entries SET line = left(line, -1) || ']' WHERE space = SPACE AND seq = 8")
    await expect(pack(2)).rejects.toMatchObject(refused(8))
    await sql("UPDATE mailbox.entries SET line = left(line, -1) || '}' WHERE space = SPACE AND seq = 8")
    const [row] = await sql<{ line: string }>(
      'DELETE FROM mailbox.entries WHERE space = SPACE AND seq = 7 RETURNING line',
    )
    await expect(pack(2)).rejects.toMatchObject(refused(7))
    // Another whole line in its place.
    await sql(
      'INSERT INTO mailbox.entries SELECT space, 7, line FROM mailbox.entries WHERE space = SPACE AND seq = 8',
    )
    await expect(pack(2)).rejects.toMatchObject(refused(7))
    await sql('UPDATE mailbox.entries SET line = $1 WHERE space = SPACE AND seq = 7', row!.line)
    expect(await archive()).toEqual([])
    expect(await seqs()).toEqual(upTo(12))
    await pack(2)
    expect(await seqs()).toEqual([1, 2, 3, 4, 9, 10, 11, 12])
  })

  it('whose end is missing is not moved', async () => {
    const { sql, pack } = await filled()
    await sql('DELETE FROM mailbox.entries WHERE space = SPACE AND seq = 12')
    await expect(pack(3)).rejects.toMatchObject({ message: /: entry 12 in the table/ })
    await sql('DELETE FROM mailbox.entries WHERE space = SPACE AND seq >= 9')
    await expect(pack(3)).rejects.toMatchObject({ message: /: entry 9 in the table/ })
  })

  it('of which another machine has taken a part only is moved as a whole or not at all', async () => {
    const { journal, archive, pack, seqs, open } = await filled()
    const other = await open()
    await Promise.all([pack(1), pack(1, other), pack(2, other), pack(2)])
    expect((await archive()).map(({ segment }) => segment)).toEqual([1, 2])
    expect(await seqs()).toEqual([9, 10, 11, 12])
    expect(await journal.verifySource()).toEqual([])
  })
})

describe('a whole line in the place of another', () => {
  const forgeries: [string, (line: string) => string, number][] = [
    ['of another chain', (line) => line.replace(/"prev":"[0-9a-f]{32}"/, `"prev":"${'f'.repeat(32)}"`), 3],
    ['with another number', (line) => line.replace('"seq":3', '"seq":7'), 7],
  ]
  it.each(forgeries)('%s is found out', async (_, forge, seq) => {
    const { journal, sql, pack } = await filled(1)
    const [row] = await sql<{ line: string }>(
      'SELECT line FROM mailbox.entries WHERE space = SPACE AND seq = 3',
    )
    await sql(
      'UPDATE mailbox.entries SET line = $1 WHERE space = SPACE AND seq = 3',
      withOwnSum(forge(row!.line)),
    )
    expect(await journal.verifySource()).toEqual([`entry ${seq} in the database does not follow entry 2`])
    await expect(pack(1)).rejects.toMatchObject({ code: 'damaged', message: /: entry 3 in the table/ })
  })

  it('is found out at the beginning too', async () => {
    const { sql, pack } = await filled(1)
    const [row] = await sql<{ line: string }>(
      'SELECT line FROM mailbox.entries WHERE space = SPACE AND seq = 1',
    )
    await sql(
      'UPDATE mailbox.entries SET line = $1 WHERE space = SPACE AND seq = 1',
      withOwnSum(forgeries[0]![1](row!.line)),
    )
    await expect(pack(1)).rejects.toMatchObject({ code: 'damaged', message: /: entry 1 in the table/ })
  })
})

describe('what is removed from the beginning', () => {
  it('is gone from both places, and every machine knows where the journal begins', async () => {
    const { journal, archive, pack, seqs, open, seqsRead, sql } = await filled(4)
    const [away, empty] = [await open(), await open()]
    await pack(1)
    await pack(2)
    await journal.sourceArchive.removeBefore(2, 5)
    expect([(await archive()).map(({ segment }) => segment), await seqs()]).toEqual([
      [2],
      [9, 10, 11, 12, 13, 14, 15, 16],
    ])
    await away.pull()
    expect(away.sourceArchive.first).toEqual({ segment: 2, seq: 5 })
    expect(await seqsRead(await open())).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
    await journal.sourceArchive.removeBefore(4, 13)
    // An earlier one says nothing new.
    await journal.sourceArchive.removeBefore(3, 9)
    expect(await sql('SELECT first_segment, first_seq FROM mailbox.spaces WHERE space = SPACE')).toEqual([
      { first_segment: 4, first_seq: '13' },
    ])
    expect([await archive(), await seqs()]).toEqual([[], [13, 14, 15, 16]])
    const fresh = await open()
    expect(await seqsRead(fresh)).toEqual([13, 14, 15, 16])
    expect(await fresh.verifySource()).toEqual([])
    // It keeps what it has.
    expect(await seqsRead(empty)).toEqual(upTo(16))
  })

  it('takes a machine along that has seen nothing since', async () => {
    const { journal, pack, open, sql } = await filled(2)
    const dir = journal.store.copy.dir
    await journal.close()
    const other = await open({ segmentEntries: 4 })
    for (let n = 9; n < 20; n++) await other.append(() => [messageDraft({ subject: `${n}` })])
    const [{ last }] = (await sql('SELECT max(seq) AS last FROM mailbox.entries WHERE space = SPACE')) as [
      { last: string },
    ]
    for (const segment of [1, 2, 3]) await pack(segment, other)
    await other.sourceArchive.removeBefore(4, 13)
    const again = await open({ dir })
    const seqs = seqsOf((await readAll(again)).map(({ entry }) => entry))
    expect([seqs[0], seqs.at(-1)]).toEqual([13, Number(last)])
  })
})

describe('a machine that is behind the archive', () => {
  it('gets the segments that it has not from there, and the rest from the table', async () => {
    const { pack, open, seqsRead, journal } = await filled(4)
    const dir = (await open()).store.copy.dir
    await pack(1)
    const half = await open()
    await half.close()
    for (const segment of [2, 3]) await pack(segment)
    expect(await seqsRead(await open({ dir: half.store.copy.dir }))).toEqual(upTo(16))
    expect(await seqsRead(await open())).toEqual(upTo(16))
    expect(await seqsRead(await open({ dir: `${dir}-new` }))).toEqual(upTo(16))
    // One whose lines end in the middle of what is archived now.
    const late = await filled(1)
    const behind = await late.open()
    await behind.close()
    for (let n = 5; n < 13; n++) await late.journal.append(() => [messageDraft({ subject: `${n}` })])
    await late.pack(1)
    await late.pack(2)
    expect((await late.seqsRead(await late.open({ dir: behind.store.copy.dir }))).slice(0, 12)).toEqual(
      upTo(12),
    )
    expect(await subjectsIn(journal)).toHaveLength(12)
  })

  it('is told of an archive that is damaged, or has a hole', async () => {
    const { pack, open, sql, journal, url } = await filled(4)
    for (const segment of [1, 2, 3]) await pack(segment)
    const good = (
      await sql<{ content: Buffer }>(
        'SELECT content FROM mailbox.archive WHERE space = SPACE AND segment = 2',
      )
    )[0]!
    const put = (content: Buffer) =>
      sql('UPDATE mailbox.archive SET content = $1 WHERE space = SPACE AND segment = 2', content)
    const text = gunzipSync(good.content).toString('utf8')
    const broken = [
      Buffer.from('not gzip'),
      gzipSync(text.replace('"subject":"6"', '"subject":"9"')),
      gzipSync(`${text.split('\n').slice(0, 3).join('\n')}\n`),
      gzipSync(text.replace('\n', '\n\n')),
    ]
    for (const content of broken) {
      await put(content)
      await expect(open()).rejects.toMatchObject({
        code: 'damaged',
        message: `${shown(url)}: segment 2 in the table mailbox.archive cannot be unpacked, or is not as it was written`,
      })
      expect(await journal.verifySource()).toEqual(['segment 2 in the archive of the database is damaged'])
    }
    await put(good.content)
    await open()
    await sql('DELETE FROM mailbox.archive WHERE space = SPACE AND segment = 2')
    await expect(open()).rejects.toMatchObject({
      message: /: entry 5 in the table mailbox.entries is missing/,
    })
    await sql('DELETE FROM mailbox.archive WHERE space = SPACE AND segment = 1')
    await expect(open()).rejects.toMatchObject({
      message: /: entry 1 in the table mailbox.entries is missing/,
    })
  })
})

describe('lines in a database that are read again', () => {
  it('are sound when each follows the one before and the end is where it is said to be', async () => {
    const { journal, pack } = await filled()
    expect(await journal.verifySource()).toEqual([])
    await pack(1)
    await pack(2)
    expect(await journal.verifySource()).toEqual([])
    await journal.sourceArchive.removeBefore(2, 5)
    expect(await journal.verifySource()).toEqual([])
    await journal.sourceArchive.removeBefore(3, 9)
    expect(await journal.verifySource()).toEqual([])
  })

  it.each<[string, string, string]>([
    [
      'a line changed',
      "UPDATE mailbox.entries SET line = replace(line, 'hello', 'HELLO') WHERE space = SPACE AND seq = 2",
      'entry 2 in the database is not as it was written',
    ],
    [
      'its last bytes changed',
      "UPDATE mailbox.entries SET line = left(line, -1) || ']' WHERE space = SPACE AND seq = 2",
      'entry 2 in the database is not as it was written',
    ],
    [
      'a line missing',
      'DELETE FROM mailbox.entries WHERE space = SPACE AND seq = 3',
      'entry 4 in the database does not follow entry 2',
    ],
    [
      'its beginning missing',
      'DELETE FROM mailbox.entries WHERE space = SPACE AND seq = 1',
      'entry 2 in the database does not follow entry 0',
    ],
    [
      'its end missing',
      'DELETE FROM mailbox.entries WHERE space = SPACE AND seq = 4',
      'the database says that the journal ends with entry 4, and entry 3 is the last one there',
    ],
    [
      'nothing left of it',
      'DELETE FROM mailbox.entries WHERE space = SPACE',
      'the database says that the journal ends with entry 4, and entry 0 is the last one there',
    ],
    [
      'another end than it says',
      "UPDATE mailbox.spaces SET sum = 'x' WHERE space = SPACE",
      'the database says that the journal ends with entry 4, and entry 4 is the last one there',
    ],
    [
      'a line twice',
      'INSERT INTO mailbox.entries SELECT space, 5, line FROM mailbox.entries WHERE space = SPACE AND seq = 4; UPDATE mailbox.spaces SET seq = 5 WHERE space = SPACE',
      'entry 4 in the database does not follow entry 4',
    ],
  ])('have %s', async (_, text, problem) => {
    const { journal, sql } = await filled(1)
    await journal.append(() => [messageDraft({ subject: 'hello' })])
    // The segment is full, so that was a header and a message.
    await sql('DELETE FROM mailbox.entries WHERE space = SPACE AND seq > 4')
    await sql(
      'UPDATE mailbox.spaces SET seq = 4, sum = (SELECT substr(line, length(line) - 33, 32) FROM mailbox.entries WHERE space = SPACE AND seq = 4) WHERE space = SPACE',
    )
    expect(await journal.verifySource()).toEqual([])
    await sql('UPDATE mailbox.entries SET line = line WHERE space = SPACE AND seq = 2')
    for (const part of text.replace("'hello'", `'"2"'`).replace("'HELLO'", `'"3"'`).split('; '))
      await sql(part)
    expect(await journal.verifySource()).toEqual([problem])
  })
})
