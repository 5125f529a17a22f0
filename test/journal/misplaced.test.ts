import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { appendMessage, messageDraft, subjectsIn } from '../helpers/drafts.ts'
import { patchFs } from '../helpers/fs-faults.ts'
import { runScript } from '../helpers/processes.ts'
import { segmentFile, verifyDir } from '../helpers/segments.ts'
import { tempDir, tempJournal, tempSpace } from '../helpers/temp.ts'

const rival = new URL('rival.mjs', import.meta.url)

/** The subjects of what a process that starts now finds. */
async function found(dir: string): Promise<string[]> {
  return subjectsIn(tempJournal({ dir }))
}

const misplaced = { code: 'damaged', message: expect.stringContaining('moved, replaced or deleted') }

describe.each(['disk', 'os'] as const)('with durability %s', (durability) => {
  it('a deleted segment is no place to store anything: the next message begins a new one', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir, durability })
    await appendMessage(journal, { subject: 'before' })
    rmSync(segmentFile(dir))
    await appendMessage(journal, { subject: 'after' })
    expect(await found(dir)).toEqual(['after'])
  })

  it('a moved segment is not written to, wherever it is', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir, durability })
    await appendMessage(journal, { subject: 'before' })
    const aside = join(dir, 'aside')
    renameSync(segmentFile(dir), aside)
    const bytes = readFileSync(aside)
    await appendMessage(journal, { subject: 'meanwhile' })
    expect(readFileSync(aside)).toEqual(bytes)
    expect(await found(dir)).toEqual(['meanwhile'])
  })

  it('a segment that was replaced by a copy is continued', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir, durability })
    await appendMessage(journal, { subject: 'before' })
    const copy = join(dir, 'copy')
    cpSync(segmentFile(dir), copy)
    renameSync(copy, segmentFile(dir))
    await appendMessage(journal, { subject: 'after' })
    expect(await found(dir)).toEqual(['before', 'after'])
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('a segment that goes after the write and before the answer takes the answer with it', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir, durability })
    await appendMessage(journal, { subject: 'before' })
    patchFs('writeSync', (real) => (...args) => {
      const written = (real as (...all: unknown[]) => unknown)(...args)
      rmSync(segmentFile(dir), { force: true })
      return written
    })
    await expect(appendMessage(journal, { subject: 'into nothing' })).rejects.toMatchObject(misplaced)
  })
})

describe('the files of a space', () => {
  it('that go while a send waits for the disk take the answer with them', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir, durability: 'disk' })
    await appendMessage(journal, { subject: 'before' })
    const several = Promise.allSettled([
      journal.append(() => {
        rmSync(segmentFile(dir))
        return []
      }),
      ...[1, 2, 3].map((n) => appendMessage(journal, { subject: `during ${n}` })),
    ])
    const [, ...sent] = await several
    expect(sent.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  })

  it('are refused while they are elsewhere, and used again when they are back', async () => {
    const root = tempDir()
    const dir = join(root, 'space')
    const space = await tempSpace({ dir })
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', subject: 'before' })
    renameSync(dir, join(root, 'elsewhere'))
    const files = () => readdirSync(root)
    await expect(ada.send({ to: 'ada', subject: 'into the moved' })).rejects.toMatchObject({
      code: 'damaged',
    })
    await expect(ada.count()).rejects.toMatchObject({ code: 'damaged' })
    expect(() => space.core.journal.mustBeInPlace()).toThrow(/is gone/)
    expect(files()).toEqual(['elsewhere'])
    renameSync(join(root, 'elsewhere'), dir)
    expect(() => space.core.journal.mustBeInPlace()).not.toThrow()
    await ada.send({ to: 'ada', subject: 'after' })
    const { messages } = await ada.inbox()
    expect(messages.map(({ subject }) => subject).sort()).toEqual(['after', 'before'])
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('are left alone when they belong to another space', async () => {
    const dir = join(tempDir(), 'space')
    const space = await tempSpace({ dir })
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'ada', subject: 'before' })
    rmSync(dir, { recursive: true })
    const other = await openDisk({ dir })
    await (await other.mailbox('bob')).send({ to: 'bob', subject: 'of the other' })
    const bytes = readFileSync(segmentFile(dir))
    for (const wanted of [() => ada.send({ to: 'ada', subject: 'x' }), () => ada.count(), () => ada.inbox()])
      await expect(wanted()).rejects.toMatchObject({ code: 'damaged' })
    expect(readFileSync(segmentFile(dir))).toEqual(bytes)
    expect(() => space.core.journal.mustBeInPlace()).toThrow(/another space/)
    expect(await (await other.mailbox('bob')).count()).toMatchObject({ unread: 1 })
    await other.close()
  })

  it('are left alone when they came back before this process wrote to those that stood in for them', async () => {
    const root = tempDir()
    const [dir, aside] = [join(root, 'space'), join(root, 'aside')]
    await appendMessage(tempJournal({ dir }), { subject: 'before' })
    renameSync(dir, aside)
    await appendMessage(tempJournal({ dir }), { subject: 'meanwhile' })
    const journal = tempJournal({ dir })
    renameSync(dir, join(root, 'stand-in'))
    renameSync(aside, dir)
    const bytes = readFileSync(segmentFile(dir))
    await expect(appendMessage(journal, { subject: 'after' })).rejects.toMatchObject({
      code: 'damaged',
      message: `${dir} is another space now`,
    })
    expect(readdirSync(join(dir, 'journal'))).toEqual(['00000001.jsonl'])
    expect(readFileSync(segmentFile(dir))).toEqual(bytes)
    expect(await found(dir)).toEqual(['before'])
  })

  it('are left alone when they come back between the lock and the first write', async () => {
    const root = tempDir()
    const [dir, aside] = [join(root, 'space'), join(root, 'aside')]
    await appendMessage(tempJournal({ dir }), { subject: 'before' })
    renameSync(dir, aside)
    await appendMessage(tempJournal({ dir }), { subject: 'meanwhile' })
    // It fills its segment, so the next message begins another, which those that come back do not have.
    const journal = tempJournal({ dir, segmentBytes: 1 })
    const swap = journal.append(() => {
      renameSync(dir, join(root, 'stand-in'))
      renameSync(aside, dir)
      return [messageDraft({ subject: 'after' })]
    })
    await expect(swap).rejects.toMatchObject({ code: 'damaged' })
    expect(await found(dir)).toEqual(['before'])
    expect((await verifyDir(dir)).problems).toEqual([])
  })

  it('are known to be gone when an empty directory is in their place', async () => {
    const dir = join(tempDir(), 'space')
    const space = await tempSpace({ dir })
    const ada = await space.mailbox('ada')
    rmSync(dir, { recursive: true })
    mkdirSync(join(dir, 'journal'), { recursive: true, mode: 0o700 })
    await expect(ada.send({ to: 'ada', subject: 'x' })).rejects.toMatchObject({ code: 'damaged' })
    expect(readdirSync(join(dir, 'journal'))).toEqual([])
  })
})

describe('a lock whose file was removed', () => {
  it('is not enough to write: the one in place is taken', async () => {
    const dir = tempDir()
    const journal = tempJournal({ dir })
    await appendMessage(journal, { subject: 'before' })
    rmSync(join(dir, 'lock'))
    const inside = journal.withLock(() => runScript(rival, [dir, 'inside', '200']).stdout)
    expect(inside).toBe('timeout\n')
    await appendMessage(journal, { subject: 'after' })
    expect((await verifyDir(dir)).problems).toEqual([])
  })
})
