import { rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { openDisk } from '../../src/space/open.ts'
import { bundleLean } from '../helpers/lean.ts'
import { startProcess } from '../helpers/processes.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'
import { letPass } from '../helpers/wait.ts'

const kills = campaignSize('kills', 20_000, 20)
/** A space is checked and left after so many: what is written does not pile up. */
const killsPerRound = 250
const atOnce = 4

/** What the victims of a space were told. */
interface Told {
  /** The id of each message whose send resolved, by subject. */
  sent: Map<string, string>
  /** The ids whose `done` resolved. */
  done: Set<string>
}

interface Moment {
  kind: 'small' | 'handling' | 'large' | 'slow'
  /** The line after which it is killed. */
  line: string | RegExp
  /** At most so many milliseconds later. */
  withinMs: number
}

/** Moments at which a kill can hurt, each as often as its share of a hundred says. */
const moments: Moment[] = (
  [
    // It opens lock, journal and index, and repairs what the one before it left.
    [10, { kind: 'small', line: 'open', withinMs: 25 }],
    [20, { kind: 'small', line: 'ready', withinMs: 10 }],
    [15, { kind: 'small', line: /^sent /, withinMs: 10 }],
    [10, { kind: 'handling', line: /^sent /, withinMs: 20 }],
    [10, { kind: 'handling', line: /^done /, withinMs: 5 }],
    [5, { kind: 'large', line: 'write', withinMs: 1 }],
    [30, { kind: 'slow', line: 'write', withinMs: 8 }],
  ] as const
).flatMap(([share, moment]) => Array.from({ length: share }, () => moment))

/** Starts a victim, kills it, and notes what it had been told until then. */
async function oneLife(victim: URL, dir: string, name: string, life: string, told: Told): Promise<void> {
  const { kind, line: before, withinMs } = moments[Math.floor(Math.random() * moments.length)]!
  // What the kernel has taken survives a killed process, and without syncs a writer does little but write.
  const durability = kind === 'large' ? 'os' : 'disk'
  const running = startProcess(victim, [dir, name, life, kind, durability])
  try {
    await running.line(before)
    await letPass(Math.random() * withinMs)
  } finally {
    running.kill('SIGKILL')
  }
  const { signal } = await running.exit
  if (signal !== 'SIGKILL') throw new Error(`a victim ended by itself: ${running.stderr()}`)
  for (const line of running.lines) {
    const [word, what, id] = line.split(' ') as [string, string, string]
    if (word === 'sent') told.sent.set(what, id)
    if (word === 'done') told.done.add(what)
  }
}

/** What the journal has, as the library reads it. */
async function inJournal(dir: string) {
  const journal = new FileJournal({ dir })
  const messages = new Map<string, number>()
  const subjects = new Set<string>()
  const done = new Set<string>()
  let torn = 0
  for (let cursor = startCursor; ; ) {
    const read = journal.read(cursor, 16 * 1_048_576)
    if (read.entries.length === 0) break
    cursor = read.cursor
    for (const { entry } of read.entries) {
      if (entry.kind === 'message') {
        const key = `${entry.message.subject} ${entry.message.id}`
        messages.set(key, (messages.get(key) ?? 0) + 1)
        subjects.add(entry.message.subject!)
      } else if (entry.kind === 'receipt' && entry.step === 'completed') {
        for (const { id } of entry.changes) done.add(id)
      } else if (entry.kind === 'torn') torn++
    }
  }
  await journal.close()
  return { messages, subjects, done, torn }
}

/** What is wrong with a space in which everybody was killed, and how many of the kills cut a write in two. */
async function check(dir: string, told: Told) {
  // The first to write afterwards seals what the last victim left; then each fragment has an entry about it.
  const space = await openDisk({ dir })
  await space.join('the-last')
  const { problems } = await space.verify({ deep: true })
  await space.close()
  const { messages, subjects, done, torn } = await inJournal(dir)
  const lost = [...told.sent].filter(([subject, id]) => messages.get(`${subject} ${id}`) !== 1)
  const undone = [...told.done].filter((id) => !done.has(id))
  const doubled = messages.size - subjects.size
  return { wrong: { lost, undone, doubled, problems }, torn }
}

it(
  `${kills} processes are killed at any moment, and nothing they were told is lost or doubled`,
  async () => {
    const campaign = new Campaign('kills', kills)
    const victim = await bundleLean(new URL('victim.ts', import.meta.url))
    const figures = {
      kills: 0,
      'in the middle of a write': 0,
      'sends acknowledged': 0,
      'receipts acknowledged': 0,
      'lost or doubled': 0,
    }
    let started = 0
    while (started < kills) {
      const dir = tempDir()
      const told: Told = { sent: new Map(), done: new Set() }
      const last = Math.min(kills, started + killsPerRound)
      const lane = async (name: string) => {
        while (started < last) {
          await oneLife(victim, dir, name, `${++started}`, told)
          campaign.progress(++figures.kills, figures)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, (_, at) => lane(`victim-${at}`)))
      const { wrong, torn } = await check(dir, told)
      figures['in the middle of a write'] += torn
      figures['sends acknowledged'] += told.sent.size
      figures['receipts acknowledged'] += told.done.size
      figures['lost or doubled'] += wrong.lost.length + wrong.undone.length + wrong.doubled
      expect(wrong).toEqual({ lost: [], undone: [], doubled: 0, problems: [] })
      rmSync(dir, { recursive: true, force: true })
    }
    campaign.end(figures)
    // Otherwise the campaign shows little. A sample is too small for that.
    if (kills >= killsPerRound) expect(figures['in the middle of a write']).toBeGreaterThan(kills / 10)
    expect(figures['sends acknowledged']).toBeGreaterThan(0)
  },
  inStorm(7_200_000, 180_000),
)
