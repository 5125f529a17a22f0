import { readdirSync, readFileSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { createBox } from '../helpers/cli.ts'
import { segmentFile } from '../helpers/segments.ts'
import { inStorm } from '../helpers/storm.ts'
import { patientSettings, tempSpace, testSettings } from '../helpers/temp.ts'

const settings = { ...testSettings, ...patientSettings }
const now = () => Date.parse('2026-05-04T12:00:00Z')
const tables = ['index.db', 'index.db-sums']
const words = ['index-search.db', 'index-search.db-sums']

/** A closed space with mail to agents, roles and tags, receipts and claims, and both of its databases up to date. */
async function closedSpace(): Promise<string> {
  const space = await tempSpace({ settings, now })
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

/** Gives a space its files back as they were. */
function keep(dir: string, files: readonly string[]) {
  // The head mark as well: the journal is shortened on purpose.
  const good = new Map([...files, 'head'].map((file) => [file, readFileSync(join(dir, file))]))
  const journal = readFileSync(segmentFile(dir)).length
  return {
    size: good.get(files[0]!)!.length,
    restore() {
      truncateSync(segmentFile(dir), journal)
      for (const [file, bytes] of good) writeFileSync(join(dir, file), bytes)
    },
    flip(at: number) {
      const bytes = Buffer.from(good.get(files[0]!)!)
      bytes[at]! ^= 1 << (at % 8)
      writeFileSync(join(dir, files[0]!), bytes)
    },
  }
}

/** Every byte in `npm run storm`, otherwise a few from everywhere. */
const bytesOf = (size: number): number[] => {
  const step = inStorm(1, Math.floor(size / 14))
  return Array.from({ length: Math.ceil(size / step) }, (_, n) => n * step)
}

const timeout = inStorm(14_400_000, 60_000)

describe('a flipped bit in an index', { timeout }, () => {
  it.each([
    ['tables', tables],
    ['words', words],
  ])('of %s changes no answer of a space that is opened', async (_, files) => {
    const dir = await closedSpace()
    const kept = keep(dir, files)
    const ask = async () => {
      const space = await openDisk({ dir, settings, now })
      try {
        return await answers(space)
      } finally {
        await space.close()
      }
    }
    const wanted = await ask()
    const wrong: number[] = []
    const bytes = bytesOf(kept.size)
    for (const at of bytes) {
      kept.restore()
      kept.flip(at)
      if ((await ask()) !== wanted) wrong.push(at)
    }
    console.log(`${files[0]}: ${bytes.length} flips, ${wrong.length} wrong answers, 0 aborts`)
    expect(wrong).toEqual([])
  })

  it('changes no answer of a space that is open', async () => {
    const dir = await closedSpace()
    const space = await tempSpace({ dir, settings, now })
    const bob = await space.mailbox('bob', { join: false })
    const ask = async () => JSON.stringify([await bob.inbox({ all: true }), await space.agents()])
    const wanted = await ask()
    const path = join(dir, 'index.db')
    for (const at of bytesOf(readFileSync(path).length)) {
      const bytes = readFileSync(path)
      bytes[at]! ^= 1 << (at % 8)
      writeFileSync(path, bytes)
      expect(await ask()).toBe(wanted)
    }
  })

  it('in a name, which is then no text, ends no verb of the command line', async () => {
    const dir = await closedSpace()
    const path = join(dir, 'index.db')
    const good = readFileSync(path)
    const box = await createBox()
    for (const verb of [['inbox'], ['doctor', '--deep'], ['verify', '--deep'], ['rebuild'], ['agents']]) {
      const bytes = Buffer.from(good)
      for (let at = bytes.indexOf('"bob"'); at >= 0; at = bytes.indexOf('"bob"', at + 1)) bytes[at + 2] = 0xff
      writeFileSync(path, bytes)
      const { code, stderr } = await box.run(['--as', 'bob', ...verb], { env: { MAILBOX_SPACE: dir } })
      expect({ verb, code, stderr }).toMatchObject({ code: 0 })
    }
  })
})

describe('a space that is closed', () => {
  it.skipIf(process.platform !== 'linux')('has none of its files open', async () => {
    const space = await tempSpace({ settings, now })
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', body: 'apple' })
    await ada.search('apple')
    await space.close()
    const open = readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return []
      }
    })
    expect(open.filter((path) => path.startsWith(space.dir))).toEqual([])
  })
})
