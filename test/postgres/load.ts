import { expect, onTestFinished } from 'vitest'
import { openSpace } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { type Call, checkHistory, type Death } from '../helpers/claim-checker.ts'
import { type Running, startScript } from '../helpers/processes.ts'
import { rowsOf } from '../helpers/rows.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

const script = new URL('worker.mjs', import.meta.url)

/** A copy of its own, and a way to the database that can be cut. */
export interface Machine {
  dir: string
  proxy: BreakingProxy
  url: string
}

/** What a process is told to open: an address, and a directory or a token. */
interface Place {
  url: string
  where: string
}

interface Seat {
  name: string
  place: Place
  worker: Running
}

/** Processes that send and claim on several machines while a test breaks things, and the check of what came of it. */
export class Load {
  readonly machines: Machine[] = []
  readonly seats: Seat[] = []
  readonly #all: { agent: string; worker: Running }[] = []
  readonly #deaths: Death[] = []
  readonly #ends: (() => Promise<void>)[] = []

  static async on(port: number, machines: number, each: number): Promise<Load> {
    const load = new Load()
    for (let n = 0; n < machines; n++) {
      const proxy = await BreakingProxy.to(port)
      const url = `postgres://tester@127.0.0.1:${proxy.port}/postgres?space=storm&timeout=4&connect_timeout=2`
      load.machines.push({ dir: tempDir(), proxy, url })
    }
    for (const [m, { url, dir }] of load.machines.entries())
      for (let n = 0; n < each; n++) load.add(`m${m}w${n}`, { url, where: dir })
    await load.ready()
    return load
  }

  /** Runs when all processes have ended, before anything is compared. */
  beforeCheck(work: () => Promise<void>): void {
    this.#ends.push(work)
  }

  add(name: string, place: Place): void {
    this.seats.push({ name, place, worker: this.#start(name, place) })
  }

  #start(name: string, { url, where }: Place): Running {
    const worker = startScript(script, [name, url, where])
    this.#all.push({ agent: name, worker })
    return worker
  }

  async ready(): Promise<void> {
    await Promise.all(this.seats.map(({ worker }) => worker.line('ready')))
  }

  /** Kills a writer, and lets another take its place. */
  killWriter(at: number): void {
    const seat = this.seats[at % this.seats.length]!
    const death = { agent: seat.name, from: Date.now(), to: Number.POSITIVE_INFINITY }
    this.#deaths.push(death)
    seat.worker.kill('SIGKILL')
    seat.worker = this.#start(seat.name, seat.place)
    void seat.worker.line('ready').then(
      () => (death.to = Date.now()),
      () => {},
    )
  }

  /** What all processes have said, by the first word of the line. */
  said(word: string): string[] {
    return this.#all.flatMap(({ worker }) => wordsOf(worker, word))
  }

  /** Something gets through. */
  async goesOn(): Promise<void> {
    const before = this.said('sent').length
    await expect
      .poll(() => this.said('sent').length, { timeout: 120_000, interval: 20 })
      .toBeGreaterThan(before + 3)
  }

  /** Ends all, and checks that every machine has the same, and that it is what the processes were told. */
  async check(): Promise<Record<string, number>> {
    for (const { worker } of this.seats) worker.process.stdin!.end()
    await Promise.all(this.seats.map(({ worker }) => worker.line('over')))
    for (const stop of this.#ends) await stop()
    expect(this.said('trouble')).toEqual([])
    const spaces = await Promise.all(
      this.machines.map(async ({ url, dir }) => (await openSpace({ url, dir })) as DiskSpace),
    )
    for (const space of spaces) onTestFinished(() => space.close())
    const stored = await sameOnAll(spaces)
    const times = new Map<string, number>()
    for (const subject of stored) times.set(subject, (times.get(subject) ?? 0) + 1)
    expect([...times].filter(([, count]) => count > 1)).toEqual([])
    expect(this.said('sent').filter((subject) => !times.has(subject))).toEqual([])
    expect(this.said('refused').filter((subject) => times.has(subject))).toEqual([])
    const calls = this.#calls()
    const violations = [...calls.values()].flatMap(
      (of) => checkHistory({ calls: of, deaths: this.#deaths }).violation ?? [],
    )
    expect(violations).toEqual([])
    return {
      processes: this.#all.length,
      'messages acknowledged': this.said('sent').length,
      'with unknown outcome': this.said('open').length,
      'lost or doubled': 0,
      'calls on claims': [...calls.values()].reduce((sum, of) => sum + of.length, 0),
      'claims with two holders': violations.length,
      'entries the same on all machines': await spaces[0]!.lastSeq(),
    }
  }

  /** The calls about each message. */
  #calls(): Map<string, Call[]> {
    const found = new Map<string, Call[]>()
    for (const { agent, worker } of this.#all) {
      const answers = new Map(wordsOf(worker, 'answer').map(numbered))
      for (const [n, told] of wordsOf(worker, 'call').map(numbered)) {
        const { id, ...call } = told as Omit<Call, 'answer' | 'answeredAt'> & { id: string }
        const { answeredAt = Number.POSITIVE_INFINITY, ...answer } = (answers.get(n) ?? {}) as {
          answeredAt?: number
        } & Call['answer']
        const process = `${agent} ${worker.process.pid}`
        const whole = { ...call, agent, process, answeredAt, answer: answers.has(n) ? answer : undefined }
        found.set(id, [...(found.get(id) ?? []), whole as Call])
      }
    }
    return found
  }
}

const wordsOf = ({ lines }: Running, word: string): string[] =>
  lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))

function numbered(line: string): [string, object] {
  const end = line.indexOf(' ')
  return [line.slice(0, end), JSON.parse(line.slice(end + 1)) as object]
}

/** Every machine has the same entries and the same rows. Returns the subjects of the messages, in order. */
async function sameOnAll(spaces: readonly DiskSpace[]): Promise<string[]> {
  await until('all are at the same end', async () => {
    const ends = await Promise.all(spaces.map((space) => space.lastSeq()))
    return new Set(ends).size === 1
  })
  const journals = await Promise.all(
    spaces.map(async (space) => {
      const entries = []
      for await (const { entry } of space.entries(0)) entries.push(entry)
      return entries
    }),
  )
  for (const other of journals) expect(other).toEqual(journals[0])
  const rows = spaces.map(({ dir }) => rowsOf(dir))
  for (const other of rows) expect(other).toEqual(rows[0])
  for (const space of spaces) expect((await space.verify({ deep: true })).problems).toEqual([])
  return journals[0]!.flatMap((entry) =>
    entry.kind === 'message' && entry.message.from !== 'system' ? [entry.message.subject ?? ''] : [],
  )
}
