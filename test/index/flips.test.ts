import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { attachDatabase, type Database, isSqliteError } from '../../src/base/sqlite.ts'
import { PageSums } from '../../src/index/page-sums.ts'
import { UnfitIndex } from '../../src/index/unfit.ts'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { memoryDir } from '../helpers/damage-space.ts'
import { segmentFile } from '../helpers/segments.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { patientSettings, tempSpace, testSettings } from '../helpers/temp.ts'

const settings = { ...testSettings, ...patientSettings }
const now = () => Date.parse('2026-05-04T12:00:00Z')
const tables = ['index.db', 'index.db-sums']
const words = ['index-search.db', 'index-search.db-sums']

/** A closed space with mail to agents, roles and tags, receipts and claims, and both of its databases up to date. */
async function closedSpace(): Promise<string> {
  const dir = memoryDir()
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const space = await tempSpace({ dir, settings, now })
  const ada = await space.mailbox('ada')
  const bob = await space.mailbox('bob', { join: { roles: ['tester'], tags: ['project:mail'] } })
  await ada.send({ to: 'bob', subject: 'first', body: 'apple', type: 'question' })
  await ada.send({ to: 'role:tester', subject: 'work', priority: 'urgent', tags: ['project:mail'] })
  const { id } = await ada.send({ to: ['bob', 'project:mail'], subject: 'acked', requiresAck: true })
  await bob.claimNext('tester')
  await bob.ack(id)
  await ada.send({ to: 'bob', subject: 'unread', body: 'pear', ttlMs: 86_400_000 })
  await ada.search('apple')
  await space.close()
  return space.dir
}

/** Everything that can be asked of a space, and last of all the mail that is taken with `check`. */
async function answers(space: DiskSpace): Promise<string> {
  const bob = await space.mailbox('bob', { join: false })
  const all = await bob.inbox({ all: true })
  const shown = await Promise.all(all.messages.map(({ id }) => space.show(id)))
  const threads = await Promise.all(all.messages.map(({ id }) => bob.thread(id)))
  const found = [await bob.search('apple'), await bob.search('pear OR work')]
  const { seq: _, ...checked } = { seq: 0, ...(await bob.check({ budgetTokens: 10_000 })) }
  return JSON.stringify([
    ...[all, await bob.count(), shown, threads, found],
    ...[await space.agents(), await space.owed(), await space.stats(), await space.deadLetters(), checked],
  ])
}

/** A file of an index, to be damaged bit by bit, and the space that it belongs to. */
class Victim {
  readonly dir: string
  readonly path: string
  readonly #good: ReadonlyMap<string, Buffer>
  readonly #journal: number
  readonly bytes: Buffer

  constructor(dir: string, file: string) {
    this.dir = dir
    this.path = join(dir, file)
    // The head mark as well: the journal is shortened on purpose.
    const files = [...tables, ...words, 'head']
    this.#good = new Map(files.map((name) => [name, readFileSync(join(dir, name))]))
    this.#journal = readFileSync(segmentFile(dir)).length
    this.bytes = this.#good.get(file)!
  }

  restore(): void {
    truncateSync(segmentFile(this.dir), this.#journal)
    for (const [file, bytes] of this.#good) writeFileSync(join(this.dir, file), bytes)
  }

  /** Flips these bits of the file as it was. */
  flip(...bits: number[]): void {
    const bytes = Buffer.from(this.bytes)
    for (const bit of bits) bytes[bit >> 3]! ^= 1 << (bit & 7)
    writeFileSync(this.path, bytes)
  }

  async ask(): Promise<string> {
    const space = await openDisk({ dir: this.dir, settings, now })
    try {
      return await answers(space)
    } finally {
      await space.close()
    }
  }
}

/** What the sums say of a database file: its wrong pages, or `error` if SQLite itself refuses the file. */
function wrongPagesOf(path: string): number[] | 'error' {
  let database: Database | undefined
  try {
    database = attachDatabase(path, 1_000)
    database.exec('BEGIN')
    try {
      const sums = new PageSums(path, database)
      const wrong = sums.wrongPages()
      sums.close()
      return wrong
    } finally {
      database.exec('ROLLBACK')
    }
  } catch (error) {
    if (isSqliteError(error) || error instanceof UnfitIndex) return 'error'
    throw error
  } finally {
    database?.close()
  }
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** How many bits are tried before the memory of their databases is freed. */
const bitsPerCollection = 200

/** The driver keeps 130 kB for each closed database until it is collected, which a loop without a pause never lets happen. */
async function freeDatabases(): Promise<void> {
  collectGarbage()
  await new Promise(setImmediate)
}

/**
 * Flips bits of every page, the same bit in many pages at once: each has a sum of its own. SQLite refuses a file as a
 * whole for some of them, those with the schema; they are flipped one by one. Returns the bits that nobody noticed.
 */
async function unnoticedBits(victim: Victim, bitsInPage: readonly number[], onBit: (n: number) => void) {
  const pageBytes = victim.bytes.readUInt16BE(16)
  const pages = Array.from({ length: victim.bytes.length / pageBytes }, (_, index) => index + 1)
  // It has what SQLite reads before anything else.
  const alone = new Set([1])
  const unnoticed: number[] = []
  const bitOf = (page: number, bit: number) => (page - 1) * pageBytes * 8 + bit
  const wrongWith = (bit: number, flipped: number[]) => {
    victim.flip(...flipped.map((page) => bitOf(page, bit)))
    return wrongPagesOf(victim.path)
  }
  for (const [n, bit] of bitsInPage.entries()) {
    const together = pages.filter((page) => !alone.has(page))
    const wrong = wrongWith(bit, together)
    for (const page of wrong === 'error' ? pages : alone) {
      const found = wrongWith(bit, [page])
      if (found === 'error') alone.add(page)
      else if (!found.includes(page)) unnoticed.push(bitOf(page, bit))
    }
    if (wrong !== 'error')
      unnoticed.push(...together.filter((page) => !wrong.includes(page)).map((page) => bitOf(page, bit)))
    onBit(n)
    if (n % bitsPerCollection === 0) await freeDatabases()
  }
  return { tried: bitsInPage.length * pages.length, unnoticed }
}

const everyBit = (count: number, step: number): number[] =>
  Array.from({ length: Math.ceil(count / step) }, (_, n) => n * step)

/** As many bits from all over a file, another one in each byte. */
const someBits = (bytes: number, count: number): number[] =>
  Array.from({ length: count }, (_, n) => Math.floor((n * bytes) / count) * 8 + (n % 8))

const timeout = inStorm(7_200_000, 60_000)

describe('a flipped bit in an index', { timeout }, () => {
  it.each(['index.db', 'index-search.db'])(
    'of %s changes no answer of a space that is opened',
    async (file) => {
      const victim = new Victim(await closedSpace(), file)
      const wanted = await victim.ask()
      const campaign = new Campaign('damage', 32_768, file)
      victim.restore()
      const pageBits = victim.bytes.readUInt16BE(16) * 8
      const { tried, unnoticed } = await unnoticedBits(victim, everyBit(pageBits, inStorm(1, 1_001)), (n) =>
        campaign.progress(n),
      )
      // SQLite does not look at what COMMIT itself writes into the first page, nor at pages that are free.
      const asked = [...unnoticed, ...someBits(victim.bytes.length, campaignSize('damage', 2_000, 12))]
      const wrong: number[] = []
      for (const [at, bit] of asked.entries()) {
        victim.restore()
        victim.flip(bit)
        if ((await victim.ask()) !== wanted) wrong.push(bit)
        campaign.progress(at)
      }
      campaign.end({
        'bits of the index flipped': tried,
        'of them not noticed by a checksum': unnoticed.length,
        'spaces opened with a damaged index': asked.length,
        'wrong answers with a damaged index': wrong.length,
      })
      expect(wrong).toEqual([])
    },
  )

  it.each(['index.db-sums', 'index-search.db-sums'])('of %s changes no answer either', async (file) => {
    const victim = new Victim(await closedSpace(), file)
    const wanted = await victim.ask()
    const wrong: number[] = []
    for (const bit of everyBit(victim.bytes.length * 8, inStorm(1, 1_501))) {
      victim.restore()
      victim.flip(bit)
      if ((await victim.ask()) !== wanted) wrong.push(bit)
    }
    expect(wrong).toEqual([])
  })

  it('changes no answer of a space that is open', async () => {
    const dir = await closedSpace()
    const space = await tempSpace({ dir, settings, now })
    const bob = await space.mailbox('bob', { join: false })
    const ask = async () => JSON.stringify([await bob.inbox({ all: true }), await space.agents()])
    const wanted = await ask()
    const path = join(dir, 'index.db')
    for (const bit of someBits(readFileSync(path).length, inStorm(2_000, 14))) {
      const bytes = readFileSync(path)
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      writeFileSync(path, bytes)
      expect(await ask()).toBe(wanted)
    }
  })
})
