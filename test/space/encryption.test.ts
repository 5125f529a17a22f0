import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { fence } from '../../src/conversation/fence.ts'
import { exportKey, restoreKey, revokeKey, rotateKey, shareKey } from '../../src/space/keys.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { verifyDir } from '../../src/space/upkeep.ts'
import { readAs } from '../../src/space/vault.ts'
import { linesIn, withOwnSum, writeLines } from '../helpers/segments.ts'
import { needFiles, tempDir, tempSpace } from '../helpers/temp.ts'

/** The home of an account, where its keys are. */
function useHome(home = tempDir()): string {
  vi.stubEnv('XDG_CONFIG_HOME', home)
  return home
}

beforeEach(() => {
  useHome()
  onTestFinished(() => void vi.unstubAllEnvs())
})

const encrypted = { settings: { encrypt: 'space' } } as const

/** Every byte of the files of a space. */
const bytesOf = (dir: string): string =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((file) => join(dir, file))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')

const words = ['zebra', 'quagga', 'okapi', 'tapir', 'gnu', 'ibex']

/** Says each of the words in another field. */
const secret = {
  ...{ subject: 'zebra', body: 'the quagga', payload: { okapi: 1 }, context: { tapir: ['x'] } },
} as const

/** A copy of the space in which this process runs inside the client of an agent. */
async function insideClientOf(space: DiskSpace, name: string): Promise<DiskSpace> {
  const dir = tempDir()
  cpSync(join(space.dir, 'journal'), join(dir, 'journal'), { recursive: true })
  const copy = await tempSpace({ dir, settings: space.settings })
  await copy.join(name, { session: { pid: process.ppid, client: 'claude' } })
  return copy
}

async function linesOf(space: DiskSpace): Promise<object[]> {
  const lines: object[] = []
  for await (const line of space.exportLines()) lines.push(line)
  return lines
}

describe('an encrypted space', () => {
  it('has no word of a message in its files, and gives all of them to who reads it', async () => {
    const space = await tempSpace(encrypted)
    const ada = await space.mailbox('ada')
    const bob = await space.mailbox('bob')
    const sent = await ada.send({ to: 'bob', ...secret, tags: ['topic'], requiresAck: true })
    expect(sent).toMatchObject({ ...secret, encrypted: 'space' })
    const { messages } = await bob.check()
    expect(messages).toMatchObject([{ ...secret, tags: ['topic'], encrypted: 'space', signature: 'signed' }])
    await bob.fail(sent.id, { reason: 'a gnu' })
    const { receipts } = await ada.show(sent.id)
    expect(receipts[0]!.steps.at(-1)).toMatchObject({ state: 'failed', note: 'a gnu' })
    // The index of words is there as well.
    expect((await ada.search('quagga')).messages).toMatchObject([{ id: sent.id }])
    expect((await ada.search('nothing')).messages).toEqual([])
    expect((await ada.search('-zebra')).messages).toEqual([])
    const files = bytesOf(space.dir)
    expect(files).toContain(sent.id)
    for (const word of words) expect(files).not.toContain(word)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('is the same after a restart, a rebuild and without a key, but for the text', async () => {
    const space = await tempSpace(encrypted)
    const ada = await space.mailbox('ada')
    await space.mailbox('bob')
    const task = {
      type: 'task_assignment',
      payload: { taskId: 'T-1', withinMs: 60_000, okapi: 'x' },
    } as const
    const { id } = await ada.send({ to: 'bob', ...secret, ...task })
    await space.close()
    useHome()
    const elsewhere = await tempSpace({ ...encrypted, dir: space.dir })
    const { message } = await elsewhere.show(id)
    expect(message).toMatchObject({ subject: '(encrypted)', encrypted: 'space', locked: true })
    expect(message.body).toBe('Encrypted for the members of this space; you have no key for it.')
    expect(message.payload).toEqual({ taskId: 'T-1', withinMs: 60_000 })
    expect(fence(message)).toContain('you have no key for it')
    expect(await elsewhere.owed()).toMatchObject([{ kind: 'task' }])
    await elsewhere.rebuild()
    expect((await elsewhere.verify({ deep: true })).problems).toEqual([])
    const outsider = await elsewhere.mailbox('bob')
    expect((await outsider.check()).messages).toMatchObject([{ id, locked: true }])
    expect((await outsider.search('quagga')).messages).toEqual([])
    await expect(outsider.send({ to: 'ada', body: 'hi' })).rejects.toMatchObject({
      code: 'not_permitted',
      message: 'this space is encrypted, and user has no key to it here',
    })
  })

  it('gives the key to who joins, and not to whose own key was revoked', async () => {
    const space = await tempSpace(encrypted)
    const ada = await space.mailbox('ada')
    const eve = await space.mailbox('eve')
    await eve.send({ to: 'ada', body: 'hello' })
    const before = await ada.send({ to: 'eve', body: 'before' })
    await revokeKey(space.core, 'eve')
    const after = await ada.send({ to: 'eve', body: 'after' })
    // What runs inside the client of eve reads with her keys alone.
    const inside = await insideClientOf(space, 'eve')
    expect((await inside.show(before.id)).message).toMatchObject({ body: 'before' })
    expect((await inside.show(after.id)).message).toMatchObject({ locked: true })
    await rotateKey(space.core, 'eve')
    const last = await ada.send({ to: 'eve', body: 'last' })
    const again = await insideClientOf(space, 'eve')
    expect((await again.show(last.id)).message).toMatchObject({ body: 'last' })
    expect((await again.show(before.id)).message).toMatchObject({ body: 'before' })
    const late = await space.mailbox('late')
    expect((await late.thread(last.id)).map(({ body }) => body)).toEqual(['last'])
  })

  it('goes on with its key in the next process, and with the copy on paper after the home is lost', async () => {
    const space = await tempSpace(encrypted)
    const { id } = await (await space.mailbox('ada')).send({ to: 'user', body: 'the quagga' })
    await rotateKey(space.core, 'user').catch(() => {})
    const paper = JSON.stringify(await exportKey(space.core, 'user', 'user'))
    await space.close()
    useHome()
    const lost = await tempSpace({ dir: space.dir, ...encrypted })
    expect((await lost.show(id)).message).toMatchObject({ locked: true })
    await restoreKey(lost.core, 'user', paper)
    const found = await tempSpace({ dir: space.dir, ...encrypted })
    expect((await found.show(id)).message).toMatchObject({ body: 'the quagga' })
    await (await found.mailbox('user')).send({ to: 'ada', body: 'here' })
  })

  it('lets in an agent of another account once its key is shared', async () => {
    const home = useHome()
    const space = await tempSpace()
    await space.mailbox('ada')
    const abroad = useHome()
    const other = await tempSpace({ dir: space.dir })
    // Its first message says which key is its own.
    await (await other.mailbox('carol')).send({ to: 'ada', body: 'hello' })
    await other.close()
    useHome(home)
    const here = await tempSpace({ dir: space.dir, ...encrypted })
    const { id } = await (await here.mailbox('ada')).send({ to: 'carol', body: 'the quagga' })
    await shareKey(here.core, 'carol')
    useHome(abroad)
    const there = await tempSpace({ dir: space.dir, ...encrypted })
    expect((await there.show(id)).message).toMatchObject({ body: 'the quagga' })
    await (await there.mailbox('carol')).send({ to: 'ada', body: 'thanks' })
  })

  it('does not use a key that somebody without a key of the space has put into the journal', async () => {
    needFiles()
    const space = await tempSpace(encrypted)
    const ada = await space.mailbox('ada')
    await ada.send({ to: 'user', body: 'one' })
    await space.close()
    const lines = linesIn(space.dir)
    const at = lines.findIndex((line) => line.includes('"kind":"share"'))
    const { seq, sum } = JSON.parse(lines.at(-1)!) as { seq: number; sum: string }
    const share = JSON.parse(lines[at]!) as Record<string, unknown>
    const forged = { ...share, seq: seq + 1, key: '0123456789abcdef', prev: sum, sum: '0'.repeat(32) }
    writeLines(space.dir, [...lines, withOwnSum(JSON.stringify(forged))])
    expect((await verifyDir(space.dir)).problems).toEqual([
      expect.stringContaining('a key of the space is shared without the key of user'),
    ])
    const again = await tempSpace({ dir: space.dir, ...encrypted })
    await (await again.mailbox('ada')).send({ to: 'user', body: 'two' })
    expect(linesIn(space.dir).at(-1)).not.toContain('"sealed":"0123456789abcdef')
  })

  it('can be archived, and its oldest files removed', async () => {
    const space = await tempSpace({ settings: { encrypt: 'space', 'retention.segmentEntries': 5 } })
    const ada = await space.mailbox('ada')
    const user = await space.mailbox('user')
    for (let n = 0; n < 20; n++) {
      const { id } = await ada.send({ to: 'user', body: `number ${n}` })
      await user.done(id)
    }
    const kept = await ada.send({ to: 'user', body: 'the quagga' })
    const far = Date.now() + 400 * 86_400_000
    await space.archiveOld({ gzipAfterMs: 1, now: far })
    const { removed } = await space.archiveOld({ gzipAfterMs: 1, removeAfterMs: 1, now: far })
    expect(removed.length).toBeGreaterThan(0)
    const again = await tempSpace({ dir: space.dir, ...encrypted })
    expect((await again.show(kept.id)).message).toMatchObject({ body: 'the quagga' })
    rmSync(join(process.env['XDG_CONFIG_HOME']!, 'agent-mailbox', 'keys', space.id, 'user.key.opened'))
    const third = await tempSpace({ dir: space.dir, ...encrypted })
    expect((await third.show(kept.id)).message).toMatchObject({ body: 'the quagga' })
    await (await third.mailbox('ada')).send({ to: 'user', body: 'more' })
    expect((await third.verify({ deep: true })).problems).toEqual([])
  })

  it('is encrypted by processes that were running when it was turned on', async () => {
    const running = await tempSpace()
    const ada = await running.mailbox('ada')
    await ada.send({ to: 'user', body: 'plain' })
    const other = await tempSpace({ dir: running.dir, ...encrypted })
    await other.core.vault.renew()
    await ada.send({ to: 'user', body: 'the quagga' })
    expect(bytesOf(running.dir)).not.toContain('quagga')
  })
})

describe('a message that is encrypted for its recipients', () => {
  it('is read by its sender and its recipients, and by nobody else', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    await space.mailbox('bob')
    await space.mailbox('eve')
    const { id } = await ada.send({ to: 'bob', ...secret, encrypt: true })
    for (const [name, reads] of Object.entries({ ada: true, bob: true, eve: false })) {
      const inside = await insideClientOf(space, name)
      const { message } = await inside.show(id)
      expect(message).toMatchObject(reads ? secret : { subject: '(encrypted)', locked: true })
      if (!reads) expect(message.body).toBe('Encrypted for bob; you have no key for it.')
    }
    // Outside of clients the keys of the account count, and a hub lets each see what is its own.
    expect((await space.show(id)).message).toMatchObject(secret)
    expect(await readAs('eve', () => space.show(id))).toMatchObject({ message: { locked: true } })
    expect(await readAs('bob', () => space.show(id))).toMatchObject({ message: secret })
    const eve = await space.mailbox('eve')
    expect((await readAs('eve', () => eve.search('zebra'))).messages).toEqual([])
    expect((await readAs('user', () => eve.search('zebra'))).messages).toMatchObject([{ id }])
    const files = bytesOf(space.dir)
    for (const word of words) expect(files).not.toContain(word)
  })

  it('makes secret what is said and noted about it', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    const bob = await space.mailbox('bob')
    const asked = await ada.send({ to: 'bob', ...secret, encrypt: true, awaitingResponse: true })
    const other = await ada.send({ to: 'bob', ...secret, encrypt: true, awaitingResponse: true })
    await bob.reply(other.id, { body: 'an ibex' })
    await bob.done(asked.id, { note: 'a gnu' })
    const { messages } = await ada.check()
    expect(messages.map(({ body, encrypted: how }) => [body, how])).toEqual([
      ['an ibex', 'recipients'],
      ['a gnu', 'recipients'],
    ])
    const { receipts } = await ada.show(asked.id)
    expect(receipts[0]!.steps).toContainEqual(expect.objectContaining({ note: 'a gnu' }))
    const files = bytesOf(space.dir)
    for (const word of words) expect(files).not.toContain(word)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('is refused for a role, a group, and an agent whose key was revoked', async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    const bob = await space.mailbox('bob', { join: { roles: ['builder'] } })
    for (const to of ['role:builder', 'all'])
      await expect(ada.send({ to, body: 'hi', encrypt: true })).rejects.toMatchObject({ code: 'invalid' })
    await bob.send({ to: 'ada' })
    await revokeKey(space.core, 'bob')
    await expect(ada.send({ to: 'bob', body: 'hi', encrypt: true })).rejects.toMatchObject({
      code: 'not_permitted',
      message: 'the key of bob was revoked',
    })
  })

  it('cannot be moved into another message', async () => {
    needFiles()
    const space = await tempSpace(encrypted)
    const ada = await space.mailbox('ada')
    await space.mailbox('eve')
    await ada.send({ to: 'user', ...secret })
    await space.close()
    const lines = linesIn(space.dir)
    const entry = JSON.parse(lines.at(-1)!) as { seq: number; sum: string; message: object }
    const moved = {
      ...{ ...entry, seq: entry.seq + 1, prev: entry.sum, sum: '0'.repeat(32), signature: undefined },
      message: { ...entry.message, id: '01900000-0000-7000-8000-000000000001', from: 'eve' },
    }
    writeLines(space.dir, [...lines, withOwnSum(JSON.stringify(moved))])
    const again = await tempSpace({ dir: space.dir, ...encrypted })
    const { message } = await again.show('01900000-0000-7000-8000-000000000001')
    expect(message).toMatchObject({ from: 'eve', subject: '(encrypted)', locked: true })
  })

  it('can be sent to somebody else by who can read it, encrypted again', async () => {
    let now = Date.now()
    const space = await tempSpace({ now: () => now })
    const ada = await space.mailbox('ada')
    await space.mailbox('bob')
    await space.mailbox('carol')
    const { id } = await ada.send({ to: 'bob', ...secret, encrypt: true, ttlMs: 1_000 })
    now += 60_000
    const again = await ada.resend(id, 'carol')
    expect(again).toMatchObject({ ...secret, to: ['carol'], encrypted: 'recipients' })
    for (const word of words) expect(bytesOf(space.dir)).not.toContain(word)
  })
})

describe('an export of encrypted mail', () => {
  it('stays encrypted, and can be read elsewhere with the keys of the space it comes from', async () => {
    const from = await tempSpace(encrypted)
    const ada = await from.mailbox('ada')
    const bob = await from.mailbox('bob')
    const all = await ada.send({ to: 'bob', ...secret })
    const own = await ada.send({ to: 'bob', ...secret, encrypt: true })
    await bob.fail(all.id, { reason: 'a gnu' })
    const lines = await linesOf(from)
    for (const word of words) expect(JSON.stringify(lines)).not.toContain(word)

    const plain = await tempSpace()
    expect(await plain.importMessages(lines)).toMatchObject({ imported: 2, refused: 0 })
    for (const { id } of [all, own])
      expect((await plain.show(id)).message).toMatchObject({ ...secret, imported: true })
    expect((await plain.show(all.id)).receipts[0]!.steps.at(-1)).toMatchObject({ note: 'a gnu' })
    for (const word of words) expect(bytesOf(plain.dir)).not.toContain(word)
    expect(await plain.importMessages(lines)).toMatchObject({
      imported: 0,
      skipped: 2,
      receipts: 0,
      refused: 0,
    })
    expect((await linesOf(plain)).slice(2)).toEqual(lines.slice(2))

    const paper = JSON.stringify(await exportKey(from.core, 'user', 'user'))
    useHome()
    const abroad = await tempSpace()
    await abroad.importMessages(lines)
    expect((await abroad.show(all.id)).message).toMatchObject({ locked: true })
    await restoreKey(abroad.core, 'user', paper)
    const again = await tempSpace({ dir: abroad.dir })
    expect((await again.show(all.id)).message).toMatchObject({ ...secret, imported: true })
    expect((await again.show(own.id)).message).toMatchObject({ locked: true })
  })

  it('of plain mail is encrypted by an encrypted space that takes it', async () => {
    const from = await tempSpace()
    const { id } = await (await from.mailbox('ada')).send({ to: 'user', ...secret })
    const lines = await linesOf(from)
    const into = await tempSpace(encrypted)
    await into.importMessages(lines)
    expect((await into.show(id)).message).toMatchObject({ ...secret, imported: true, encrypted: 'space' })
    for (const word of words) expect(bytesOf(into.dir)).not.toContain(word)
  })

  it('is refused if it has text beside what is encrypted', async () => {
    const from = await tempSpace(encrypted)
    await (await from.mailbox('ada')).send({ to: 'user', ...secret })
    const lines = (await linesOf(from)).map((line) =>
      'message' in line ? { ...line, message: { ...(line.message as object), body: 'more' } } : line,
    )
    expect(await (await tempSpace()).importMessages(lines)).toMatchObject({ imported: 0, refused: 1 })
  })

  it('can be repaired from a mirror without a key', async () => {
    needFiles()
    const copy = tempDir()
    const space = await tempSpace(encrypted)
    await (await space.mailbox('ada')).send({ to: 'user', ...secret })
    await space.close()
    cpSync(join(space.dir, 'journal'), join(copy, 'journal'), { recursive: true })
    const lines = linesIn(space.dir)
    const at = lines.findIndex((line) => line.includes('"kind":"share"'))
    writeLines(
      space.dir,
      lines.map((line, n) => (n === at ? line.replace('"share"', '"shore"') : line)),
    )
    const home = process.env['XDG_CONFIG_HOME']!
    useHome()
    const broken = await tempSpace({ dir: space.dir, ...encrypted })
    expect(await broken.repair({ from: [copy] })).toMatchObject({ applied: true, lost: [] })
    await broken.close()
    useHome(home)
    expect((await verifyDir(space.dir)).problems).toEqual([])
  })
})
