import { cpSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { writeSettings } from '../../src/space/settings.ts'
import { checkHistory } from '../helpers/claim-checker.ts'
import { chooseFor, Worker } from '../helpers/claim-fleet.ts'
import { bundleLean } from '../helpers/lean.ts'
import { type Running, startProcess } from '../helpers/processes.ts'
import { Campaign, campaignSize, inStorm, isStorm } from '../helpers/storm.ts'
import { placeSpace, tempDir } from '../helpers/temp.ts'
import { letPass, until } from '../helpers/wait.ts'

const blows = campaignSize('desk', 5_000, 12)
/** A space is checked and left after so many: what is written does not pile up. */
const blowsPerRound = 100
const sendersAtOnce = inStorm(5, 4)

type Blow = 'killed' | 'stopped' | 'starved'
const kinds: readonly Blow[] = ['killed', 'killed', 'stopped', 'starved']

const claimers = ['bob', 'cy']
const leaseMs = 250
/** What is fought over in a round, how many at a time, and how often each is touched before the next takes its place. */
const wantedPerRound = inStorm(400, 40)
const wantedAtOnce = 3
const callsEach = 30

/** Where the journal of a history stays that cannot be right. */
const kept = fileURLToPath(new URL('../../test-output/desk/', import.meta.url))

/** A send may wait so long for a desk that does not answer. */
const patienceMs = 100

const figures = {
  ...{ killed: 0, stopped: 0, starved: 0 },
  ...{ 'sends acknowledged': 0, 'by the desk': 0, 'lost or doubled': 0 },
  /** Those who asked a desk that did not answer, and wrote by themselves. */
  'asked in vain': 0,
  [`for more than ${patienceMs} ms`]: 0,
  'of them not for want of a processor': 0,
  [`of all others, direct ones over ${patienceMs} ms`]: 0,
  ...{ 'operations on claims': 0, 'of them by the desk': 0, 'histories of claims': 0, violations: 0 },
}

/** Notes what a sender has said. Gives the messages that it was told are kept. */
function noteSends({ lines }: Running, told: Map<string, string>): void {
  for (const line of lines) {
    const [word, subject, id, ms, way, asked, busy] = line.split(' ') as [string, string, ...string[]]
    if (word !== 'sent' || busy === undefined) continue
    told.set(subject, id!)
    figures['sends acknowledged']++
    if (way === 'desk') figures['by the desk']++
    if (way === 'direct' && Number(ms) > patienceMs)
      figures[`of all others, direct ones over ${patienceMs} ms`]!++
    if (way !== 'vain') continue
    figures['asked in vain']++
    if (Number(asked) <= patienceMs) continue
    figures[`for more than ${patienceMs} ms`]!++
    if (Number(asked) - Number(busy) > patienceMs) figures['of them not for want of a processor']++
  }
}

/** What a space was told to keep, and what it has. */
async function outcome(dir: string, told: ReadonlyMap<string, string>) {
  const space = await openDisk({ dir })
  const { problems } = await space.verify({ deep: true })
  const ids = new Map<string, string[]>()
  for await (const { entry } of space.entries(0))
    if (entry.kind === 'message' && entry.message.to[0] === 'ada')
      ids.set(entry.message.subject, [...(ids.get(entry.message.subject) ?? []), entry.message.id])
  await space.close()
  const lost = [...told].filter(([subject, id]) => !ids.get(subject)?.includes(id))
  const doubled = [...ids].filter(([, all]) => all.length > 1)
  return { lost, doubled, problems }
}

/** Work for those who claim. Nothing of it is done by this process: it must never wait for a lock. */
async function stage(): Promise<{ dir: string; wanted: string[] }> {
  const dir = await placeSpace(tempDir())
  writeSettings(dir, {
    ...{ 'limits.ratePerMinute': 0, 'limits.inbox': 0 },
    ...{ claimTtlMs: 1_000, maxAttempts: 1_000 },
  })
  const space = await openDisk({ dir, settings: { durability: 'os' } })
  await space.join('ada')
  for (const name of claimers) await space.join(name, { roles: ['r'] })
  const user = await space.mailbox('user')
  const wanted: string[] = []
  for (let n = 0; n < wantedPerRound; n++) wanted.push((await user.send({ to: 'role:r' })).id)
  await space.close()
  return { dir, wanted }
}

/** Has every worker claim, give back and finish the same messages, until it is over or nothing is left. */
async function fight(
  dir: string,
  workers: readonly Worker[],
  wanted: readonly string[],
  isOver: () => boolean,
): Promise<void> {
  const touched = new Map<string, number>()
  let next = wantedAtOnce
  const current = wanted.slice(0, wantedAtOnce)
  await Promise.all(
    workers.map(async (worker) => {
      while (!isOver() && current.length > 0) {
        const at = Math.floor(Math.random() * current.length)
        const id = current[at]!
        touched.set(id, (touched.get(id) ?? 0) + 1)
        const call = await worker.ask(chooseFor(worker, id), id)
        const isDone = call.does === 'done' && call.answer?.ok === true
        if ((!isDone && touched.get(id)! < callsEach) || !current.includes(id)) continue
        current.splice(current.indexOf(id), 1, ...wanted.slice(next, ++next))
      }
    }),
  )
  for (const id of touched.keys()) {
    const calls = workers.flatMap((worker) => worker.calls.get(id) ?? [])
    figures['operations on claims'] += calls.length
    figures['histories of claims']++
    const { violation } = checkHistory({ calls, deaths: [] })
    if (violation === undefined) continue
    figures.violations++
    // What the journal says of it tells more than what the processes were told.
    cpSync(`${dir}/journal`, `${kept}${id}`, { recursive: true })
    expect({ id, ...violation }, `the journal is in ${kept}${id}`).toBeUndefined()
  }
  for (const { byDesk } of workers) figures['of them by the desk'] += byDesk
}

/** Kills, stops or starves a process. */
async function strike(desk: Running): Promise<Blow> {
  const kind = kinds[Math.floor(Math.random() * kinds.length)]!
  if (kind === 'killed') {
    desk.kill('SIGKILL')
    await desk.exit
    return kind
  }
  for (let time = 0; time < (kind === 'stopped' ? 1 : 8); time++) {
    desk.kill('SIGSTOP')
    await letPass(Math.random() * (kind === 'stopped' ? 250 : 15))
    desk.kill('SIGCONT')
    await letPass(Math.random() * 3)
  }
  return kind
}

it(
  `a desk is killed, stopped or starved ${blows} times, and nothing is lost or doubled`,
  async () => {
    const campaign = new Campaign('desk', blows)
    const [sender, claimer] = [
      await bundleLean(new URL('sender.ts', import.meta.url)),
      await bundleLean(new URL('claimer.ts', import.meta.url)),
    ]
    let lives = 0
    for (let done = 0; done < blows; ) {
      const { dir, wanted } = await stage()
      const told = new Map<string, string>()
      const start = (at: number): Running => startProcess(sender, [dir, `sender-${at}`, `${++lives}`])
      const running = Array.from({ length: sendersAtOnce }, (_, at) => start(at))
      const workers = claimers.map((name) => new Worker(claimer, { dir, name, agent: name, leaseMs }))
      await Promise.all(workers.map((worker) => worker.start()))
      const last = Math.min(blows, done + blowsPerRound)
      const fighting = fight(dir, workers, wanted, () => done >= last)
      while (done < last) {
        const { at } = await until('there is a desk', () => {
          const found = running.findIndex(({ lines }) => lines.includes('desk'))
          return found >= 0 && { at: found }
        })
        await letPass(Math.random() * inStorm(200, 40))
        const kind = await strike(running[at]!)
        figures[kind]++
        if (kind === 'killed') {
          noteSends(running[at]!, told)
          running[at] = start(at)
        }
        campaign.progress(++done, figures)
      }
      await fighting
      for (const worker of workers) await worker.end()
      for (const one of running) {
        one.kill('SIGKILL')
        await one.exit
        noteSends(one, told)
      }
      const wrong = await outcome(dir, told)
      figures['lost or doubled'] += wrong.lost.length + wrong.doubled.length
      expect(wrong).toEqual({ lost: [], doubled: [], problems: [] })
      rmSync(dir, { recursive: true, force: true })
    }
    campaign.end(figures)
    expect(figures['sends acknowledged']).toBeGreaterThan(0)
    // A few blows on a busy machine may leave a desk no time to answer.
    if (isStorm) expect(figures['by the desk']).toBeGreaterThan(0)
    expect(figures['operations on claims']).toBeGreaterThan(0)
  },
  inStorm(7_200_000, 180_000),
)
