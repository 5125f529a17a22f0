import { existsSync, mkdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../base/files.ts'
import { bootId, identifyByProc, startTimeOf } from '../../base/process.ts'
import { deskDir } from '../../desk/place.ts'
import type { Entry } from '../../model/entry.ts'
import { priorities } from '../../model/message.ts'
import { nameToFile } from '../../model/name.ts'
import { count } from '../../query/count.ts'
import type { SpaceCore } from '../core.ts'
import { requireKnown } from '../mailbox/looking.ts'
import { concerns } from './concerns.ts'

/** What a hook needs to know that nothing has changed: `hook.sh` compares these with what it finds. */
export interface BellState {
  /** What `desk/current` says while the bells are true. */
  token: string
  /** The agent's file in `desk/bells`, and its line. */
  file: string
  line: string
}

const currentPath = (space: string): string => join(deskDir(space), 'current')
const bellsDir = (space: string): string => join(deskDir(space), 'bells')

/** Called by whoever writes and is not the desk, with the right to append: from now on the bells may be wrong. */
export function doubtBells(space: string): void {
  const path = currentPath(space)
  if (!existsSync(path)) return
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/**
 * A bell for each agent whose hooks have asked for one: the file `desk/bells/NAME` with the seq of the last entry that
 * concerned its mail, how much is unread and the most urgent priority. It changes before such an entry is written.
 *
 * `desk/current` is there only while every bell is true for the end of the journal. Whoever else writes removes it
 * first, and the desk puts it back when it has read what was written. Both hold the journal's lock meanwhile, so no
 * process has to be alive for it to be right. Its text names the desk and the boot: what a power failure brings back
 * is that of another.
 */
export class Bells {
  readonly #core: SpaceCore
  readonly #token =
    `${bootId() ?? ''}-${process.pid}-${startTimeOf(identifyByProc(process.pid))}-${performance.now()}`
  /** The agents that have one, and whether it says just now that something has changed. */
  readonly #rung = new Map<string, boolean>()
  /** The bells are true up to this entry; undefined if that is not known. */
  #seq: number | undefined
  readonly #stop: () => void
  #timer: NodeJS.Timeout | undefined
  #filling: NodeJS.Timeout | undefined

  constructor(core: SpaceCore) {
    this.#core = core
    mkdirSync(bellsDir(core.dir), { recursive: true, mode: 0o700 })
    doubtBells(core.dir)
    this.#stop = core.journal.onWake(() => this.#lookSoon())
  }

  close(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#filling)
    this.#stop()
  }

  /** The desk is about to write these entries. */
  before(entries: readonly Entry[]): void {
    if (this.#rung.size === 0) return
    if (entries[0]?.seq !== (this.#seq ?? Number.NaN) + 1) {
      // Others have written, or something could not be written.
      doubtBells(this.#core.dir)
      this.#seq = undefined
      return
    }
    for (const entry of entries) this.#ringFor(entry)
    this.#seq = entries.at(-1)!.seq
  }

  #ringFor(entry: Entry): void {
    for (const [name, isRung] of this.#rung) {
      const agent = this.#core.agents.get(name)
      if (!isRung && (agent === undefined || concerns(entry, agent))) this.#ring(name, entry.seq)
    }
  }

  #ring(name: string, seq: number): void {
    this.#rung.set(name, true)
    this.#write(name, `${seq} ? ?`)
    this.#filling ??= setTimeout(() => void this.#fill().catch(() => {}), fillMs).unref()
  }

  /** Says how much there is, when there is time to count. */
  async #fill(): Promise<void> {
    this.#filling = undefined
    for (const [name, isRung] of this.#rung) if (isRung) await this.of(name)
  }

  #write(name: string, line: string): void {
    writeFileAtomically(join(bellsDir(this.#core.dir), nameToFile(name)), `${line}\n`, { expendable: true })
  }

  /** Somebody has written. While nobody else does, there is nothing to look for. */
  #lookSoon(): void {
    if (this.#rung.size === 0 || existsSync(currentPath(this.#core.dir))) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#look().catch(() => {}) // The next who asks for a bell tries again.
    }, settleMs).unref()
  }

  /** Reads what others have written, rings for it, and says that the bells are true. */
  async #look(): Promise<void> {
    const core = this.#core
    await core.whileStill((end) => {
      if (this.#seq === undefined) for (const name of this.#rung.keys()) this.#ring(name, end)
      else for (const entry of entriesAfter(core, this.#seq)) this.#ringFor(entry)
      this.#seq = end
      const path = currentPath(core.dir)
      if (!existsSync(path)) writeFileAtomically(path, `${this.#token}\n`, { expendable: true })
    })
  }

  /** The bell of an agent as it is now. Whatever concerns its mail from now on changes it. */
  async of(name: string): Promise<BellState> {
    if (!this.#rung.has(name)) this.#rung.set(name, true)
    await this.#look()
    const seq = this.#seq ?? 0
    this.#rung.set(name, false)
    const { unread, byPriority } = await this.#core.query((source) =>
      count(source, requireKnown(source, name), this.#core.now()),
    )
    const worst = [...priorities].reverse().find((priority) => byPriority[priority] > 0) ?? '-'
    const line = `${seq} ${unread} ${worst}`
    // Something may have come meanwhile: then it has rung, and says so.
    if (!this.#rung.get(name)) this.#write(name, line)
    return { token: this.#token, file: nameToFile(name), line }
  }
}

/** How long to wait for others to be done with writing, and before what has come is counted. */
const settleMs = 5
const fillMs = 500

function* entriesAfter({ journal }: SpaceCore, seq: number): Generator<Entry> {
  for (let cursor = journal.locate(seq); ; ) {
    const read = journal.read(cursor)
    for (const { entry } of read.entries) if (entry.seq > seq) yield entry
    if (read.entries.length === 0) return
    cursor = read.cursor
  }
}
