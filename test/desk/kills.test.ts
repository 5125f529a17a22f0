import { rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { openDisk } from '../../src/space/open.ts'
import { writeSettings } from '../../src/space/settings.ts'
import { bundleLean } from '../helpers/lean.ts'
import { type Running, startProcess } from '../helpers/processes.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'
import { letPass, until } from '../helpers/wait.ts'

const blows = campaignSize('desk', 5_000, 12)
/** A space is checked and left after so many: what is written does not pile up. */
const blowsPerRound = 100
const atOnce = inStorm(6, 4)

type Blow = 'killed' | 'stopped' | 'starved'
const kinds: readonly Blow[] = ['killed', 'killed', 'stopped', 'starved']

/** What a space was told to keep, and what it has. */
async function outcome(dir: string, told: ReadonlyMap<string, string>) {
  const space = await openDisk({ dir })
  const { problems } = await space.verify({ deep: true })
  await space.close()
  const journal = new FileJournal({ dir })
  const ids = new Map<string, string[]>()
  for (let cursor = startCursor; ; ) {
    const read = journal.read(cursor, 16 * 1_048_576)
    if (read.entries.length === 0) break
    cursor = read.cursor
    for (const { entry } of read.entries)
      if (entry.kind === 'message' && entry.message.to[0] === 'ada')
        ids.set(entry.message.subject, [...(ids.get(entry.message.subject) ?? []), entry.message.id])
  }
  await journal.close()
  const lost = [...told].filter(([subject, id]) => !ids.get(subject)?.includes(id))
  const doubled = [...ids].filter(([, all]) => all.length > 1)
  return { lost, doubled, problems }
}

it(
  `a desk is killed, stopped or starved ${blows} times, and nothing is lost or doubled`,
  async () => {
    const campaign = new Campaign('desk', blows)
    const worker = await bundleLean(new URL('worker.ts', import.meta.url))
    const figures = { killed: 0, stopped: 0, starved: 0, 'sends acknowledged': 0, 'lost or doubled': 0 }
    let lives = 0
    for (let done = 0; done < blows; ) {
      const dir = tempDir()
      const first = await openDisk({ dir })
      writeSettings(dir, { 'limits.ratePerMinute': 0, 'limits.inbox': 0 })
      await first.join('ada')
      await first.close()
      const told = new Map<string, string>()
      const note = ({ lines }: Running) => {
        for (const line of lines) {
          const [word, subject, id] = line.split(' ') as [string, string, string]
          if (word === 'sent') told.set(subject, id)
        }
      }
      const start = (at: number): Running => startProcess(worker, [dir, `worker-${at}`, `${++lives}`])
      const running = Array.from({ length: atOnce }, (_, at) => start(at))
      const end = async (one: Running) => {
        one.kill('SIGKILL')
        await one.exit
        note(one)
      }
      const last = Math.min(blows, done + blowsPerRound)
      while (done < last) {
        const at = await until('there is a desk', () => {
          const found = running.findIndex(({ lines }) => lines.includes('desk'))
          return found >= 0 && { found }
        })
        const desk = running[at.found]!
        await letPass(Math.random() * 40)
        const kind = kinds[Math.floor(Math.random() * kinds.length)]!
        figures[kind]++
        if (kind === 'killed') {
          await end(desk)
          running[at.found] = start(at.found)
        } else {
          const times = kind === 'stopped' ? 1 : 8
          for (let time = 0; time < times; time++) {
            desk.kill('SIGSTOP')
            await letPass(Math.random() * (kind === 'stopped' ? 250 : 15))
            desk.kill('SIGCONT')
            await letPass(Math.random() * 3)
          }
        }
        campaign.progress(++done, figures)
      }
      await Promise.all(running.map(end))
      const wrong = await outcome(dir, told)
      figures['sends acknowledged'] += told.size
      figures['lost or doubled'] += wrong.lost.length + wrong.doubled.length
      expect(wrong).toEqual({ lost: [], doubled: [], problems: [] })
      rmSync(dir, { recursive: true, force: true })
    }
    campaign.end(figures)
    expect(figures['sends acknowledged']).toBeGreaterThan(0)
  },
  inStorm(7_200_000, 180_000),
)
