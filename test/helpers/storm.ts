import { appendFileSync, mkdirSync, writeSync } from 'node:fs'
import { availableParallelism, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

/** The campaign of `npm run storm` that is running; empty in `npm test`. */
const running = process.env['STORM'] ?? ''

/** Whether this is `npm run storm`, which has the time for the long version of a test. */
export const isStorm = running !== ''

/** The long version's figure or the one of `npm test`. */
export const inStorm = <T>(long: T, usual: T): T => (isStorm ? long : usual)

/**
 * How much a campaign does: all of it under `npm run storm -- --NAME`, as much as `--NAME=COUNT` says, and
 * otherwise a sample that `npm test` has the time for.
 */
export function campaignSize(name: string, full: number, sample: number): number {
  if (running !== name) return sample
  return Number(process.env['STORM_COUNT'] ?? full)
}

const output = fileURLToPath(new URL('../../test-output/', import.meta.url))
const shownEveryMs = 10_000

/** What a campaign found, by what was counted, in the order of the report. */
type Figures = Record<string, number>

/** A run of a campaign: shows how far it is, and keeps its figures for `npm run storm -- --report`. */
export class Campaign {
  readonly #name: string
  readonly #size: number
  readonly #full: boolean
  readonly #part: string
  readonly #started = performance.now()
  #shownAt = performance.now()

  /** `part`: which of several that run at the same time. The report adds them up, and those of several runs. */
  constructor(name: string, size: number, part = '') {
    this.#name = name
    this.#part = [part, process.env['STORM_PART'] ?? ''].filter(Boolean).join(' ')
    this.#size = size
    this.#full = running === name && process.env['STORM_COUNT'] === undefined
  }

  /** Called as often as one likes; now and then it prints a line. */
  progress(done: number, figures: Figures = {}): void {
    if (running !== this.#name || performance.now() - this.#shownAt < shownEveryMs) return
    this.#shownAt = performance.now()
    const seconds = Math.round((performance.now() - this.#started) / 1_000)
    writeSync(2, `${this.#name}: ${done} of ${this.#size}, ${seconds} s; ${wordsFor(figures)}\n`)
  }

  /** Prints the figures; those of a storm are kept. */
  end(figures: Figures): void {
    console.log(`${this.#name}: ${wordsFor(figures)}`)
    if (running !== this.#name) return
    const seconds = Math.round((performance.now() - this.#started) / 1_000)
    const run = {
      campaign: this.#name,
      part: this.#part,
      run: process.env['STORM_PART'] ?? '',
      at: new Date().toISOString(),
      full: this.#full,
      seconds,
      figures,
    }
    mkdirSync(output, { recursive: true })
    appendFileSync(`${output}storm.jsonl`, `${JSON.stringify({ ...run, machine: machineKind() })}\n`)
  }
}

const wordsFor = (figures: Figures): string =>
  Object.entries(figures)
    .map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
    .join(', ')

/** The kind of machine, as far as it matters to the figures. */
function machineKind(): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const system = `${process.platform} ${release().split('.').slice(0, 2).join('.')}`
  return `${availableParallelism()} cores, ${memory}, ${system}, Node ${process.versions.node}`
}
