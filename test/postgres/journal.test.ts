import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Journal, startCursor } from '../../src/journal/journal.ts'
import { parseAddress } from '../../src/journal/postgres/address.ts'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import {
  appendMessage,
  messageDraft,
  readAll,
  subjectOf,
  subjectsIn,
  typeOf,
  upTo,
} from '../helpers/drafts.ts'
import { failCall } from '../helpers/fs-faults.ts'
import { sharedServer } from '../helpers/postgres.ts'
import { tempDir, tempPostgres } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'
import { ownSpace } from './place.ts'

const subject = (text: string, type = text) => messageDraft({ subject: text, type })
const dirOf = (journal: { store: { copy: { dir: string } } }) => journal.store.copy.dir
const segmentOf = (dir: string, segment = 1) =>
  join(dir, 'journal', `${String(segment).padStart(8, '0')}.jsonl`)
const kindsIn = async (journal: Journal) =>
  (await readAll(journal)).map(({ entry }) => (entry.kind === 'segment' ? entry.reason : entry.kind))

/** A space behind a way that can be cut. */
async function behindProxy(query = '&timeout=1&connect_timeout=1') {
  const place = await ownSpace()
  const { port } = await sharedServer()
  const proxy = await BreakingProxy.to(port)
  const url = `${place.url.replace(`:${port}/`, `:${proxy.port}/`)}${query}`
  return { ...place, proxy, near: (options = {}) => tempPostgres({ ...options, url }) }
}

describe('what another machine has written', () => {
  it('is seen by a decision, which is taken again, and what was decided first is stored nowhere', async () => {
    const { open } = await ownSpace()
    const [here, there] = [await open(), await open()]
    await there.append(() => [subject('theirs')])
    const tails: (string | undefined)[][] = []
    const placed = await here.append((tail) => {
      tails.push(tail.map(typeOf))
      return [subject(`ours ${tails.length}`)]
    })
    expect(tails.length).toBe(2)
    expect(tails[1]).toContain('theirs')
    expect(placed.map(({ entry }) => subjectOf(entry))).toEqual(['ours 2'])
    expect(here.at(placed[0]!.place)).toEqual(placed[0]!.entry)
    expect(await subjectsIn(there)).toEqual(['theirs', 'ours 2'])
    // Nothing that counted was lost.
    expect(here.epoch).toBe(0)
  })

  it('is waited for in line after that, and with nobody else there no longer', async () => {
    const { open, link } = await ownSpace()
    const [here, there] = [await open(), await open()]
    const turns: boolean[] = []
    const hold = here.store.hold.bind(here.store)
    here.store.hold = async () => {
      const found = await hold()
      turns.push(found.hasNews)
      return found
    }
    await there.append(() => [subject('theirs')])
    await here.append(() => [subject('1')])
    expect(turns.length).toBe(1)
    await there.append(() => [subject('theirs too')])
    for (let n = 2; n < 9; n++) await here.append(() => [subject(`${n}`)])
    // The first of them found news, and four more found none.
    expect(turns).toEqual([false, true, false, false, false, false])
    expect((await subjectsIn(there)).join()).toBe('theirs,1,theirs too,2,3,4,5,6,7,8')
    await link.query('SELECT 1')
  })

  it('makes what decisions have told each other untrue, and that is told', async () => {
    const { open } = await ownSpace()
    const [here, there] = [await open(), await open()]
    await there.append(() => [subject('theirs')])
    await Promise.all([here.append(() => [subject('one')]), here.append(() => [subject('two')])])
    expect(here.epoch).toBe(1)
    expect(await subjectsIn(here)).toEqual(['theirs', 'one', 'two'])
  })

  it('is read before it is found that there is nothing to do', async () => {
    const { open } = await ownSpace()
    const [here, there] = [await open(), await open()]
    await there.append(() => [subject('theirs')])
    const tails: (string | undefined)[][] = []
    const look = (tail: readonly Parameters<typeof typeOf>[0][]) => {
      tails.push(tail.map(typeOf))
      return []
    }
    expect(await here.append(look)).toEqual([])
    expect(tails).toHaveLength(2)
    expect(tails[1]).toContain('theirs')
    await expect(
      there.append(() => {
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    // A turn that finds nothing to do writes nothing.
    await there.append(() => [subject('more')])
    expect(await here.append(look)).toEqual([])
    expect(await subjectsIn(here)).toEqual(['theirs', 'more'])
  })
})

describe('a batch', () => {
  it('is one write, in which a decision that needs what is before it begins another', async () => {
    const { open } = await ownSpace()
    const journal = await open()
    const calls: string[][] = []
    const append = journal.store.append.bind(journal.store)
    journal.store.append = (after, lines, sum) => {
      calls.push(lines.map((line) => (JSON.parse(line) as { message: { subject: string } }).message.subject))
      return append(after, lines, sum)
    }
    await Promise.all([
      journal.append(() => [subject('a')]),
      journal.append(() => [subject('b')], { settled: true }),
      journal.append(() => [subject('c')]),
      journal.append(() => []),
      journal.append(() => [subject('d')], { settled: true }),
    ])
    expect(calls).toEqual([['a'], ['b', 'c'], ['d']])
  })

  it('has drafts that are made when those before them have their numbers', async () => {
    const { open } = await ownSpace()
    const journal = await open()
    const placed = await journal.append(() => [
      subject('one'),
      (before) => subject(`after ${before.map(({ seq }) => seq).join()}`),
    ])
    expect(placed.map(({ entry }) => subjectOf(entry))).toEqual(['one', 'after 2'])
  })

  it('that cannot be stored is refused as a whole, and told', async () => {
    const { open, sql } = await ownSpace()
    const journal = await open()
    await journal.append(() => [subject('one')])
    const [{ space }] = (await sql('SELECT space FROM mailbox.spaces WHERE space = SPACE')) as [
      { space: string },
    ]
    await sql(
      `ALTER TABLE mailbox.entries ADD CONSTRAINT c${space} CHECK (space <> ${space} OR line NOT LIKE '%forbidden%')`,
    )
    try {
      const both = [journal.append(() => [subject('two')]), journal.append(() => [subject('forbidden')])]
      const results = await Promise.allSettled(both)
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      expect(results[0]).toMatchObject({ reason: { code: 'damaged' } })
      expect(journal.epoch).toBe(1)
      // It is free to seek again.
      expect(journal.seek(startCursor)).toBe(true)
      await journal.append(() => [subject('three')])
    } finally {
      await sql(`ALTER TABLE mailbox.entries DROP CONSTRAINT c${space}`)
    }
    expect(await subjectsIn(journal)).toEqual(['one', 'three'])
  })

  it('keeps its reader where it is while it is written', async () => {
    const { open } = await ownSpace()
    const journal = await open()
    const call = journal.append(() => [subject('one')])
    expect(journal.seek(startCursor)).toBe(false)
    await call
    expect(journal.seek(startCursor)).toBe(true)
  })

  it('tells whoever waits for it, and nobody of what was not written', async () => {
    const { open } = await ownSpace()
    let written = 0
    const journal = await open({ onWritten: () => written++ })
    await journal.append(() => [])
    expect(written).toBe(0)
    await journal.append(() => [subject('one')])
    expect(written).toBe(1)
  })
})

describe('a segment', () => {
  it('begins when the one before is full, for all machines', async () => {
    const { open } = await ownSpace()
    const [here, there] = [await open({ segmentEntries: 3 }), await open({ segmentEntries: 3 })]
    for (const n of upTo(7)) await (n % 2 === 0 ? here : there).append(() => [subject(`${n}`)])
    const expected = [
      'created',
      'message',
      'message',
      'count',
      'message',
      'message',
      'count',
      'message',
      'message',
      'count',
      'message',
    ]
    expect(await kindsIn(here)).toEqual(expected)
    expect(await kindsIn(there)).toEqual(expected)
    for (const segment of [1, 2, 3, 4])
      expect(
        readFileSync(segmentOf(dirOf(here), segment)).equals(readFileSync(segmentOf(dirOf(there), segment))),
      ).toBe(true)
  })

  it('begins when a call asks for it, once for the call, and by other rules when they change', async () => {
    const { open } = await ownSpace()
    const journal = await open()
    await journal.append(() => [subject('1'), subject('2')], { begin: 'upgraded' })
    await journal.append(() => [subject('3')])
    expect(await kindsIn(journal)).toEqual(['created', 'upgraded', 'message', 'message', 'message'])
    await journal.append(() => [], { begin: 'upgraded' })
    journal.rotateBy({ segmentBytes: 100, segmentEntries: 0, rotate: 'size' })
    await Promise.all(upTo(3).map((n) => journal.append(() => [subject(`${n}`)])))
    expect((await kindsIn(journal)).slice(5)).toEqual(['size', 'message', 'message', 'message'])
    expect(await journal.verifySource()).toEqual([])
  })

  it('is the last one or not', async () => {
    const { open } = await ownSpace()
    const journal = await open({ segmentEntries: 2 })
    expect(journal.inLast(startCursor)).toBe(true)
    for (const n of upTo(3)) await journal.append(() => [subject(`${n}`)])
    expect([1, 2, 3].map((segment) => journal.inLast({ ...startCursor, segment }))).toEqual([
      false,
      false,
      true,
    ])
  })
})

describe('time', () => {
  it('does not go back from one entry to the next, whatever the clocks of machines say', async () => {
    const { open } = await ownSpace()
    const at = Date.parse('2031-01-01T00:00:00Z')
    const [here, there] = [
      await open({ now: Object.assign(() => at, { doubt: () => undefined }) }),
      await open({ now: Object.assign(() => at - 5_000, { doubt: () => undefined }) }),
    ]
    await here.append(() => [subject('one')])
    const [late] = await there.append(() => [subject('two')])
    expect(late!.entry.at).toBe('2031-01-01T00:00:00.000Z')
    const [again] = await there.append(() => [subject('three')])
    expect(again!.entry.at).toBe('2031-01-01T00:00:00.000Z')
  })

  it('is that of the database unless it is given', async () => {
    const { open, sql } = await ownSpace()
    const journal = await open()
    const [{ clock }] = (await sql('SELECT mailbox.clock() AS clock')) as [{ clock: number }]
    expect(Math.abs(journal.now() - clock)).toBeLessThan(2_000)
    expect(journal.now.doubt?.()).toBeUndefined()
  })
})

describe('a copy', () => {
  it('that the disk refuses takes nothing from what is stored', async () => {
    const { open } = await ownSpace()
    const journal = await open()
    failCall('writeSync', 'ENOSPC')
    const [placed] = await journal.append(() => [subject('one')])
    expect(await subjectsIn(journal)).toEqual(['one'])
    expect(journal.at(placed!.place)).toEqual(placed!.entry)
    expect(await subjectsIn(await open())).toEqual(['one'])
  })

  it('that is damaged gives an error, and is fetched again', async () => {
    const { open } = await ownSpace()
    const journal = await open()
    const [{ entry, place }] = (await journal.append(() => [subject('one'), subject('two')])) as [
      Awaited<ReturnType<Journal['append']>>[0],
    ]
    const damage = () => {
      const file = segmentOf(dirOf(journal))
      writeFileSync(file, readFileSync(file, 'utf8').replace('"one"', '"ONE"'))
    }
    const damaged = { code: 'damaged', hint: /fetched again/ }
    damage()
    expect(() => journal.read(startCursor)).toThrow(
      expect.objectContaining({ code: 'damaged', message: expect.stringContaining('was damaged') }),
    )
    expect(journal.epoch).toBeGreaterThan(0)
    expect(await subjectsIn(journal)).toEqual(['one', 'two'])
    damage()
    expect(() => journal.at(place)).toThrow(expect.objectContaining({ code: 'damaged' }))
    await journal.pull()
    expect(journal.at(place)).toEqual(entry)
    // A decision that would be taken on it.
    damage()
    journal.seek(startCursor)
    const { epoch } = journal
    await expect(journal.append(() => [subject('three')])).rejects.toMatchObject(damaged)
    expect(journal.epoch).toBeGreaterThan(epoch)
    await journal.append(() => [subject('four')])
    expect(await subjectsIn(journal)).toEqual(['one', 'two', 'four'])
  })

  it('has nothing at a place that is not there, which is no damage', async () => {
    const { open } = await ownSpace()
    const journal = await open({ segmentEntries: 2 })
    const [placed] = await journal.append(() => [subject('one')])
    const { place } = placed!
    expect(journal.at({ ...place, offset: place.offset + place.bytes + 1 })).toBeUndefined()
    expect(journal.at({ ...place, segment: 2 })).toBeUndefined()
    expect(journal.at({ ...place, segment: 9, offset: 0 })).toBeUndefined()
    expect(journal.damageAt(place)).toBeUndefined()
    expect(await subjectsIn(journal)).toEqual(['one'])
  })

  it('that somebody removes is fetched before anything is decided on it', async () => {
    const { open } = await ownSpace()
    const journal = await open()
    await journal.append(() => [subject('one')])
    rmSync(join(dirOf(journal), 'journal'), { recursive: true })
    await journal.append(() => [subject('two')])
    expect(await subjectsIn(journal)).toEqual(['one', 'two'])
    rmSync(join(dirOf(journal), 'journal'), { recursive: true })
    expect(await journal.append(() => [])).toEqual([])
    expect(await subjectsIn(journal)).toEqual(['one', 'two'])
    expect(journal.epoch).toBeGreaterThan(0)
  })

  it('is used by all processes of a machine', async () => {
    const { open } = await ownSpace()
    const dir = tempDir()
    const [first, second] = [await open({ dir }), await open({ dir })]
    await first.append(() => [subject('one')])
    // Nothing was asked of the database.
    expect(second.read(startCursor).entries.map(({ entry }) => subjectOf(entry))).toContain('one')
    await second.append(() => [subject('two')])
    await first.append(() => [subject('three')])
    expect(await subjectsIn(second)).toEqual(['one', 'two', 'three'])
    expect(first.withLock(() => 7)).toBe(7)
    expect([first.isElsewhere, first.contendedAt, first.mustBeInPlace()]).toEqual([
      true,
      Number.NEGATIVE_INFINITY,
      undefined,
    ])
  })
})

describe('a database that is not what it was', () => {
  it('is refused: another space, an older state, another journal, one that was moved away', async () => {
    const { open, sql } = await ownSpace()
    const journal = await open()
    await journal.append(() => [subject('one')])
    await journal.append(() => [subject('two')])
    const set = (text: string) => sql(`UPDATE mailbox.spaces SET ${text} WHERE space = SPACE`)
    const { sum } = journal.store.copy.end()
    const cases: [string, string, object][] = [
      ["id = 'other'", `id = '${journal.space}'`, { code: 'conflict', message: /is another space now/ }],
      [
        'seq = 2',
        'seq = 3',
        { code: 'conflict', message: /the database ends with entry 2, and this machine has seen 3/ },
      ],
      [
        "sum = 'x'",
        `sum = '${sum}'`,
        { code: 'conflict', message: /entry 3 is another one in the database/ },
      ],
      [
        "moved_to = '/there on host'",
        'moved_to = NULL',
        { code: 'not_found', message: /was moved to \/there on host/ },
      ],
    ]
    for (const [broken, whole, error] of cases) {
      await set(broken)
      await expect(readAll(journal)).rejects.toMatchObject(error)
      await expect(journal.append(() => [])).rejects.toMatchObject(error)
      if (!broken.startsWith('id'))
        await expect(journal.append(() => [subject('no')])).rejects.toMatchObject(error)
      await set(whole)
      expect(journal.cutOff).toBeUndefined()
    }
    await journal.append(() => [subject('three')])
    expect(await subjectsIn(journal)).toEqual(['one', 'two', 'three'])
    await sql('DELETE FROM mailbox.spaces WHERE space = SPACE')
    for (const call of [
      () => journal.pull(),
      () => journal.append(() => [subject('no')]),
      () => journal.store.hold(),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'not_found', message: /there is no space at/ })
  })

  it('is told from one whose lines are missing or changed', async () => {
    const { open, sql } = await ownSpace()
    const journal = await open()
    const dir = dirOf(await open())
    for (const n of upTo(3)) await journal.append(() => [subject(`${n}`)])
    const broken = async (seq: number, options = {}) =>
      expect(open(options)).rejects.toMatchObject({
        code: 'damaged',
        message: new RegExp(`: entry ${seq} in the table`),
      })
    await sql('DELETE FROM mailbox.entries WHERE space = SPACE AND seq = 3')
    await broken(3)
    await broken(3, { dir })
    await sql('DELETE FROM mailbox.entries WHERE space = SPACE AND seq = 4')
    await broken(3)
    await sql('DELETE FROM mailbox.entries WHERE space = SPACE')
    await broken(1)
    // What this machine has is not touched.
    expect(journal.read(startCursor).entries).toHaveLength(4)
  })

  it('with a line after the end of this machine that does not follow it is another journal', async () => {
    const { open, sql } = await ownSpace()
    const journal = await open()
    const away = await open()
    for (const n of upTo(2)) await journal.append(() => [subject(`${n}`)])
    await away.pull()
    await journal.append(() => [subject('3')])
    await sql(
      `UPDATE mailbox.entries SET line = regexp_replace(line, '"prev":"[0-9a-f]{32}"', '"prev":"${'f'.repeat(32)}"') WHERE space = SPACE AND seq = 4`,
    )
    await expect(away.pull()).rejects.toMatchObject({ code: 'damaged', message: /: entry 4 in the table/ })
    expect(await away.append(() => []).catch(({ code }) => code)).toBe('damaged')
  })
})

describe('a space that is opened', () => {
  it('is found by its name in the database', async () => {
    const { open, url } = await ownSpace()
    await expect(open({ creates: false })).rejects.toMatchObject({
      code: 'not_found',
      message: /there is no space at/,
    })
    const journal = await open()
    expect(journal.address).toBe(parseAddress(url).shown)
    expect((await open({ creates: false })).space).toBe(journal.space)
    await journal.close()
    await expect(journal.append(() => [subject('x')])).rejects.toMatchObject({ code: 'closed' })
  })

  it('in place of one that was removed puts the copy of that one aside', async () => {
    const { open, sql } = await ownSpace()
    const dir = tempDir()
    const old = await open({ dir })
    await old.append(() => [subject('old')])
    await old.close()
    const lines = readFileSync(segmentOf(dir), 'utf8')
    await sql('DELETE FROM mailbox.entries WHERE space = SPACE')
    await sql('DELETE FROM mailbox.spaces WHERE space = SPACE')
    const fresh = await open({ dir })
    expect(fresh.space).not.toBe(old.space)
    expect(await subjectsIn(fresh)).toEqual([])
    const [aside, ...others] = readdirSync(dir).filter((name) => name.startsWith('journal-'))
    expect(others).toEqual([])
    expect(readFileSync(join(dir, aside!, '00000001.jsonl'), 'utf8')).toBe(lines)
  })

  it('without a connection is the copy, if there is one', async () => {
    const { near, proxy } = await behindProxy()
    const dir = tempDir()
    const first = await near({ dir })
    await first.append(() => [subject('one')])
    await first.close()
    proxy.cut()
    await expect(near()).rejects.toMatchObject({ code: 'unreachable' })
    const before = Date.now()
    const journal = await near({ dir })
    expect(journal.space).toBe(first.space)
    expect(await subjectsIn(journal)).toEqual(['one'])
    expect(journal.cutOff).toMatchObject({ error: { code: 'unreachable' } })
    expect(journal.cutOff!.since).toBeLessThanOrEqual(before)
    await expect(journal.append(() => [subject('no')])).rejects.toMatchObject({ code: 'unreachable' })
    proxy.restore()
    await journal.append(() => [subject('two')])
    expect(journal.cutOff).toBeUndefined()
    expect(await subjectsIn(journal)).toEqual(['one', 'two'])
  })
})

describe('a way that breaks', () => {
  it('on the answer to an append: it is stored once, and told to be', async () => {
    const { near, proxy, open } = await behindProxy('&timeout=20')
    const journal = await near()
    for (const n of upTo(6)) {
      let cuts = 0
      const cutOnce = (isRight: boolean) => isRight && cuts++ === 0
      if (n % 2 === 0) proxy.cutsAfter = (question) => cutOnce(question.includes('mailbox.append'))
      else proxy.cutsAnswer = (answer) => cutOnce(answer.includes('appended'))
      const [placed] = await journal.append(() => [subject(`${n}`)])
      expect([cuts > 0, journal.at(placed!.place)]).toEqual([true, placed!.entry])
      proxy.cutsAfter = () => false
      proxy.cutsAnswer = () => false
    }
    expect(await subjectsIn(await open())).toEqual(upTo(6).map(String))
    expect(journal.epoch).toBe(0)
  })

  it('on a turn: what was decided is stored once', async () => {
    const { near, proxy, open } = await behindProxy('&timeout=20')
    const [here, there] = [await near(), await open()]
    await there.append(() => [subject('theirs')])
    await here.append(() => [subject('one')])
    for (const word of ['mailbox.turn', 'COMMIT']) {
      let cuts = 0
      proxy.cutsAfter = (question) => question.includes(word) && cuts++ === 0
      await there.append(() => [subject(`theirs before ${word}`)])
      await here.append(() => [subject(word)])
      await here.append(() => [subject(`after ${word}`)])
      expect(cuts).toBeGreaterThan(0)
    }
    const all = await subjectsIn(there)
    expect(new Set(all).size).toBe(all.length)
    expect(all).toHaveLength(8)
    expect(await subjectsIn(here)).toEqual(all)
  })

  it('for good leaves open whether something was stored', async () => {
    const { near, proxy, open } = await behindProxy()
    const journal = await near()
    proxy.cutsAfter = (question) => {
      if (!question.includes('mailbox.append')) return false
      proxy.cut()
      return true
    }
    const { epoch } = journal
    const call = journal.append(() => [subject('one')])
    await expect(call).rejects.toMatchObject({
      code: 'unreachable',
      message: /; whether this was stored is not known$/,
    })
    expect(journal.epoch).toBe(epoch + 1)
    // Without a connection nothing can have been stored.
    const later = journal.append(() => [subject('two')])
    await expect(later).rejects.toMatchObject({ code: 'unreachable', message: /^(?!.*not known)/ })
    proxy.cutsAfter = () => false
    proxy.restore()
    await journal.append(() => [subject('three')])
    expect(await subjectsIn(await open())).toEqual(['one', 'three'])
  })

  it('while nobody asks is not noticed', async () => {
    const { near, proxy } = await behindProxy()
    const journal = await near()
    proxy.cut()
    proxy.restore()
    await journal.pull()
    expect(journal.cutOff).toBeUndefined()
    proxy.cut()
    proxy.restore()
    await journal.append(() => [subject('one')])
    expect(await subjectsIn(journal)).toEqual(['one'])
  })

  it('is not asked for again at once', async () => {
    const { near, proxy } = await behindProxy()
    const journal = await near()
    proxy.cut()
    await journal.pull()
    expect(journal.cutOff).toBeDefined()
    proxy.restore()
    await journal.pull()
    expect(journal.cutOff).toBeDefined()
    await until('it is asked again', async () => {
      await journal.pull()
      return journal.cutOff === undefined
    })
    proxy.cut()
    await journal.pull()
    proxy.restore()
    // Whoever must know waits for nothing.
    await journal.store.pull({ strict: true })
    expect(journal.cutOff).toBeUndefined()
  })
})

describe('those who wait for entries', () => {
  it('are woken by other machines, as long as they listen', async () => {
    const { open } = await ownSpace()
    const [here, there] = [await open(), await open()]
    let rings = 0
    const [off, offToo] = [here.onWake(() => rings++), here.onWake(() => rings++)]
    const read = () => here.read(startCursor).entries
    for (const n of upTo(3)) {
      const before = rings
      await there.append(() => [subject(`${n}`)])
      await until('both are woken, and it is there', () => rings >= before + 2 && read().length === n + 1)
    }
    off()
    off()
    const before = rings
    await there.append(() => [subject('4')])
    await until('the other one is woken', () => rings > before)
    offToo()
    await here.close()
    const after = rings
    await there.append(() => [subject('5')])
    expect(rings).toBe(after)
    await appendMessage(there)
  })

  it('and come back after all have gone are woken again', async () => {
    const { open } = await ownSpace()
    const [here, there] = [await open(), await open()]
    here.onWake(() => {})()
    let isWoken = false
    here.onWake(() => (isWoken = true))
    await there.append(() => [subject('1')])
    await until('it is woken', () => isWoken)
  })

  it('are woken when the way is cut, and when it is back', async () => {
    const { near, proxy, open } = await behindProxy()
    const [here, there] = [await near(), await open()]
    let rings = 0
    here.onWake(() => rings++)
    await there.append(() => [subject('1')])
    await until('it is woken', () => rings > 0)
    proxy.cut()
    await until('it is cut off', () => here.cutOff !== undefined)
    await there.append(() => [subject('2')])
    proxy.restore()
    await until('it has the second', () =>
      here.read(startCursor).entries.some(({ entry }) => subjectOf(entry) === '2'),
    )
    expect(here.cutOff).toBeUndefined()
  })
})
