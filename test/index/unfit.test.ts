import {
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { attachDatabase } from '../../src/base/sqlite.ts'
import { PageSums } from '../../src/index/page-sums.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { rowsOf } from '../helpers/rows.ts'
import { linesIn, segmentFile } from '../helpers/segments.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

const indexOf = (dir: string) => join(dir, 'index.db')

const subjectsOf = async (space: DiskSpace): Promise<string[]> => {
  const bob = await space.mailbox('bob')
  return (await bob.inbox()).messages.map(({ subject }) => subject)
}

async function send(space: DiskSpace, ...subjects: string[]): Promise<void> {
  const ada = await space.mailbox('ada')
  await space.mailbox('bob')
  for (const subject of subjects) await ada.send({ to: 'bob', subject })
}

/** A closed space with mail `1`, `2` and `3` for bob, all of it in the index. */
async function closedSpace(): Promise<string> {
  const space = await tempSpace()
  await send(space, '1', '2', '3')
  await subjectsOf(space)
  await space.close()
  return space.dir
}

/** Changes rows as a writer would: with the checksums of the pages, so that nothing but the rows is wrong. */
function change(dir: string, sql: string): void {
  const database = attachDatabase(indexOf(dir), 1_000)
  database.exec(sql)
  const sums = new PageSums(indexOf(dir), database)
  sums.create()
  sums.close()
  database.close()
}

describe('an index that does not fit its journal is built anew', () => {
  it.each([
    ['when the machine has been started since: it was never synced', "boot = 'another'"],
    ['when an older version made it', 'format = 0'],
    ['when another journal is its source', "space = 'another'"],
    ['when it has read a line that is not there', "sum = 'ffffffffffffffffffffffffffffffff'"],
    ['when it is ahead of the journal', 'offset = 1000000, seq = 1000'],
    ['when it is in a segment that does not exist', 'segment = 7, seq = 1000'],
    ['when its place is no number', "offset = 'x'"],
  ])('%s', async (_, meta) => {
    const dir = await closedSpace()
    const before = rowsOf(dir)
    change(dir, `UPDATE meta SET ${meta}; DELETE FROM receipt WHERE owner = 'bob'`)
    const space = await tempSpace({ dir })
    expect(await subjectsOf(space)).toEqual(['1', '2', '3'])
    expect(rowsOf(dir)).toEqual(before)
  })

  it('when a power loss took the last line from the journal', async () => {
    const dir = await closedSpace()
    const last = Buffer.byteLength(linesIn(dir).at(-1)!) + 1
    truncateSync(segmentFile(dir), statSync(segmentFile(dir)).size - last)
    const space = await tempSpace({ dir })
    expect(await subjectsOf(space)).toEqual(['1', '2'])
    expect((await space.verify({ deep: true })).problems).toEqual([
      expect.stringContaining('the end of the journal is missing'),
    ])
  })

  it('when another line of the same length has taken the place of the last', async () => {
    const dir = await closedSpace()
    const last = Buffer.byteLength(linesIn(dir).at(-1)!) + 1
    copyFileSync(indexOf(dir), join(dir, 'ahead'))
    truncateSync(segmentFile(dir), statSync(segmentFile(dir)).size - last)
    const writer = await tempSpace({ dir })
    await send(writer, '4')
    await writer.close()
    renameSync(join(dir, 'ahead'), indexOf(dir))
    const space = await tempSpace({ dir })
    expect(await subjectsOf(space)).toEqual(['1', '2', '4'])
  })
})

type Damage = (path: string, old: Buffer, foreign: Buffer) => void

/** A new file takes the place of the old one. */
const replace = (path: string, bytes: Buffer) => {
  writeFileSync(`${path}.new`, bytes)
  renameSync(`${path}.new`, path)
}
const noise = (length: number) =>
  Buffer.from(Array.from({ length }, (_, at) => (at * 197 + (at >> 3)) & 0xff))

const damages: [string, Damage][] = [
  ['deleted', (path) => rmSync(path)],
  ['cut to nothing', (path) => truncateSync(path, 0)],
  ['cut to half', (path) => truncateSync(path, statSync(path).size >> 1)],
  ['cut in the middle of a page', (path) => truncateSync(path, 5_000)],
  ['overwritten with garbage', (path) => writeFileSync(path, noise(statSync(path).size))],
  ['overwritten with zeros', (path) => writeFileSync(path, Buffer.alloc(statSync(path).size))],
  [
    'overwritten behind its first page',
    (path) =>
      writeFileSync(
        path,
        Buffer.concat([readFileSync(path).subarray(0, 4_096), noise(statSync(path).size - 4_096)]),
      ),
  ],
  ['replaced by random bytes', (path) => replace(path, noise(50_000))],
  ["replaced by another space's", (path, _, foreign) => replace(path, foreign)],
  ['replaced by an old copy', (path, old) => replace(path, old)],
  ["overwritten with another space's", (path, _, foreign) => writeFileSync(path, foreign)],
  ['overwritten with an old copy', (path, old) => writeFileSync(path, old)],
]

describe('an index that is damaged under an open space', () => {
  /** An open space with two messages, an index from the time of the first, and the index of another space. */
  async function setUp() {
    const space = await tempSpace()
    await send(space, '1')
    await subjectsOf(space)
    const old = readFileSync(indexOf(space.dir))
    await send(space, '2')
    await subjectsOf(space)
    const other = await tempSpace()
    await send(other, 'x', 'y', 'z')
    await subjectsOf(other)
    return { space, old, foreign: readFileSync(indexOf(other.dir)) }
  }

  it.each(damages)('%s: the next question is answered from the journal', async (_, damage) => {
    const { space, old, foreign } = await setUp()
    damage(indexOf(space.dir), old, foreign)
    expect(await subjectsOf(space)).toEqual(['1', '2'])
    await send(space, '3')
    expect(await subjectsOf(space)).toEqual(['1', '2', '3'])
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it.each(damages)('%s: mail is sent as before', async (_, damage) => {
    const { space, old, foreign } = await setUp()
    const ada = await space.mailbox('ada')
    damage(indexOf(space.dir), old, foreign)
    await ada.send({ to: 'bob', subject: '3' })
    await ada.send({ to: 'bob', subject: '4', key: 'once' })
    await ada.send({ to: 'bob', subject: 'again', key: 'once' })
    expect(await subjectsOf(space)).toEqual(['1', '2', '3', '4'])
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it.each(damages)('%s: what was claimed stays claimed', async (_, damage) => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    const bob = await space.mailbox('bob', { join: { roles: ['tester'] } })
    const cyd = await space.mailbox('cyd', { join: { roles: ['tester'] } })
    const { id } = await ada.send({ to: 'role:tester', subject: 'work' })
    await bob.inbox()
    const old = readFileSync(indexOf(space.dir))
    await bob.claim(id)
    const other = await tempSpace()
    await send(other, 'x')
    await subjectsOf(other)
    damage(indexOf(space.dir), old, readFileSync(indexOf(other.dir)))
    await expect(cyd.claim(id)).rejects.toMatchObject({ code: 'conflict' })
    expect(await cyd.claimNext('tester')).toBeNull()
  })

  it.each(damages)('%s: a space that opens meanwhile finds everything', async (_, damage) => {
    const { space, old, foreign } = await setUp()
    damage(indexOf(space.dir), old, foreign)
    const second = await tempSpace({ dir: space.dir })
    expect(await subjectsOf(second)).toEqual(['1', '2'])
    expect(await subjectsOf(space)).toEqual(['1', '2'])
  })

  it.each(damages)('%s: so is the index of words, and searching finds what is there', async (_, damage) => {
    const space = await tempSpace()
    const other = await tempSpace()
    for (const [where, word] of [
      [space, 'apple'],
      [other, 'pear'],
    ] as const) {
      const ada = await where.mailbox('ada')
      await ada.send({ to: 'ada', body: word })
      await ada.search(word)
    }
    const path = join(space.dir, 'index-search.db')
    const old = readFileSync(path)
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', body: 'apple pie' })
    await ada.search('pie')
    damage(path, old, readFileSync(join(other.dir, 'index-search.db')))
    expect((await ada.search('apple')).messages).toHaveLength(2)
    expect((await ada.search('pie')).messages).toHaveLength(1)
    expect((await ada.search('pear')).messages).toHaveLength(0)
  })
})

describe('a file that is no database', () => {
  it.each([
    ['empty', Buffer.alloc(0)],
    ['text', Buffer.from('hello')],
    ['noise', noise(100_000)],
    ['a header and nothing else', Buffer.from('SQLite format 3\0')],
  ])('%s where the index should be is replaced when a space is opened', async (_, bytes) => {
    const dir = tempDir()
    const first = await tempSpace({ dir })
    await send(first, '1')
    await first.close()
    rmSync(indexOf(dir))
    writeFileSync(indexOf(dir), bytes)
    const space = await tempSpace({ dir })
    expect(await subjectsOf(space)).toEqual(['1'])
  })
})
