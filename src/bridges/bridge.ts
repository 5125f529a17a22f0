import { pause } from '../base/timers.ts'
import { type BridgedSpace, bridgedOnDisk } from '../space/bridged.ts'
import type { DiskSpace } from '../space/space.ts'
import { Folder } from './folder.ts'
import type { Format } from './format.ts'
import { Incoming } from './incoming.ts'
import { Lag } from './lag.ts'
import { LockHeld, mayPass } from './lock.ts'
import { Memory } from './memory.ts'
import { Outgoing } from './outgoing.ts'
import { type Direction, hostOf, noTally, type Parts, type Tally } from './parts.ts'
import type { Problem } from './problem.ts'
import { FolderWatch } from './watch.ts'

/** Everything is looked through this often, whatever the watches say. */
const sweepMs = 5_000
/** What has to wait is tried again after this long, and then less and less often. */
const againMs = 100
const againAtMostMs = 5_000

export interface BridgeOptions {
  space: DiskSpace | BridgedSpace
  format: Format
  /** The folder, with all links on the way to it resolved. */
  path: string
  /** Where the bridge keeps what it knows. `:memory:` forgets it. */
  memory: string
  direction?: Direction
  dry?: boolean
  /** How long `once` waits for files that are being written and for locks that are held. @default 10 s */
  patienceMs?: number
  /** Called once for everything that is left where it is. */
  onProblem?: (problem: Problem) => void
  /** Called after each look that changed something. */
  onChange?: (tally: Tally) => void
}

/**
 * A folder of another system and a space as two views of the same mail. Each side is read from where the last look
 * ended; a copy that is on both sides is known by its ids, so nothing is doubled however often a look is repeated, and
 * a bridge that is killed leaves nothing that the next look does not finish.
 */
export class Bridge {
  readonly tally: Tally = noTally()
  readonly #parts: Parts
  readonly #incoming: Incoming
  readonly #outgoing: Outgoing
  readonly #onChange: (tally: Tally) => void
  #isPending = false
  #ending: AbortSignal | undefined
  readonly #patienceMs: number
  readonly problems: Problem[] = []
  readonly lag: Lag

  constructor(options: BridgeOptions) {
    const { format, direction = 'both', dry = false, onProblem = () => {} } = options
    const space = 'core' in options.space ? bridgedOnDisk(options.space) : options.space
    const path = space.nameOf(options.path)
    const memory = new Memory(options.memory)
    this.lag = new Lag(space.now())
    const folder = new Folder(options.path, memory, space.now, hostOf(space))
    const report = ({ place, line, reason }: Problem) => {
      if (!memory.isNewProblem(JSON.stringify([place, line ?? 0, reason]))) return
      this.tally.problems++
      const problem = { place, reason, ...(line === undefined ? {} : { line }) }
      this.problems.push(problem)
      onProblem(problem)
    }
    const again = () => {
      this.#isPending = true
    }
    const lockPatienceMs = Math.min(options.patienceMs ?? 5_000, 5_000) / 2
    const isEnding = () => this.#ending?.aborted === true
    const changes = { tally: this.tally, report, again, isEnding, lockPatienceMs, lag: this.lag }
    this.#parts = { space, format, folder, memory, path, direction, dry, ...changes }
    this.#incoming = new Incoming(this.#parts)
    this.#outgoing = new Outgoing(this.#parts)
    this.#onChange = options.onChange ?? (() => {})
    this.#patienceMs = options.patienceMs ?? 10_000
  }

  /** One look at both sides. Returns whether anything changed. `due`: the directories to look into. */
  async look(due?: ReadonlySet<string>): Promise<boolean> {
    const { space, folder, direction, report, memory, path } = this.#parts
    this.#isPending = false
    const before = JSON.stringify(this.tally)
    await space.refresh()
    folder.begin(due)
    if (!folder.exists) {
      report({ place: path, reason: gone })
      this.#isPending = true
      return false
    }
    memory.forgetProblem(JSON.stringify([path, 0, gone]))
    // First what is ours there, so that it is not taken for theirs.
    await this.#outgoing.takeOut()
    if (direction !== 'out') await this.#incoming.takeIn()
    else for (const problem of folder.problems) if (problem.kind === 'problem') report(problem)
    this.#tend()
    if (folder.isUnsettled) this.#isPending = true
    const isChanged = JSON.stringify(this.tally) !== before
    if (isChanged) this.#onChange(this.tally)
    return isChanged
  }

  #tend(): void {
    const { format, folder, dry, direction, again, report } = this.#parts
    if (format.tend === undefined || dry || direction === 'in') return
    try {
      format.tend(folder)
    } catch (error) {
      if (!mayPass(error)) throw error
      again()
      if (!(error instanceof LockHeld)) report({ place: this.#parts.path, reason: (error as Error).message })
    }
  }

  /** Brings both sides up to date. */
  async once(signal?: AbortSignal): Promise<Tally> {
    const { format, folder, dry } = this.#parts
    if (dry || format.start === undefined) return this.#once(signal)
    // What lasts as long as a bridge runs lasts as long as this.
    format.start(folder, () => {})
    return this.#once(signal).finally(() => tryTo(() => format.leave?.(folder)))
  }

  async #once(signal: AbortSignal | undefined): Promise<Tally> {
    const { folder, dry } = this.#parts
    const until = performance.now() + this.#patienceMs
    for (;;) {
      const isChanged = await this.look()
      if (signal?.aborted) break
      if (isChanged && !dry) continue
      if (!this.#isPending || dry || performance.now() > until || !folder.exists) break
      await pause(againMs, signal ?? new AbortController().signal)
    }
    return this.tally
  }

  /** Keeps both sides the same until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { space, folder, format } = this.#parts
    this.#ending = signal
    let isRung = false
    let wake = () => {}
    const ring = () => {
      isRung = true
      wake()
    }
    const watch = new FolderWatch(folder.root, ring)
    const stopListening = space.onWake(ring)
    signal.addEventListener('abort', ring)
    format.start?.(folder, ring)
    let sweptAt = Number.NEGATIVE_INFINITY
    let tries = 0
    try {
      while (!signal.aborted) {
        isRung = false
        watch.set(folder.exists ? format.watched(folder) : [])
        const isSweep = performance.now() - sweptAt >= sweepMs || this.#isPending
        const due = watch.take()
        if (isSweep) sweptAt = performance.now()
        await this.look(isSweep ? undefined : due)
        tries = this.#isPending ? tries + 1 : 0
        const restMs = this.#isPending ? Math.min(againMs * tries, againAtMostMs) : sweepMs
        if (isRung) continue
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, restMs)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        wake = () => {}
      }
    } finally {
      if (folder.exists && this.#parts.direction !== 'in') tryTo(() => format.leave?.(folder))
      watch.close()
      stopListening()
      signal.removeEventListener('abort', ring)
    }
  }

  get linkCount(): number {
    return this.#parts.memory.linkCount()
  }

  close(): void {
    this.#parts.memory.close()
  }
}

function tryTo(work: () => void): void {
  try {
    work()
  } catch {
    // The next bridge finds what is left of this one.
  }
}

const gone = 'the folder is not there; nothing is lost, and the bridge goes on when it is back'
