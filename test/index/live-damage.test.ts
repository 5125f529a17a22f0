import { randomBytes } from 'node:crypto'
import { copyFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { upTo } from '../helpers/drafts.ts'
import { type Running, startScript } from '../helpers/processes.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

const writer = new URL('steady-writer.mjs', import.meta.url)
const rounds = inStorm(60, 2)
const watcher = new URL('watcher.mjs', import.meta.url)

interface Scene {
  index: string
  /** A copy of the index from when the space was young. */
  old: string
  /** The index of another space. */
  foreign: string
}

/** A new file takes the place of the old one. */
function replaceBy(index: string, source: string): void {
  copyFileSync(source, `${index}.new`)
  renameSync(`${index}.new`, index)
}

/** What can happen to the file between two looks at it; it may be gone already when the next thing happens. */
const damages: [string, (scene: Scene) => void][] = [
  ['deleted', ({ index }) => rmSync(index, { force: true })],
  [
    'deleted with its rollback journal',
    ({ index }) => {
      rmSync(index, { force: true })
      rmSync(`${index}-journal`, { force: true })
    },
  ],
  ['cut to nothing', ({ index }) => truncateSync(index, 0)],
  ['cut to half', ({ index }) => truncateSync(index, statSync(index).size >> 1)],
  ['overwritten with garbage', ({ index }) => writeFileSync(index, randomBytes(statSync(index).size))],
  ["replaced by another space's", ({ index, foreign }) => replaceBy(index, foreign)],
  ['replaced by an old copy', ({ index, old }) => replaceBy(index, old)],
  [
    'replaced by random bytes',
    ({ index }) => {
      writeFileSync(`${index}.new`, randomBytes(60_000))
      renameSync(`${index}.new`, index)
    },
  ],
]

const numbers = (running: Running, word: string): number[] =>
  running.lines.filter((line) => line.startsWith(`${word} `)).map((line) => Number(line.split(' ')[1]))

/** Waits until a process has printed the word with a number that high. */
const reached = (running: Running, word: string, number: number): Promise<string> =>
  running.line(`${word} ${number}`)

async function foreignIndex(): Promise<string> {
  const other = await tempSpace()
  const ada = await other.mailbox('ada')
  for (const n of upTo(30)) await ada.send({ to: 'ada', subject: `foreign ${n}` })
  await ada.inbox()
  await other.close()
  return join(other.dir, 'index.db')
}

const timeout = inStorm(600_000, 60_000)

describe('an index that is damaged while a writer and a watcher run', { timeout }, () => {
  it.each(damages)('%s: both go on, no send is refused, nothing is lost', async (_, damage) => {
    const dir = tempDir()
    const scene = {
      index: join(dir, 'index.db'),
      old: join(tempDir(), 'old.db'),
      foreign: await foreignIndex(),
    }
    const sending = startScript(writer, [dir])
    await reached(sending, 'acked', 10)
    const watching = startScript(watcher, [dir])
    await reached(watching, 'saw', 10)
    copyFileSync(scene.index, scene.old)

    for (const round of upTo(rounds)) {
      const sent = numbers(sending, 'acked').at(-1)! + 1
      // At different places of the writer's and the watcher's work.
      const moment = sent + ((7 * round) % 23)
      await reached(sending, 'acked', moment)
      damage(scene)
      await reached(sending, 'acked', moment + 25)
      await reached(watching, 'saw', moment + 25)
    }
    sending.tell('stop')
    await sending.line('stopped')
    const acked = numbers(sending, 'acked')
    await reached(watching, 'saw', acked.at(-1)!)

    expect(sending.lines.filter((line) => line.startsWith('refused'))).toEqual([])
    expect(numbers(watching, 'saw')).toEqual(upTo(acked.length))
    const space = await tempSpace({ dir })
    const bob = await space.mailbox('bob')
    expect((await bob.count()).unread).toBe(acked.length)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })
})

describe('a space in use', () => {
  it('is found whole by its deep check while another process writes to it', async () => {
    const dir = tempDir()
    const sending = startScript(writer, [dir])
    await reached(sending, 'acked', 200)
    const space = await tempSpace({ dir })
    const found: string[] = []
    for (const _ of upTo(inStorm(15, 6))) found.push(...(await space.verify({ deep: true })).problems)
    sending.tell('stop')
    await sending.line('stopped')
    expect(found.slice(0, 3)).toEqual([])
  })
})
