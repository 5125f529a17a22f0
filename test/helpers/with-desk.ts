import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { OpenSpaceOptions } from '../../src/space/api.ts'
import { DeskSide } from '../../src/space/desk/side.ts'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { type Running, startProcess } from './processes.ts'
import { skipTest } from './skip.ts'
import { letPass } from './wait.ts'

/**
 * The desk of the suites that can run with one, without one, and with one that is hurt: TEST_DESK.
 *   on    every space of a test has a desk in another process, and what a test sends goes through it
 *   hurt  the same, and that process is killed, stopped, continued and starved at random all the while
 *   off   no process is the desk or asks one (vitest.config.ts sets MAILBOX_DESK)
 * A space whose time a test moves has its desk in the process of the test, over a real socket, because no other process
 * shares that time: where others are hurt, it ends at random moments, and it is late.
 */
type DeskMode = 'on' | 'hurt' | 'off' | undefined

const deskMode = (): DeskMode => process.env['TEST_DESK'] as DeskMode
export const isWithDesk = (): boolean => deskMode() === 'on' || deskMode() === 'hurt'

/** How often things were done; a test looks here for what never came to pass. */
export const deskTally = { asked: 0, directly: 0, killed: 0, stopped: 0, starved: 0 }

type Told = Pick<Partial<OpenSpaceOptions>, 'settings'>

/** What is the desk of some spaces. */
class DeskProcess {
  readonly #env: Record<string, string>
  #running: Running | undefined
  #spaces = 0
  #idle: NodeJS.Timeout | undefined

  constructor(env: Record<string, string>) {
    this.#env = env
  }

  async open(dir: string, told: Told): Promise<void> {
    clearTimeout(this.#idle)
    this.#spaces++
    const script = deskMode() === 'hurt' ? 'desk-keeper.mjs' : 'desks.mjs'
    this.#running ??= startProcess(new URL(script, import.meta.url), [], { env: this.#env })
    this.#running.tell(JSON.stringify({ open: dir, ...told }))
    const line = await this.#running.line(ends('desk', 'failed', dir))
    if (line.startsWith('failed')) throw new Error(line)
  }

  async close(dir: string): Promise<void> {
    const running = this.#running!
    running.tell(JSON.stringify({ close: dir }))
    // One that is killed meanwhile has closed it as well, and the next does not open it.
    await Promise.race([running.line(ends('closed', 'failed', dir)), letPass(500)])
    // It would keep the process of the tests alive, and the next test is soon there.
    if (--this.#spaces === 0) this.#idle = setTimeout(() => this.#end(), 300)
  }

  #end(): void {
    const running = this.#running!
    this.#running = undefined
    for (const line of running.lines) if (line in deskTally) deskTally[line as keyof typeof deskTally]++
    running.process.stdin!.end()
  }
}

const ends = (one: string, other: string, dir: string): RegExp =>
  new RegExp(`^(${one}|${other}) ${dir.replace(/[^\w/]/g, '\\$&')}( |$)`)

/** The one for all spaces of this account: a desk signs with the keys of its account. */
const own = new DeskProcess({})

/** The spaces that have a desk, until the test is over, and what ends it. */
const withOne = new Map<string, () => Promise<void>>()

function keep(dir: string, end: () => Promise<void>): void {
  withOne.set(dir, end)
  onTestFinished(() => endDesk(dir))
}

/** Ends the desk of a space before the test is over. */
export async function endDesk(dir: string): Promise<void> {
  const end = withOne.get(dir)
  withOne.delete(dir)
  await end?.()
}

/** Gives a space of a test a desk, and has the test ask it whenever it sends. */
export async function withDesk(space: DiskSpace, options: Partial<OpenSpaceOptions>): Promise<void> {
  const { core, dir } = space
  if (!isWithDesk() || core.onlyLooks || core.journal.isElsewhere) return
  const { now, settings } = options
  if (!withOne.has(dir)) {
    if (now === undefined) {
      keep(dir, () => own.close(dir))
      await own.open(dir, settings === undefined ? {} : { settings })
    } else {
      const desk = new DeskHere(() => openDisk({ ...options, dir }))
      keep(dir, () => desk.close())
      await desk.open()
    }
  }
  // With the settings of no space it never becomes the desk itself.
  const side = new DeskSide(core, 'asks only')
  const send = side.send.bind(side)
  side.send = (name, input, direct) => {
    deskTally.asked++
    return send(name, input, (chosen) => {
      deskTally.directly++
      return direct(chosen)
    })
  }
  core.desk = side
  // Whoever finds somebody at the lock asks the desk.
  Object.defineProperty(core.journal, 'contendedAt', { get: () => Number.POSITIVE_INFINITY })
  side.takePart()
  // A desk with other settings is not for this process.
  for (let looks = 0; looks < 40 && !side.knowsDesk; looks++) await letPass(5)
}

/** A desk in this process, for a time that others do not have. */
class DeskHere {
  readonly #openSpace: () => Promise<DiskSpace>
  #space: DiskSpace | undefined
  #isOver = false
  #hurting: Promise<void> | undefined

  constructor(openSpace: () => Promise<DiskSpace>) {
    this.#openSpace = openSpace
  }

  async open(): Promise<void> {
    await this.#begin()
    if (deskMode() === 'hurt') this.#hurting = this.#hurt()
  }

  async #begin(): Promise<void> {
    const space = await this.#openSpace()
    this.#space = space
    const { core } = space
    const append = core.journal.append.bind(core.journal)
    core.journal.append = async (...words) => {
      if (deskMode() === 'hurt' && Math.random() < 0.1) {
        deskTally.starved++
        await letPass(Math.random() * 200)
      }
      return append(...words)
    }
    core.desk = new DeskSide(core, undefined)
    core.desk.takePart()
    while (!core.desk.isDesk) await letPass(2)
  }

  async #hurt(): Promise<void> {
    while (!this.#isOver) {
      await letPass(50 + Math.random() * 200)
      if (this.#isOver) return
      await this.#space!.close()
      deskTally.killed++
      if (!this.#isOver) await this.#begin()
    }
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#hurting
    await this.#space?.close()
  }
}

/** Gives the space of a command line a desk, once it is there. Its account has keys of its own, and so its desk is. */
export async function boxWithDesk(dir: string, home: string): Promise<void> {
  if (!isWithDesk() || withOne.has(dir) || !existsSync(join(dir, 'journal'))) return
  const desk = new DeskProcess({ HOME: home, XDG_CONFIG_HOME: '' })
  keep(dir, () => desk.close(dir))
  // Nobody can open a space that is out of order, which may be what the test is about.
  await desk.open(dir, {}).catch(() => {})
}

/** Skips a test that is about what happens where no other process has the space open. */
export function needAlone(): void {
  if (isWithDesk()) skipTest('needs a space that no other process has open')
}
