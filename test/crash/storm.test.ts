import { expect, it } from 'vitest'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { openDisk } from '../../src/space/open.ts'
import { type Running, startProcess } from '../helpers/processes.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'
import { letPass } from '../helpers/wait.ts'

const writer = new URL('writer.mjs', import.meta.url)
const kills = inStorm(1_000, 20)
const atOnce = 4

interface Moment {
  /** How many of the writer's messages are large. */
  largeShare: number
  durability: 'disk' | 'os'
  /** Resolves when the writer is to be killed. */
  come: (running: Running) => Promise<void>
}

/** One of the moments at which a kill can hurt. */
function worstMoment(): Moment {
  const dice = Math.random()
  // While it starts: the library is loading, the lock or the index is being opened.
  if (dice < 0.15) return { largeShare: 0.02, durability: 'disk', come: () => letPass(Math.random() * 200) }
  const after = (match: RegExp | string, ms: number) => async (running: Running) => {
    await running.line(match)
    await letPass(Math.random() * ms)
  }
  // Any moment of its work.
  if (dice < 0.5) return { largeShare: 0.02, durability: 'disk', come: after('ready', 250) }
  // Large messages are on their way to the file. Without syncs a writer does hardly anything but write,
  // so most of these kills cut a write in two; what the kernel has taken survives a killed process.
  return { largeShare: 0.7, durability: 'os', come: after(/^large /, 200) }
}

/** Starts a writer, kills it, and returns what it had acknowledged until then. */
async function oneLife(dir: string, name: string, life: string): Promise<Map<string, string>> {
  const { largeShare, durability, come } = worstMoment()
  const running = startProcess(writer, [dir, name, life, `${largeShare}`, durability])
  try {
    await come(running)
  } finally {
    running.kill('SIGKILL')
  }
  const { signal } = await running.exit
  if (signal !== 'SIGKILL') throw new Error(`a writer ended by itself: ${running.stderr()}`)
  const acknowledged = new Map<string, string>()
  for (const line of running.lines) {
    const [word, subject, id] = line.split(' ')
    if (word === 'acked') acknowledged.set(subject!, id!)
  }
  return acknowledged
}

/** How often each message stands in the journal, by subject and id. */
async function countMessages(dir: string): Promise<Map<string, number>> {
  const journal = new FileJournal({ dir })
  const counts = new Map<string, number>()
  for (let cursor = startCursor; ; ) {
    const read = journal.read(cursor, 16 * 1_048_576)
    if (read.entries.length === 0) break
    cursor = read.cursor
    for (const { entry } of read.entries) {
      if (entry.kind !== 'message') continue
      const key = `${entry.message.subject} ${entry.message.id}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  await journal.close()
  return counts
}

it(
  `${kills} writers are killed at any moment, and nothing that was acknowledged is lost or doubled`,
  async () => {
    const dir = tempDir()
    const acknowledged = new Map<string, string>()
    let started = 0
    const lane = async (name: string) => {
      while (started < kills) {
        const life = ++started
        for (const [subject, id] of await oneLife(dir, name, `${life}`)) acknowledged.set(subject, id)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, (_, at) => lane(`writer-${at}`)))

    const counts = await countMessages(dir)
    const lost = [...acknowledged].filter(([subject, id]) => !counts.has(`${subject} ${id}`))
    const subjects = [...counts.keys()].map((key) => key.split(' ')[0]!)
    const doubled =
      subjects.length - new Set(subjects).size + [...counts.values()].filter((times) => times > 1).length

    const space = await openDisk({ dir })
    const { problems, torn, segments } = await space.verify({ deep: true })
    await space.close()
    const figures = [
      `${started} kills`,
      `${acknowledged.size} acknowledged`,
      `${lost.length} lost`,
      `${doubled} doubled`,
      `${torn.length} torn tails`,
    ]
    console.log(`storm: ${figures.join(', ')} (${counts.size} messages in ${segments} segments)`)
    expect({ lost, doubled, problems }).toEqual({ lost: [], doubled: 0, problems: [] })
    expect(acknowledged.size).toBeGreaterThan(0)
  },
  inStorm(1_800_000, 180_000),
)
