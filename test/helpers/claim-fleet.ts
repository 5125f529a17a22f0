import { existsSync, writeFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import type { Call, Death } from './claim-checker.ts'
import { type Running, startProcess } from './processes.ts'

const libraries = ['x86_64', 'aarch64'].map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`)

/**
 * Another wall clock than the machine's, which a test sets while the process runs. With the monotonic clock as well it
 * counts from the next start: no kernel lets that one jump, and timers do not survive it.
 */
export class WrongClock {
  readonly #path: string
  readonly #isMonotonicToo: boolean
  #time = '+0'

  constructor(path: string, isMonotonicToo: boolean) {
    this.#path = path
    this.#isMonotonicToo = isMonotonicToo
    this.set(this.#time)
  }

  /** By hours, days or years, such as `+3h`. */
  set(time: string): void {
    this.#time = time
    writeFileSync(this.#path, `${time}\n`)
  }

  readonly env = (): Record<string, string> => {
    const library = libraries.find((path) => existsSync(path))
    if (library === undefined) throw new Error(`no libfaketime in ${libraries.join(', ')}`)
    if (this.#isMonotonicToo) return { LD_PRELOAD: library, FAKETIME: this.#time }
    return {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#path,
      FAKETIME_CACHE_DURATION: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }
}

interface Answer {
  ok: boolean
  number?: number
  /** Whether a desk has done it. */
  isByDesk?: boolean
  code?: string
  message?: string
}

interface WorkerOptions {
  dir: string
  name: string
  agent: string
  leaseMs: number
  env?: () => Record<string, string>
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!

/** Mostly claims for whoever has none, and everything else for whoever has one or believes so. */
export function chooseFor(worker: Worker, id: string): Call['does'] {
  if (worker.claimOn(id) === undefined)
    return pick(['claim', 'claim', 'claim', 'claim', 'start', 'release', 'fail', 'done'])
  return pick(['claim', 'renew', 'renew', 'start', 'release', 'release', 'release', 'fail', 'done'])
}

/** One of the processes that claim: it is killed and stopped, and comes back under its name. */
export class Worker {
  readonly name: string
  readonly agent: string
  /** What it has been asked to do on each message, and when its agent had no process. */
  readonly calls = new Map<string, Call[]>()
  readonly deaths: Death[] = []
  readonly #dir: string
  readonly #leaseMs: number
  readonly #env: () => Record<string, string>
  readonly #script: URL
  /** The claims that its mailbox remembers. */
  readonly #known = new Map<string, number>()
  #running!: Running
  #asked = 0
  /** How often a desk has done what it was asked. */
  byDesk = 0
  isThere = false

  /** `script`: answers a line `N DOES ID NUMBER` with `answer N {"ok":…}`, like test/claims/worker.mjs. */
  constructor(script: URL, { dir, name, agent, leaseMs, env = () => ({}) }: WorkerOptions) {
    this.#script = script
    this.name = name
    this.agent = agent
    this.#dir = dir
    this.#leaseMs = leaseMs
    this.#env = env
    onTestFinished(() => this.end())
  }

  async end(): Promise<void> {
    this.isThere = false
    this.#running.kill('SIGKILL')
    await this.#running.exit
  }

  async start(): Promise<void> {
    this.#running = startProcess(this.#script, [this.#dir, this.agent, String(this.#leaseMs)], {
      env: this.#env(),
    })
    await this.#running.line('ready')
    this.#known.clear()
    this.isThere = true
  }

  signal = (signal: NodeJS.Signals): void => this.#running.kill(signal)

  async killAndStart(): Promise<void> {
    const from = performance.now()
    this.isThere = false
    this.#running.kill('SIGKILL')
    await this.#running.exit
    await this.start()
    this.deaths.push({ agent: this.agent, from, to: performance.now() })
  }

  claimOn = (id: string): number | undefined => this.#known.get(id)

  /** Asks it to do something, and notes what it was told. */
  async ask(does: Call['does'], id: string): Promise<Call> {
    const n = this.#asked++
    const acting = this.#known.get(id)
    const running = this.#running
    const call: Call = {
      ...{ process: this.name, agent: this.agent, does, acting },
      leaseMs: does === 'start' ? 1_000 : this.#leaseMs,
      ...{ calledAt: performance.now(), answeredAt: Number.POSITIVE_INFINITY, answer: undefined },
    }
    this.calls.set(id, [...(this.calls.get(id) ?? []), call])
    running.tell(`${n} ${does} ${id} ${acting ?? 0}`)
    const start = `answer ${n} `
    const line = await running.line(new RegExp(`^${start}`)).catch(() => undefined)
    running.lines.length = 0
    if (line === undefined) {
      if (this.isThere) throw new Error(`${this.name} ended by itself: ${running.stderr()}`)
      return call
    }
    call.answeredAt = performance.now()
    const { ok, number, isByDesk = false, code, message } = JSON.parse(line.slice(start.length)) as Answer
    // A process that is stopped while it holds a lock keeps the others waiting. What came of the call is not known.
    if (!ok && code === 'timeout') return call
    if (!ok && code !== 'conflict') throw new Error(`${this.name} ${does}: ${code}: ${message}`)
    if (isByDesk) this.byDesk++
    call.answer = ok ? { ok, number } : { ok }
    if (ok && does === 'done') this.#known.delete(id)
    else if (ok && number !== undefined) this.#known.set(id, number)
    return call
  }
}
