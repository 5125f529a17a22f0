import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MailboxError } from '../base/errors.ts'
import { listIfAny, readFileIfAny, syncPathTo, writeFileAtomically } from '../base/files.ts'
import { decodeLine } from '../journal/codec.ts'
import { LineCopy } from '../journal/copy/line-copy.ts'
import { linkTo, originOf, unlink } from '../journal/copy/origin.ts'
import { type WholeLine, wholeLines } from '../journal/copy/whole-lines.ts'
import { WriterLock } from '../journal/file/lock.ts'
import { listArchived, listPlain, listSegments } from '../journal/file/segment.ts'
import { SegmentReader } from '../journal/file/segment-reader.ts'
import { isPostgresAddress, type PostgresAddress, parseAddress } from '../journal/postgres/address.ts'
import { packThere } from '../journal/postgres/archive.ts'
import { ServerClock } from '../journal/postgres/clock.ts'
import { Server } from '../journal/postgres/server.ts'
import { Store } from '../journal/postgres/store.ts'
import { Upload } from '../journal/postgres/upload.ts'
import { verifyDir } from './upkeep.ts'

export { mustHideNothing } from '../journal/postgres/address.ts'

export interface Moved {
  entries: number
  /** Where the space is now. */
  to: string
}

export interface MoveOptions {
  onProgress?: ((seq: number) => void) | undefined
}

/** Moves a space to a database or a directory: entry for entry, with its chain and its identity. */
export async function moveSpace(dir: string, to: string, options: MoveOptions = {}): Promise<Moved> {
  const from = originOf(dir, process.env)
  if (isPostgresAddress(to)) {
    const address = parseAddress(to)
    if (from !== undefined)
      throw new MailboxError('invalid', `this space is at ${from.shown} already`, {
        hint: 'move it to a directory first: mailbox move --to DIR',
      })
    return moveToDatabase(dir, address, options)
  }
  if (from === undefined)
    throw new MailboxError('invalid', 'this space is in a directory already', {
      hint: 'to rename it, use mv; to move it to a database: mailbox move --to postgres://USER@HOST/DATABASE?space=NAME',
    })
  return moveToDirectory(dir, from, resolve(to), options)
}

/** Files besides the journal that all machines share. */
function sharedFilesIn(dir: string): Map<string, string> {
  const templates = listIfAny(join(dir, 'templates')).map((name) => `templates/${name}`)
  const names = ['config.json', 'hub/agents.json', 'hub/webhook-secret', ...templates]
  return new Map(
    names.flatMap((name) => {
      const content = readFileIfAny(join(dir, name))
      return content === undefined ? [] : [[name, name === 'config.json' ? withoutMirror(content) : content]]
    }),
  )
}

/** A path of this machine means nothing to the others, and the database has copies of its own. */
function withoutMirror(config: string): string {
  const { 'journal.mirror': _, ...rest } = JSON.parse(config) as Record<string, unknown>
  return `${JSON.stringify(rest, null, 2)}\n`
}

async function moveToDatabase(
  dir: string,
  address: PostgresAddress,
  { onProgress }: MoveOptions,
): Promise<Moved> {
  const journal = join(dir, 'journal')
  const { problems } = await verifyDir(dir)
  if (problems.length > 0)
    throw new MailboxError('damaged', `this space is damaged: ${problems[0]}`, {
      hint: 'run `mailbox repair` first',
    })
  const id = spaceIdOf(journal)
  const server = new Server(address, new ServerClock())
  const lock = new WriterLock(join(dir, 'lock'))
  try {
    return await server.with(async (link) => {
      try {
        const upload = await Upload.begin(server, link, id)
        let end: WholeLine | undefined
        const pass = async () => {
          for (const line of wholeLines(journal, end?.seq)) {
            if (line.seq <= (end?.seq ?? 0)) continue
            await upload.add(line)
            end = line
            if (line.seq % 1_000 === 0) onProgress?.(line.seq)
          }
        }
        // Most of it while others can still write, and the rest while nobody can.
        await pass()
        for (;;) {
          const done = await lock.tryWith(async () => {
            await pass()
            await upload.finish(end!, listSegments(journal)[0]!, sharedFilesIn(dir))
            linkTo(address, dir)
            // Whoever has the space open notices that the lock is gone, and why.
            rmSync(join(dir, 'lock'), { force: true })
            return end!.seq
          })
          if (done !== undefined) {
            await packThereToo(server, journal).catch(() => {})
            return { entries: done.value, to: address.shown }
          }
          await sleep(5)
        }
      } catch (error) {
        await link.query('ROLLBACK').catch(() => {})
        throw error
      }
    })
  } finally {
    lock.close()
    await server.close()
  }
}

/** What is archived here is archived there as well. It is moved already, so nothing is lost if that fails. */
async function packThereToo(server: Server, journal: string): Promise<void> {
  const reader = new SegmentReader(journal, decodeLine)
  try {
    await server.find({ creates: false })
    const plain = new Set(listPlain(journal))
    for (const [segment, path] of listArchived(journal)) {
      const [first, next] = [reader.head(segment)?.seq, reader.head(segment + 1)?.seq]
      if (plain.has(segment) || first === undefined || next === undefined) continue
      await packThere(server, segment, basename(path), first, next - 1)
    }
  } finally {
    reader.close()
  }
}

function spaceIdOf(journal: string): string {
  for (const { text } of wholeLines(journal)) {
    const entry = JSON.parse(text) as { kind: string; space?: string }
    if (entry.kind === 'segment') return entry.space!
  }
  throw new MailboxError('not_found', `there is no space in ${journal}`, {
    hint: 'use another one with --space DIR',
  })
}

async function moveToDirectory(
  dir: string,
  from: PostgresAddress,
  to: string,
  { onProgress }: MoveOptions,
): Promise<Moved> {
  if (to !== resolve(dir) && existsSync(to) && readdirSync(to).length > 0)
    throw new MailboxError('conflict', `${to} is not empty`, {
      hint: 'name a directory that does not exist yet',
    })
  const store = new Store(new Server(from, new ServerClock()), new LineCopy(dir))
  try {
    if (!(await store.server.find({ creates: false })))
      throw new MailboxError('not_found', `there is no space at ${from.shown}`, { hint: 'check the address' })
    store.space = store.server.id
    store.onHead = () => onProgress?.(store.copy.end().seq)
    await store.pull({ strict: true })
    const place = `${to} on ${hostname()}`
    const seq = await store.moveAway(place, () => {
      if (to !== resolve(dir)) copySpace(dir, to)
      syncPathTo(join(to, 'journal'))
      return store.copy.end().seq
    })
    if (to === resolve(dir)) unlink(dir)
    return { entries: seq, to }
  } finally {
    await store.close()
  }
}

/** What makes a space, without what belongs to this machine's use of it. */
function copySpace(dir: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const name of ['journal', 'archive'])
    if (existsSync(join(dir, name))) cpSync(join(dir, name), join(to, name), { recursive: true })
  for (const [name, content] of sharedFilesIn(dir)) {
    mkdirSync(join(to, name, '..'), { recursive: true, mode: 0o700 })
    writeFileAtomically(join(to, name), content)
  }
}
