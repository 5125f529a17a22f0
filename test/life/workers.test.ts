import { describe, expect, it, onTestFinished } from 'vitest'
import type { Entry } from '../../src/mod.ts'
import { type Running, startProcess } from '../helpers/processes.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempSpace } from '../helpers/temp.ts'
import { letPass } from '../helpers/wait.ts'
import { byHand, journalOf } from './stage.ts'

const letters = inStorm(2_000, 100)
const crew = 8
const killEveryMs = 200
const settings = {
  durability: 'os',
  'limits.ratePerMinute': 0,
  'limits.inbox': 0,
  maxAttempts: 100,
} as const

interface Killed {
  name: string
  pid: number
  at: number
}

/** Keeps a crew at work, and ends one of them with kill -9 again and again. */
class Crew {
  readonly killed: Killed[] = []
  readonly #dir: string
  readonly #workers = new Map<string, Running>()
  #isOver = false

  constructor(dir: string) {
    this.#dir = dir
    for (let n = 0; n < crew; n++) this.#start(`worker-${n}`)
  }

  #start(name: string): void {
    const setup = JSON.stringify({ settings, workMs: 5 })
    this.#workers.set(name, startProcess(new URL('worker.mjs', import.meta.url), [this.#dir, name, setup]))
  }

  /** Kills one after the other, each in the midst of whatever it does, and starts it again. */
  async killOnAndOn(): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      // Longer and longer, so that it comes to an end on a slow machine as well.
      await letPass(killEveryMs * (1 + this.killed.length / 10))
      const name = `worker-${(turn * 3) % crew}`
      const victim = this.#workers.get(name)!
      if (this.#isOver || !victim.lines.includes('ready')) continue
      const at = Date.now()
      victim.kill('SIGKILL')
      await victim.exit
      this.killed.push({ name, pid: victim.process.pid!, at })
      this.#start(name)
    }
  }

  stopKilling(): void {
    this.#isOver = true
  }

  async goHome(): Promise<string> {
    for (const worker of this.#workers.values()) worker.tell('enough')
    const ends = [...this.#workers.values()].map(async (worker) => {
      const { code, signal } = await worker.exit
      return code === 0 ? '' : `${code ?? signal} ${worker.stderr()}`
    })
    return (await Promise.all(ends)).join('')
  }

  async end(): Promise<void> {
    this.stopKilling()
    for (const worker of this.#workers.values()) worker.kill('SIGKILL')
    await Promise.all([...this.#workers.values()].map(({ exit }) => exit))
  }
}

interface Found {
  claims: number
  completed: Map<string, number>
  deadLetters: number
  /** What must not be. */
  wrong: string[]
}

/** Plays the journal again and watches who has what. */
function replay(entries: readonly Entry[], killed: readonly Killed[]): Found {
  const runs = new Map<string, number | undefined>()
  const holders = new Map<string, { name: string; pid: number | undefined }>()
  const attempts = new Map<string, number>()
  const completed = new Map<string, number>()
  const wrong: string[] = []
  let claims = 0
  let deadLetters = 0
  const killOf = (pid: number | undefined) => killed.find((one) => one.pid === pid)
  for (const entry of entries) {
    if (entry.kind === 'agent') runs.set(entry.agent.name, entry.agent.session.pid)
    if (entry.kind !== 'receipt') continue
    for (const { id, box, state, attempts: counted } of entry.changes) {
      const holder = holders.get(id)
      if (entry.step === 'claimed') {
        claims++
        attempts.set(id, (attempts.get(id) ?? 0) + 1)
        if (holder !== undefined)
          wrong.push(`${entry.seq}: ${entry.by} claims what ${holder.name} (${holder.pid}) has`)
        if (counted !== attempts.get(id))
          wrong.push(`${entry.seq}: attempt ${attempts.get(id)} is counted as ${counted}`)
        holders.set(id, { name: box, pid: runs.get(box) })
      } else if (entry.step === 'completed') {
        completed.set(id, (completed.get(id) ?? 0) + 1)
        if (holder?.name !== entry.by || holder.pid !== runs.get(entry.by))
          wrong.push(`${entry.seq}: ${entry.by} completes what ${holder?.name ?? 'nobody'} has`)
        holders.delete(id)
      } else if (entry.step === 'released') {
        const kill = killOf(holder?.pid)
        // The clocks of the two processes agree to within a moment.
        if (kill === undefined || Date.parse(entry.at) < kill.at - 50)
          wrong.push(
            `${entry.seq}: ${holder?.name} (${holder?.pid}) lives and loses what it has: ${entry.note}`,
          )
        holders.delete(id)
      } else {
        if (state === 'dead') deadLetters++
        wrong.push(`${entry.seq}: ${entry.step} by ${entry.by}`)
      }
    }
  }
  return { claims, completed, deadLetters, wrong }
}

describe(`${crew} workers take ${letters} messages while one of them is killed every ${killEveryMs} ms`, () => {
  it('and every message is completed, never in the hands of two who live', { timeout: 180_000 }, async () => {
    const space = await tempSpace({ settings })
    const boss = await byHand(space, 'boss')
    // The role must be known before mail to it is more than a promise; nobody has to hold it yet.
    const sent = await Promise.all(
      Array.from({ length: letters }, (_, n) => boss.send({ to: 'role:worker', subject: `job ${n}` })),
    )
    const started = performance.now()
    const workers = new Crew(space.dir)
    onTestFinished(() => workers.end())
    const killing = workers.killOnAndOn()
    const left = new Set(sent.map(({ id }) => id))
    for await (const { entry } of space.follow()) {
      if (entry.kind === 'receipt' && entry.step === 'completed')
        for (const { id } of entry.changes) left.delete(id)
      if (left.size === 0) break
    }
    workers.stopKilling()
    await killing
    const seconds = (performance.now() - started) / 1_000
    expect(await workers.goHome()).toBe('')

    const { claims, completed, deadLetters, wrong } = replay(await journalOf(space), workers.killed)
    expect(wrong).toEqual([])
    expect(workers.killed.length).toBeGreaterThan(2)
    expect(completed.size).toBe(letters)
    expect(deadLetters).toBe(0)
    expect((await space.deadLetters()).letters).toEqual([])
    for (const { id } of sent.slice(0, 50)) {
      const { receipts } = await space.show(id)
      expect(receipts).toMatchObject([{ recipient: 'role:worker', state: 'archived' }])
    }
    expect((await space.verify({ deep: true })).problems).toEqual([])
    const twice = [...completed.values()].filter((times) => times > 1).length
    console.log(
      `${letters} messages, ${crew} workers, ${workers.killed.length} kills in ${seconds.toFixed(1)} s: ` +
        `${claims} attempts, ${claims - letters} redone, ${twice} completed twice, ${deadLetters} dead letters`,
    )
  })
})
