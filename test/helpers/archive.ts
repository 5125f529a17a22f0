import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DiskSpace } from '../../src/space/space.ts'
import { readAll } from './drafts.ts'
import { tempJournal } from './temp.ts'

export const day = 86_400_000

/** The segments of the archive, by file name. */
export function archivedFiles(dir: string): string[] {
  try {
    return readdirSync(join(dir, 'archive'))
      .filter((file) => file !== 'lock')
      .sort()
  } catch {
    return []
  }
}

/** Every path below, with its size, its time and its inode: what changes when somebody touches anything. */
export function listingOf(dir: string): string[] {
  return (readdirSync(dir, { recursive: true }) as string[]).sort().map((file) => {
    const { size, mtimeMs, ino } = lstatSync(join(dir, file))
    return `${file} ${size} ${mtimeMs} ${ino}`
  })
}

/** Whatever can be asked of a space: all entries with their places, and what each agent is told. */
export async function everythingIn(space: DiskSpace, agents: readonly string[]) {
  // What is due is done, and opening a mailbox brings its agent back; then nothing changes any more.
  await space.runDue()
  const reader = await space.mailbox(agents[0]!)
  await space.runDue()
  const entries = await readAll(tempJournal({ dir: space.dir }))
  const messages = entries.flatMap(({ entry }) => (entry.kind === 'message' ? [entry.message.id] : []))
  const answers: unknown[] = []
  for (const name of agents) {
    const mailbox = await space.mailbox(name, { join: false })
    answers.push(
      await mailbox.inbox({ all: true, limit: 1_000 }),
      await mailbox.count(),
      await mailbox.sent({ limit: 1_000 }),
      await mailbox.search('body', { limit: 1_000 }),
      await mailbox.search('is:unread', { limit: 1_000 }),
    )
  }
  const threads = await Promise.all(messages.map((id) => reader.thread(id)))
  const ladders = await Promise.all(messages.map((id) => space.show(id)))
  return { entries, answers, threads, ladders, agents: await space.agents(), end: await space.lastSeq() }
}
