import { randomUUID } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listIfAny } from '../../src/base/files.ts'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { readAll } from '../helpers/drafts.ts'
import { type Running, startProcess } from '../helpers/processes.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'
import { letPass, until } from '../helpers/wait.ts'

const deeds = campaignSize('files', 1_000, 6)
/** A space is left after so many. */
const deedsPerSpace = Math.min(10, deeds)

const cli = new URL('../../dist/cli.cjs', import.meta.url)
const sender = new URL('sender.mjs', import.meta.url)
const now = () => Number(process.hrtime.bigint())

/** A send as its caller saw it; times in nanoseconds. */
interface Send {
  began: number
  ended: number
  id?: string
  /** The code of the refusal. */
  code?: string
  by: 'hub' | 'writer'
}

/** Something done to the files, and the segments that were in place before it, still open. */
interface Deed {
  what: string
  began: number
  ended: number
  before: number[]
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!

/** A space with a hub and a writer that never stop sending, and somebody who does things to its files. */
class Scene {
  readonly dir: string
  readonly #home: string
  #hub: Running | undefined
  #writer: Running | undefined
  #writerLines = 0
  #hubSends: Promise<void> | undefined
  #stopped = false
  sends: Send[] = []
  deeds: Deed[] = []
  restarts = 0

  constructor() {
    this.#home = tempDir()
    this.dir = join(this.#home, 'space')
  }

  async start(): Promise<void> {
    await mkdir(this.dir, { mode: 0o700 })
    writeFileSync(
      join(this.dir, 'config.json'),
      '{"limits.ratePerMinute":0,"limits.inbox":0,"limits.threadMessages":0}',
    )
    this.#hubSends = this.#sendThroughHub()
    this.#startWriter()
    await until('both send', () => this.#sentBy('hub') && this.#sentBy('writer'))
  }

  #sentBy(by: Send['by']): boolean {
    this.#collect()
    return this.sends.some((send) => send.by === by && send.id !== undefined)
  }

  #startWriter(): void {
    this.#writerLines = 0
    this.#writer = startProcess(sender, [this.dir, 'writer'])
  }

  /** What the writer has said since. One that has ended is started again. */
  #collect(): void {
    const { lines } = this.#writer!
    for (; this.#writerLines < lines.length; this.#writerLines++)
      this.sends.push({ by: 'writer', ...(JSON.parse(lines[this.#writerLines]!) as Omit<Send, 'by'>) })
  }

  async #startHub(): Promise<{ url: string; token: string }> {
    const running = startProcess(cli, ['serve', '--port', '0', '--json', '--space', this.dir])
    this.#hub = running
    return JSON.parse(await running.line(/^\{"url"/)) as { url: string; token: string }
  }

  async #sendThroughHub(): Promise<void> {
    while (!this.#stopped) {
      try {
        const { url, token } = await this.#startHub()
        await this.#useHub(url, token)
      } catch (error) {
        this.#said('hub', now(), `gone: ${(error as Error).message} ${this.#hub?.stderr() ?? ''}`)
      }
      this.#hub?.kill('SIGKILL')
      await this.#hub?.exit
      this.restarts++
    }
  }

  /** Until the hub has refused everything for some seconds, or is gone. */
  async #useHub(url: string, token: string): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ to: 'user', subject: 'x' })
    for (let refusedSince = now(); !this.#stopped && now() - refusedSince < 3e9; ) {
      const began = now()
      const response = await fetch(`${url}/api/mailboxes/user/send`, { method: 'POST', headers, body })
      const answer = (await response.json()) as { id?: string; error?: { code: string } }
      if (answer.id !== undefined) {
        refusedSince = now()
        this.sends.push({ by: 'hub', began, ended: now(), id: answer.id })
      } else this.#said('hub', began, answer.error?.code ?? 'no code')
      // Only its log tells more of a defect.
      if (answer.error?.code === 'internal') this.#said('hub', began, `untyped ${this.#hubLog()}`)
      await letPass(1)
    }
  }

  #hubLog(): string {
    return `${this.#hub?.stderr() ?? ''}${this.#hub?.lines.join('\n') ?? ''}`.slice(-2_000)
  }

  #said(by: Send['by'], began: number, code: string): void {
    if (!this.#stopped) this.sends.push({ by, began, ended: now(), code })
  }

  /** Does something to the files at once, and keeps what was in place open, to see what was written there. */
  do(name: string, deed: () => void): void {
    let what = name
    // What is begun while we look is not seen here: it counts as written while the files changed hands.
    const began = now()
    const before = segmentsIn(this.dir).flatMap(openIfThere)
    try {
      deed()
    } catch (error) {
      // Whoever writes makes files while others are being removed: that much of it is done.
      what += ` (${(error as NodeJS.ErrnoException).code})`
    }
    this.deeds.push({ what, began, ended: now(), before })
  }

  path(...names: string[]): string {
    return join(this.#home, ...names)
  }

  /** Lets both send for a moment more, and then stand still, so that everything said is known. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#writer?.kill('SIGKILL')
    await this.#writer?.exit
    await this.#hubSends
    this.#collect()
  }
}

const segmentsIn = (dir: string): string[] =>
  listIfAny(join(dir, 'journal'))
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(dir, 'journal', name))

/** The writer may be moving to another segment. */
function openIfThere(path: string): number[] {
  try {
    return [openSync(path, 'r')]
  } catch {
    return []
  }
}

/** Unlinks, moves or replaces one of the files, or all of them. */
async function doSomething(scene: Scene): Promise<void> {
  const { dir } = scene
  const segment = segmentsIn(dir).at(-1) ?? dir
  const target = pick([segment, segment, join(dir, 'lock'), join(dir, 'index.db'), dir])
  if (!existsSync(target)) return
  const name = target === dir ? 'the space' : target.slice(dir.length + 1)
  const aside = scene.path(randomUUID())
  const how = pick(['rm', 'mv', 'mv and back', 'replace'] as const)
  if (how === 'rm') scene.do(`rm ${name}`, () => rmSync(target, { recursive: true, force: true }))
  else if (how === 'replace') {
    try {
      if (target === dir) cpSync(dir, aside, { recursive: true })
      else copyFileSync(target, aside)
    } catch {
      return // Something went away while it was copied.
    }
    scene.do(`replace ${name}`, () => putInPlace(aside, target, scene.path(randomUUID())))
  } else {
    scene.do(`mv ${name}`, () => renameSync(target, aside))
    if (how === 'mv') return
    await letPass(Math.random() * 150)
    scene.do(`mv ${name} back`, () => putInPlace(aside, target, scene.path(randomUUID())))
  }
}

function putInPlace(from: string, to: string, aside: string): void {
  // A directory is not renamed over another.
  if (existsSync(to) && fileIsDirectory(to)) renameSync(to, aside)
  renameSync(from, to)
}

function fileIsDirectory(path: string): boolean {
  const fd = openSync(path, 'r')
  try {
    return fstatSync(fd).isDirectory()
  } finally {
    closeSync(fd)
  }
}

function textOf(fd: number): string {
  const bytes = Buffer.alloc(fstatSync(fd).size)
  readSync(fd, bytes, 0, bytes.length, 0)
  return bytes.toString('latin1')
}

/** The ids of all messages that the library reads. */
async function idsIn(dir: string): Promise<Set<string>> {
  if (!existsSync(join(dir, 'journal'))) return new Set()
  const journal = new FileJournal({ dir })
  try {
    const found = await readAll(journal)
    return new Set(found.flatMap(({ entry }) => (entry.kind === 'message' ? [entry.message.id] : [])))
  } finally {
    await journal.close()
  }
}

/** What was acknowledged and is not where it should be. */
async function withoutRecord({ dir, sends, deeds: done }: Scene): Promise<string[]> {
  const inPlace = await idsIn(dir)
  const taken = done.map((deed) => ({ ...deed, text: deed.before.map(textOf).join('') }))
  const wrong: string[] = []
  for (const { id, began, ended, by } of sends) {
    if (id === undefined || inPlace.has(id)) continue
    // It was taken away after it was acknowledged, or while it was.
    if (taken.some((deed) => began < deed.ended && deed.text.includes(id))) continue
    // Answered while the files changed hands: nobody can say which came first.
    if (taken.some((deed) => began < deed.ended && ended > deed.began)) continue
    const last = taken.findLast((deed) => deed.ended < began)
    const where = taken.some(({ text }) => text.includes(id)) ? 'only in a file that was gone' : 'nowhere'
    const since =
      last === undefined ? '' : `, ${Math.round((began - last.ended) / 1e6)} ms after ${last.what}`
    wrong.push(`${by}: ${id} is ${where}${since}`)
  }
  for (const { before } of done) for (const fd of before) closeSync(fd)
  return wrong
}

const isUntyped = (code: string) => /^(internal|untyped|no code)|\n\s+at |"code":"internal"/.test(code)

it(
  `${deeds} times a file or the space is removed, moved or replaced: no acknowledgement without a record`,
  async () => {
    const campaign = new Campaign('files', deeds)
    const figures = {
      'files or spaces removed, moved or replaced': 0,
      'sends acknowledged': 0,
      'sends refused with a code': 0,
      'hub restarts': 0,
      'acknowledged without a record': 0,
      'untyped errors': 0,
    }
    const found: string[] = []
    while (figures['files or spaces removed, moved or replaced'] < deeds) {
      const scene = new Scene()
      await scene.start()
      // Nobody need make a space anew that was taken away: then there is nothing more to do to it.
      for (let idle = 0; scene.deeds.length < deedsPerSpace && idle < 40; ) {
        const before = scene.deeds.length
        await doSomething(scene)
        idle = scene.deeds.length > before ? 0 : idle + 1
        await letPass(20 + Math.random() * 150)
      }
      await scene.stop()
      const wrong = await withoutRecord(scene)
      found.push(...wrong)
      const refused = scene.sends.filter(({ code }) => code !== undefined)
      const untyped = refused.filter(({ code }) => isUntyped(code!))
      for (const { by, code } of untyped.slice(0, 5)) found.push(`${by}: ${code}`)
      figures['files or spaces removed, moved or replaced'] += scene.deeds.length
      figures['sends acknowledged'] += scene.sends.length - refused.length
      figures['sends refused with a code'] += refused.length - untyped.length
      figures['hub restarts'] += scene.restarts - 1
      figures['acknowledged without a record'] += wrong.length
      figures['untyped errors'] += untyped.length
      campaign.progress(figures['files or spaces removed, moved or replaced'], figures)
    }
    campaign.end(figures)
    expect(found.slice(0, 50)).toEqual([])
  },
  inStorm(7_200_000, 180_000),
)
