import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { segmentFile } from './segments.ts'
import { patientSettings, testSettings } from './temp.ts'

/**
 * A small space with some of everything in it, for damage to every bit of its files: messages to agents, roles and
 * tags, replies, receipts, claims, agents. Its journal is one segment of this size.
 */
const damageJournalBytes = 16_384

export const damageSettings = { ...testSettings, ...patientSettings }

export interface DamageSpace {
  dir: string
  /** The files of the space below `dir`, as they were before any damage. */
  files: ReadonlyMap<string, Buffer>
  /** Ids of the messages, in order. */
  ids: string[]
}

export const damageAgents = ['ada', 'bob', 'cyd'] as const

/** In memory where there is such a place: campaigns write it a hundred thousand times. */
export const memoryDir = (): string =>
  mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'mailbox-damage-'))

export async function buildDamageSpace(dir: string): Promise<DamageSpace> {
  const space = await openDisk({ dir, settings: damageSettings })
  const ids: string[] = []
  try {
    await fill(space, ids)
    await pad(space, ids)
    // The index is brought to the end of the journal.
    await space.stats()
  } finally {
    await space.close()
  }
  return { dir, files: filesIn(dir), ids }
}

async function fill(space: DiskSpace, ids: string[]): Promise<void> {
  await space.join('ada', { roles: ['architect'], tags: ['project:mail'] })
  await space.join('bob', { roles: ['builder'], tags: ['project:mail'] })
  await space.join('cyd', { roles: ['builder'] })
  const [ada, bob, cyd] = [await space.mailbox('ada'), await space.mailbox('bob'), await space.mailbox('cyd')]
  const sent = async (message: Promise<{ id: string }>) => {
    const { id } = await message
    ids.push(id)
    return id
  }
  const question = await sent(ada.send({ to: 'bob', subject: 'A question', body: 'Which way?' }))
  const task = await sent(ada.send({ to: 'role:builder', subject: 'A task', body: 'Build the bridge.' }))
  const other = await sent(ada.send({ to: 'role:builder', subject: 'Another task' }))
  await sent(bob.send({ to: 'project:mail', subject: 'News', body: 'It works.', priority: 'low' }))
  await sent(cyd.send({ to: ['ada', 'role:architect'], subject: 'A plan', requiresAck: true }))
  await bob.check()
  await sent(bob.reply(question, { body: 'This way.' }))
  await cyd.claim(other).catch(() => {})
  await bob.done(task).catch(() => cyd.done(task))
  await ada.check()
  await ada.ack(ids[4]!)
  await sent(cyd.send({ to: 'bob', subject: 'Unread and urgent', priority: 'urgent' }))
}

/** Messages until the journal has its size, the last one as long as it takes. */
async function pad(space: DiskSpace, ids: string[]): Promise<void> {
  const cyd = await space.mailbox('cyd')
  const size = () => readFileSync(segmentFile(space.dir)).length
  const send = async (body: string) => {
    const before = size()
    ids.push((await cyd.send({ to: 'ada', subject: 'Padding', body })).id)
    return size() - before
  }
  let line = await send('x')
  while (size() + 3 * line < damageJournalBytes) line = await send('x')
  await send('x'.repeat(damageJournalBytes - size() - line + 1))
  // The number may have grown by a digit.
  if (size() !== damageJournalBytes) throw new Error(`the journal has ${size()} bytes`)
}

function filesIn(dir: string): Map<string, Buffer> {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true })
  return new Map(
    names
      .filter((one) => one.isFile())
      .map((one) => {
        const path = join(one.parentPath, one.name)
        return [path.slice(dir.length + 1), readFileSync(path)]
      }),
  )
}

export interface LayOptions {
  /** Files to leave out. */
  without?: (name: string) => boolean
  /** Files with other content. */
  changed?: Record<string, Buffer>
}

/** Lays the space out anew, in a directory that may have the remains of the last time in it. */
export function layOut(
  { files }: DamageSpace,
  dir: string,
  { without = () => false, changed = {} }: LayOptions = {},
): void {
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(join(dir, 'journal'), { recursive: true, mode: 0o700 })
  for (const [name, content] of files) {
    if (!without(name)) writeFileSync(join(dir, name), changed[name] ?? content, { mode: 0o600 })
  }
}

export const isIndex = (name: string): boolean => name.startsWith('index')

export function flipped(bytes: Buffer, bit: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[bit >> 3]! ^= 1 << (bit & 7)
  return changed
}
