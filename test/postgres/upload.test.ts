import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAddress } from '../../src/journal/postgres/address.ts'
import { ServerClock } from '../../src/journal/postgres/clock.ts'
import { Server } from '../../src/journal/postgres/server.ts'
import { Upload } from '../../src/journal/postgres/upload.ts'
import { messageDraft, readAll, seqsOf, upTo } from '../helpers/drafts.ts'
import { chain, header, type MadeLine, madeSpace, numbered, usualLines } from '../helpers/hand-made.ts'
import { ownSpace } from './place.ts'

const lines = usualLines(3)
const none = new Map<string, string>()

/** The way of a journal into a database, line by line. */
async function upload(id = madeSpace) {
  const place = await ownSpace()
  const server = new Server(parseAddress(place.url), new ServerClock())
  onTestFinished(() => server.close())
  await server.find({ creates: false })
  const begin = (as = id) => Upload.begin(server, place.link, as)
  /** Everything in one transaction, as a move does. */
  const send = async (given: readonly MadeLine[], { segment = 1, files = none, as = id } = {}) => {
    try {
      const one = await begin(as)
      for (const line of given) await one.add(line)
      await one.finish(given.at(-1)!, segment, files)
    } catch (error) {
      await place.link.query('ROLLBACK')
      throw error
    }
  }
  const stored = async () =>
    (
      await place.sql<{ seq: string; line: string }>(
        'SELECT seq, line FROM mailbox.entries WHERE space = SPACE ORDER BY seq',
      )
    ).map(({ seq, line }) => [Number(seq), line])
  const row = async () =>
    (
      await place.sql(
        'SELECT id, seq, sum, moved_to, first_seq, first_segment FROM mailbox.spaces WHERE space = SPACE',
      )
    )[0]
  return { ...place, begin, send, stored, row }
}

const asStored = (given: readonly MadeLine[]) => given.map(({ seq, text }) => [seq, text])

describe('a journal that is brought into a database', () => {
  it('is there as it was, with its files', async () => {
    const { send, stored, row, open, sql } = await upload()
    await send(lines, { files: new Map([['config.json', '{}']]) })
    expect(await stored()).toEqual(asStored(lines))
    expect(await row()).toEqual({
      ...{ id: madeSpace, seq: '12', sum: lines[11]!.sum, moved_to: null, first_seq: '1', first_segment: 1 },
    })
    expect(await sql('SELECT name, content, version FROM mailbox.files WHERE space = SPACE')).toEqual([
      { name: 'config.json', content: '{}', version: '1' },
    ])
    const journal = await open()
    expect(journal.space).toBe(madeSpace)
    expect(seqsOf((await readAll(journal)).map(({ entry }) => entry))).toEqual(upTo(12))
    expect(await journal.verifySource()).toEqual([])
  })

  it('is not there at all until it is finished', async () => {
    const { begin, link, open, sql } = await upload()
    const one = await begin()
    for (const line of lines) await one.add(line)
    await link.query('ROLLBACK')
    await expect(open({ creates: false })).rejects.toMatchObject({ code: 'not_found' })
    expect(await sql('SELECT FROM mailbox.spaces WHERE space = SPACE')).toEqual([])
  })

  it('of any length is sent in portions', async () => {
    const { send, stored } = await upload()
    const long = chain([
      header('created'),
      ...upTo(5).map(() => messageDraft({ body: 'x'.repeat(900_000) })),
      numbered(7),
    ])
    await send(long)
    expect(await stored()).toEqual(asStored(long))
  })

  it('that was begun before is continued', async () => {
    const { send, stored, row, sql } = await upload()
    await send(lines.slice(0, 5))
    const files = async () =>
      (await sql<{ files: string }>('SELECT files FROM mailbox.spaces WHERE space = SPACE'))[0]!.files
    const before = await files()
    await sql("UPDATE mailbox.spaces SET moved_to = 'elsewhere' WHERE space = SPACE")
    await send(lines, { files: new Map([['config.json', '1']]) })
    expect(await stored()).toEqual(asStored(lines))
    expect(await row()).toMatchObject({ seq: '12', moved_to: null })
    expect(await files()).not.toBe(before)
    await send(lines, { files: new Map([['config.json', '2']]) })
    expect(await stored()).toEqual(asStored(lines))
    expect(await sql('SELECT content, version FROM mailbox.files WHERE space = SPACE')).toEqual([
      { content: '2', version: '2' },
    ])
  })

  it('may begin with a later entry: the older ones were removed', async () => {
    const { send, stored, row, open } = await upload()
    await send(lines.slice(4), { segment: 2 })
    expect(await stored()).toEqual(asStored(lines.slice(4)))
    expect(await row()).toMatchObject({ first_seq: '5', first_segment: 2 })
    const journal = await open()
    expect(seqsOf((await readAll(journal)).map(({ entry }) => entry))).toEqual(upTo(12).slice(4))
    expect(journal.store.copy.end().segment).toBe(3)
    // What was removed here since is removed there.
    const other = await upload()
    await other.send(lines.slice(0, 8))
    await other.send(lines.slice(4), { segment: 2 })
    expect(await other.stored()).toEqual(asStored(lines.slice(4)))
  })
})

describe('a journal is not brought into', () => {
  it('the place of another space', async () => {
    const { send, stored, url } = await upload()
    await send(lines.slice(0, 5))
    await expect(send(lines, { as: 'another' })).rejects.toMatchObject({
      code: 'conflict',
      message: `there is another space at ${parseAddress(url).shown}`,
    })
    expect(await stored()).toEqual(asStored(lines.slice(0, 5)))
  })

  it('its own place, if it went on there in another way', async () => {
    const { send, stored } = await upload()
    const forked = (seq: number) => ({
      code: 'conflict',
      message: new RegExp(`has this space already, and it went on there: entry ${seq} is another one$`),
    })
    await send(lines.slice(0, 8))
    const other = [...lines.slice(0, 6), ...chain([numbered(7), numbered(8), numbered(9)], lines[5])]
    await expect(send(other)).rejects.toMatchObject(forked(8))
    // It is shorter here.
    await expect(send(lines.slice(0, 6))).rejects.toMatchObject(forked(8))
    // Something is missing in between.
    await expect(send([...lines.slice(0, 9), lines[10]!])).rejects.toMatchObject(forked(11))
    await expect(send(lines.slice(9))).rejects.toMatchObject(forked(10))
    expect(await stored()).toEqual(asStored(lines.slice(0, 8)))
    await send(lines)
  })

  it('a place without its end', async () => {
    const { begin, link } = await upload()
    const finish = async (end: { seq: number; sum: string }) => {
      const one = await begin()
      for (const line of lines.slice(0, 4)) await one.add(line)
      await one.finish(end, 1, none)
    }
    for (const end of [lines[4]!, { seq: 4, sum: 'x' }]) {
      await expect(finish(end)).rejects.toMatchObject({ code: 'conflict', message: /entry 4 is another one/ })
      await link.query('ROLLBACK')
    }
  })
})
