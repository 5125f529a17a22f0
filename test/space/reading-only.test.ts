import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { DiskSpace } from '../../src/space/space.ts'
import { stageHub } from '../helpers/hub.ts'
import { skipTest } from '../helpers/skip.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { needAlone } from '../helpers/with-desk.ts'

/** The user's cache directory, which is where an index goes that the space has no room for. */
let cache: string

beforeEach(() => {
  cache = tempDir()
  vi.stubEnv('XDG_CACHE_HOME', cache)
  onTestFinished(() => void vi.unstubAllEnvs())
})

/** A small file system of its own for a space. */
function mountedDir(bytes: number): string {
  needAlone()
  const dir = tempDir()
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'tmpfs', dir])
  if (mounted.status !== 0) skipTest('needs to mount a file system, which this system does not allow')
  onTestFinished(() => void spawnSync('umount', ['-l', dir]))
  return dir
}

async function fill(dir: string): Promise<string> {
  const space = await tempSpace({ dir })
  const ada = await space.mailbox('ada')
  await space.mailbox('bob')
  const { id } = await ada.send({ to: 'bob', subject: 'hello', body: 'apple pie' })
  await space.close()
  return id
}

const saysSo = ({ code }: { code: string }) => code === 'not_permitted'

/** Every question that can be asked without a change. */
async function look(space: DiskSpace, id: string): Promise<void> {
  const bob = await space.mailbox('bob', { join: false })
  expect((await bob.inbox()).messages.map(({ subject }) => subject)).toEqual(['hello'])
  expect((await bob.search('apple')).messages).toHaveLength(1)
  expect((await bob.thread(id)).map(({ body }) => body)).toEqual(['apple pie'])
  expect((await space.show(id)).receipts).toHaveLength(1)
  expect((await space.agents()).map(({ name }) => name)).toEqual(['user', 'ada', 'bob'])
  expect(await space.owed()).toEqual([])
  expect((await space.stats()).all.pending).toBe(1)
  expect((await space.verify({ deep: true })).problems).toEqual([])
}

describe('a space that cannot be written to can be looked at', () => {
  it('on a file system that is mounted read-only', async () => {
    const dir = mountedDir(8 << 20)
    const id = await fill(join(dir, 'space'))
    for (const file of ['index.db', 'index-search.db']) rmSync(join(dir, 'space', file), { force: true })
    expect(spawnSync('mount', ['-o', 'remount,ro', dir]).status).toBe(0)
    const space = await tempSpace({ dir: join(dir, 'space') })
    await look(space, id)
    const bob = await space.mailbox('bob', { join: false })
    await expect(bob.check({})).rejects.toSatisfy(saysSo)
    await expect(bob.send({ to: 'ada' })).rejects.toSatisfy(saysSo)
    await space.close()
    const kept = join(cache, 'agent-mailbox', space.id)
    expect(readdirSync(kept)).toContain('index.db')
    expect(statSync(kept).mode & 0o777).toBe(0o700)
  })

  it('through a hub, whose token is then for this run alone', async () => {
    const dir = mountedDir(8 << 20)
    await fill(join(dir, 'space'))
    expect(spawnSync('mount', ['-o', 'remount,ro', dir]).status).toBe(0)
    const stage = await stageHub({ open: { dir: join(dir, 'space') } })
    expect(await stage.ask('/health')).toMatchObject({ status: 200, json: { ok: true } })
    expect(await stage.ask('/api/overview')).toMatchObject({ status: 200, json: { totals: { messages: 1 } } })
    const sent = await stage.act('user', 'send', { to: 'ada' })
    expect(sent.json).toMatchObject({ error: { code: 'not_permitted' } })
    await stage.space.close()
  })

  it('and where there is no cache directory either, with an index for this process alone', async () => {
    const dir = mountedDir(8 << 20)
    const id = await fill(join(dir, 'space'))
    mkdirSync(join(dir, 'cache'))
    expect(spawnSync('mount', ['-o', 'remount,ro', dir]).status).toBe(0)
    vi.stubEnv('XDG_CACHE_HOME', join(dir, 'cache'))
    const left = () => readdirSync('/dev/shm').filter((name) => name.startsWith('mailbox-index-'))
    const before = left()
    const space = await tempSpace({ dir: join(dir, 'space') })
    await look(space, id)
    await space.close()
    expect(left()).toEqual(before)
  })

  it('on a full disk, with the index behind', async () => {
    const dir = mountedDir(1 << 20)
    const id = await fill(join(dir, 'space'))
    rmSync(join(dir, 'space', 'index.db'))
    for (let bytes = 1 << 19; bytes >= 1; bytes >>= 1) {
      try {
        for (let n = 0; ; n++) writeFileSync(join(dir, `rest-${bytes}-${n}`), Buffer.alloc(bytes))
      } catch {
        // That much is not free any more.
      }
    }
    const space = await tempSpace({ dir: join(dir, 'space') })
    await look(space, id)
    const bob = await space.mailbox('bob', { join: false })
    await expect(bob.send({ to: 'ada', body: 'x'.repeat(50_000) })).rejects.toMatchObject({
      code: 'disk_full',
    })
  })

  it('when it belongs to another user, and then nothing is written to it', async () => {
    if (process.getuid?.() !== 0) skipTest('needs root, to give a directory to another user')
    const dir = tempDir()
    const id = await fill(dir)
    const owned = [dir, join(dir, 'journal')]
    for (const path of owned) chownSync(path, 12_345, 12_345)
    for (const path of owned) chmodSync(path, 0o755)
    const before = readdirSync(dir, { recursive: true }).sort()
    const times = before.map((name) => statSync(join(dir, String(name))).mtimeMs)
    const space = await tempSpace({ dir })
    await look(space, id)
    await expect(space.join('cyd')).rejects.toMatchObject({ code: 'not_permitted' })
    await space.close()
    expect(readdirSync(dir, { recursive: true }).sort()).toEqual(before)
    expect(before.map((name) => statSync(join(dir, String(name))).mtimeMs)).toEqual(times)
  })
})
