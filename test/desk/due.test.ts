import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { startCursor } from '../../src/journal/journal.ts'
import { systemAgent } from '../../src/model/agent.ts'
import type { Entry } from '../../src/model/entry.ts'
import type { Settings } from '../../src/model/settings.ts'
import { archivingState, keepArchiving } from '../../src/space/archiving.ts'
import { openDisk } from '../../src/space/open.ts'
import { writeSettings } from '../../src/space/settings.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { startScript } from '../helpers/processes.ts'
import { Sleeper } from '../helpers/sleeper.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

/**
 * What happened before, and the journal afterwards, in a space in which nobody reads: one process is its desk and is
 * asked nothing, and this one looks at the journal alone.
 */
async function leftAlone(
  settings: Partial<Settings>,
  before: (space: DiskSpace) => Promise<void>,
): Promise<{ entries: () => Entry[]; dir: string }> {
  const dir = tempDir()
  writeSettings(dir, { ...testSettings, ...settings })
  const space = await openDisk({ dir })
  await before(space)
  await space.close()
  const desk = startScript(new URL('../helpers/desk.mjs', import.meta.url), [dir])
  await desk.line('desk')
  const journal = new FileJournal({ dir })
  onTestFinished(() => journal.close())
  const entries = () => {
    const all: Entry[] = []
    for (let cursor = startCursor; ; ) {
      const read = journal.read(cursor)
      if (read.entries.length === 0) return all
      cursor = read.cursor
      all.push(...read.entries.map(({ entry }) => entry))
    }
  }
  return { dir, entries }
}

/** The steps that were taken with a message by the core, with their notes. */
const stepsWith = (entries: Entry[], id: string): string[] =>
  entries.flatMap((entry) =>
    entry.kind === 'receipt' && entry.by === systemAgent && entry.changes.some((change) => change.id === id)
      ? entry.step
      : [],
  )

/** What a sender is told. */
const noticesTo = (entries: Entry[], name: string) =>
  entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.from === systemAgent && entry.message.to.includes(name)
      ? entry.message
      : [],
  )

it('the death of an agent is recorded though nobody reads, its mail is dead, and its sender is told', async () => {
  const process = new Sleeper()
  let id = ''
  const { entries } = await leftAlone({ deadLetterAfterMs: 0 }, async (space) => {
    await space.join('ada', { session: { pid: process.pid } })
    id = (await (await space.mailbox('bob')).send({ to: 'ada', subject: 'Plan' })).id
  })
  expect(stepsWith(entries(), id)).toEqual([])
  await process.kill()
  await until('bob is told', () => noticesTo(entries(), 'bob').some(({ replyTo }) => replyTo === id))
  expect(stepsWith(entries(), id)).toEqual(['dead'])
  expect(
    entries().flatMap((entry) => (entry.kind === 'agent' && entry.change === 'died' ? entry.agent.name : [])),
  ).toEqual(['ada'])
})

it('a claim ends with its lease though nobody reads', async () => {
  let id = ''
  const { entries } = await leftAlone({}, async (space) => {
    const ada = await space.mailbox('ada', { join: { roles: ['r'] } })
    id = (await (await space.mailbox('bob')).send({ to: 'role:r' })).id
    await ada.claim(id, { ttlMs: 1_000 })
  })
  await until('the claim is over', () => stepsWith(entries(), id).includes('released'))
})

it('mail whose ack does not come is unread again though nobody reads', async () => {
  let id = ''
  const { entries } = await leftAlone({ ackTimeoutMs: 1_000 }, async (space) => {
    const ada = await space.mailbox('ada')
    id = (await (await space.mailbox('bob')).send({ to: 'ada', requiresAck: true })).id
    await ada.check()
  })
  await until('it is unread again', () => stepsWith(entries(), id).includes('repeated'))
})

it('mail that nobody read in its life is dead though nobody reads, and its sender is told', async () => {
  let id = ''
  const { entries } = await leftAlone({}, async (space) => {
    await space.join('ada')
    id = (await (await space.mailbox('bob')).send({ to: 'ada', ttlMs: 1_000 })).id
  })
  await until('bob is told', () => noticesTo(entries(), 'bob').some(({ replyTo }) => replyTo === id))
  expect(stepsWith(entries(), id)).toEqual(['expired'])
})

it('old files are archived when that is due, and not at some time later', async () => {
  const dir = tempDir()
  writeSettings(dir, { ...testSettings, 'retention.segmentEntries': 5, 'retention.gzipAfterDays': 1 })
  const old = await openDisk({ dir, now: () => Date.now() - 3 * 86_400_000 })
  await old.join('ada')
  for (let n = 0; n < 20; n++) await (await old.mailbox('bob')).send({ to: 'ada', subject: `${n}` })
  await old.close()
  const space = await openDisk({ dir })
  onTestFinished(() => space.close())
  // A run is due in a second.
  const nothing = { compressed: 0, bytes: 0, compressedBytes: 0, removed: 0 }
  const last = { at: space.core.now() - 86_400_000 + 1_000, ...nothing }
  writeFileSync(join(dir, 'archiving.json'), JSON.stringify({ last }))
  void keepArchiving(space.core)
  await until('old files are archived', () => archivingState(dir)?.lastDone !== undefined)
  expect(archivingState(dir)!.lastDone!.compressed).toBeGreaterThan(0)
})
