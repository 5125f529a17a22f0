import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkHistory } from '../helpers/claim-checker.ts'
import { chooseFor, Worker, WrongClock } from '../helpers/claim-fleet.ts'
import { Campaign, campaignSize } from '../helpers/storm.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'
import { letPass } from '../helpers/wait.ts'

const operations = campaignSize('claims', 50_000, 250)
/** How many messages are fought over at a time, and how often each is touched before the next takes its place. */
const atOnce = 4
const callsEach = 40
const leaseMs = 250

const times = ['+3h', '-3h', '+2y', '-5y', '+30d', '+1h', '-1h']
const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!

/** Three processes under one name, two under their own; the clocks of two are set again and again. */
const crew = ['ada', 'bob 1', 'bob 2', 'bob 3', 'cy']

it(`${operations} operations on claims: every answer fits one order of them all`, {
  timeout: 3_600_000,
}, async () => {
  needTool('faketime')
  const space = await tempSpace({ settings: { 'limits.ratePerMinute': 0, 'limits.inbox': 0 } })
  const sender = await space.mailbox('sender')
  const clocks = {
    cy: new WrongClock(join(tempDir(), 'cy'), false),
    'bob 3': new WrongClock(join(tempDir(), 'bob'), true),
  }
  const workers = crew.map((name) => {
    const env = name === 'cy' || name === 'bob 3' ? clocks[name].env : () => ({})
    const agent = name.split(' ')[0]!
    return new Worker(new URL('worker.mjs', import.meta.url), { dir: space.dir, name, agent, leaseMs, env })
  })
  for (const worker of workers) await worker.start()

  const all: string[] = []
  const touched = new Map<string, number>()
  const current: string[] = []
  const renew = async (at: number) => {
    const { id } = await sender.send({ to: 'role:r' })
    all.push(id)
    current[at] = id
    return id
  }
  for (let at = 0; at < atOnce; at++) await renew(at)

  const campaign = new Campaign('claims', operations)
  let asked = 0
  const counts = { kills: 0, stops: 0, jumps: 0 }
  const isOver = () => asked >= operations

  async function work(worker: Worker): Promise<void> {
    while (!isOver()) {
      if (!worker.isThere) {
        await letPass(5)
        continue
      }
      const at = Math.floor(Math.random() * atOnce)
      const id = current[at]!
      const times = (touched.get(id) ?? 0) + 1
      touched.set(id, times)
      campaign.progress(++asked, counts)
      const call = await worker.ask(chooseFor(worker, id), id)
      const isDone = call.does === 'done' && call.answer?.ok === true
      if ((isDone || times >= callsEach) && current[at] === id) await renew(at)
    }
  }

  /** Kills one, or stops one for longer than a lease, again and again. */
  async function disturb(): Promise<void> {
    while (!isOver()) {
      await letPass(100 + Math.random() * 400)
      if (Math.random() < 0.3) {
        pick(Object.values(clocks)).set(pick(times))
        counts.jumps++
      }
      const worker = pick(workers)
      if (!worker.isThere) continue
      if (Math.random() < 0.3) {
        await worker.killAndStart()
        counts.kills++
      } else {
        worker.signal('SIGSTOP')
        await letPass(leaseMs * (1 + Math.random()))
        worker.signal('SIGCONT')
        counts.stops++
      }
    }
  }

  await Promise.all([...workers.map(work), disturb()])

  const deaths = workers.flatMap((worker) => worker.deaths)
  const answers = { ok: 0, refused: 0, lost: 0 }
  let steps = 0
  const violations: unknown[] = []
  for (const id of all) {
    const calls = workers.flatMap((worker) => worker.calls.get(id) ?? [])
    for (const { answer } of calls) answers[answer === undefined ? 'lost' : answer.ok ? 'ok' : 'refused']++
    const verdict = checkHistory({ calls, deaths })
    steps += verdict.steps
    if (verdict.violation !== undefined) violations.push({ id, ...verdict.violation })
  }
  campaign.end({
    operations: asked,
    messages: all.length,
    done: answers.ok,
    refused: answers.refused,
    'without an answer': answers.lost,
    ...{ kills: counts.kills, 'stops longer than the lease': counts.stops, 'clock jumps': counts.jumps },
    'states searched': steps,
    violations: violations.length,
  })
  expect(violations).toEqual([])
  expect((await space.verify({ deep: true })).problems).toEqual([])
})
