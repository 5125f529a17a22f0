import {
  appendFileSync,
  existsSync,
  mkdirSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Bridge } from '../../src/bridges/bridge.ts'
import { Folder } from '../../src/bridges/folder.ts'
import { LockHeld, withLock } from '../../src/bridges/lock.ts'
import { Memory } from '../../src/bridges/memory.ts'
import { formatNamed } from '../../src/bridges/registry.ts'
import { bridgeId, memoryPath } from '../../src/bridges/remembered.ts'
import { tempDir } from '../helpers/temp.ts'
import { mailOf, type Stage, stage, stateOf } from './stage.ts'

const ao = (id: string, more: object = {}) => ({
  ...{ id, from: 'ao-1', to: 'zoe', timestamp: '2026-02-16T20:45:00.000Z', type: 'text', priority: 'normal' },
  ...{ payload: { text: id }, requiresAck: false, ...more },
})
const adr003 = (status: string) => ({
  ...{ id: 'MSG-000000000001', from_agent: 'ann', to_agent: 'zoe', type: 'request', subject: 's', body: 'b' },
  ...{ payload: {}, priority: 2, created_at: '2026-01-03T14:30:00', status },
})

const bodies = async ({ space }: Stage) => (await mailOf(space, 'zoe')).map(({ body }) => body)

describe('mail that has waited for somebody', () => {
  it('is written by the next run, if the one that has met its recipient is killed', async () => {
    const here = await stage('ao')
    await here.sync()
    await here.space.join('ao-10')
    const zoe = await here.space.mailbox('zoe', { join: false })
    await zoe.send({ to: 'ao-10', body: 'welcome' })
    await here.sync()
    mkdirSync(join(here.folder, 'ao-10/inbox'), { recursive: true })
    const { space, folder: path } = here
    const memory = memoryPath(space.dir, bridgeId('ao', path))
    const killed = new Bridge({ space, path, memory, format: formatNamed('ao') })
    await killed.look()
    killed.close()
    expect(here.files('ao-10')).toEqual([])
    await here.sync()
    expect(here.files('ao-10')).toHaveLength(1)
  })
})

describe('what cannot be written now', () => {
  it('is written later: the state of a message, also by the next run', async () => {
    const here = await stage('ao')
    here.put('zoe/inbox/1.json', ao('1'))
    await here.sync()
    // A file in the place of a directory refuses everybody, the superuser too.
    here.put('zoe/inbox/processed', 'in the way')
    const [first] = await mailOf(here.space, 'zoe')
    await here.space.mailboxInside('zoe').done(first!.id)
    await here.sync({ patienceMs: 300 })
    await here.sync({ patienceMs: 300 })
    expect(here.problems).toHaveLength(1)
    rmSync(join(here.folder, 'zoe/inbox/processed'))
    await here.sync()
    expect(here.files('zoe')).toEqual(['zoe/inbox/processed/1.json'])
    expect(JSON.parse(here.text('zoe/inbox/processed/1.json'))).toHaveProperty('ackedAt')
  })

  it('is reported and holds nothing up, where another program has undone a state', async () => {
    const here = await stage('adr003')
    const path = 'mailboxes/zoe/inbox/MSG-000000000001.json'
    here.put(path, adr003('unread'))
    await here.sync()
    const [first] = await mailOf(here.space, 'zoe')
    await here.space.mailboxInside('zoe').start(first!.id)
    await here.sync()
    expect(here.text(path)).toContain('"processing"')
    for (const end of ['.tmp', '.tmp.mailbox']) mkdirSync(join(here.folder, `${path}${end}`))
    here.put(path, adr003('read'))
    await here.sync({ patienceMs: 300 })
    expect(here.problems).toHaveLength(1)
    for (const end of ['.tmp', '.tmp.mailbox']) rmdirSync(join(here.folder, `${path}${end}`))
    await here.sync()
    expect(here.text(path)).toContain('"processing"')
    expect(await stateOf(here.space, first!.id, 'zoe')).toBe('processing')
  })

  it('is a line, while another program is in the middle of its own', async () => {
    const here = await stage('haak')
    const path = 'agent-mailbox.jsonl'
    const line = JSON.stringify({ id: 'm1', sender: 'ann', recipient: 'zoe', content: 'in two pieces' })
    here.put('agent-roster.json', [{ session_id: 'ann', tags: [] }])
    here.put(path, '')
    await here.sync()
    appendFileSync(join(here.folder, path), line.slice(0, 20))
    // However slow the machine is, this was a moment ago.
    const soon = new Date(Date.now() + 60_000)
    utimesSync(join(here.folder, path), soon, soon)
    const sent = await here.space.mailboxInside('zoe').send({ to: 'ann', body: 'patience' })
    await here.sync({ patienceMs: 300 })
    appendFileSync(join(here.folder, path), `${line.slice(20)}\n`)
    await here.sync()
    expect(await bodies(here)).toEqual(['in two pieces'])
    expect(here.problems).toEqual([`${path} is being written by another program`])
    expect(here.text(path).split('\n')).toEqual([line, expect.stringContaining(sent.id), ''])
  })
})

it('a bridge whose notes are damaged begins them anew, and doubles nothing', async () => {
  const here = await stage('ao')
  here.put('zoe/inbox/1.json', ao('1'))
  await here.sync()
  const sent = await here.space.mailboxInside('zoe').send({ to: 'ao-1', body: 'once' })
  await here.sync()
  const memory = await here.memory()
  writeFileSync(memory, 'no database'.repeat(1_000))
  for (const end of ['-wal', '-shm']) rmSync(`${memory}${end}`, { force: true })
  expect((await here.sync()).brought).toBe(0)
  expect(await bodies(here)).toEqual(['1'])
  expect(here.files('ao-1').filter((file) => file.includes(sent.id))).toHaveLength(1)
  expect(here.problems).toEqual([])
})

it('a name that leads in a circle is reported, and others go on', async () => {
  const here = await stage('ao')
  here.put('zoe/outbox/1.json', ao('1', { from: 'zoe', to: 'circle' }))
  symlinkSync('circle', join(here.folder, 'circle'))
  here.put('zoe/inbox/2.json', ao('2'))
  await here.sync()
  expect(await bodies(here)).toEqual(['2'])
  expect(here.problems).not.toEqual([])
})

it('a file that somebody else has written meanwhile stays as it is', () => {
  const memory = new Memory(':memory:')
  const folder = new Folder(tempDir(), memory, Date.now)
  folder.replace('x.json', 'ours', {})
  const { mark: since } = folder.read('x.json')!
  folder.replace('x.json', 'theirs', {})
  expect(() => folder.replace('x.json', 'ours, changed', { since })).toThrow(LockHeld)
  expect(folder.read('x.json')!.text).toBe('theirs')
  folder.replace('x.json', 'ours again', { since: folder.read('x.json')!.mark })
  expect(folder.read('x.json')!.text).toBe('ours again')
  memory.close()
})

it.each(['file', 'directory'] as const)(
  'a lock that somebody else has taken over meanwhile is left to them: a %s',
  (kind) => {
    const memory = new Memory(':memory:')
    const folder = new Folder(tempDir(), memory, Date.now)
    const lock = join(folder.root, 'x.lock')
    withLock(folder, 'x.lock', { kind, staleMs: 10_000 }, () => {
      // This process was stopped for so long that another one found the lock abandoned.
      rmSync(lock, { recursive: true })
      if (kind === 'directory') mkdirSync(lock)
      else appendFileSync(lock, 'another')
    })
    expect(existsSync(lock)).toBe(true)
    memory.close()
  },
)

describe('mail that is encrypted for its recipients', () => {
  it('is not written to the folder, and its sender is told why', async () => {
    const here = await stage('ao')
    here.put('ann/inbox/1.json', ao('1', { from: 'ann' }))
    await here.sync()
    const zoe = here.space.mailboxInside('zoe')
    const { id } = await zoe.send({ to: 'ann', subject: 'the password', body: 'quagga', encrypt: true })
    await zoe.send({ to: 'ann', body: 'and this is for everybody' })
    await here.sync()
    await here.sync()
    const written = here.files('ann/inbox').map((file) => here.text(file))
    expect(written.filter((text) => text.includes('for everybody'))).toHaveLength(1)
    expect(written.join()).not.toMatch(/password|quagga|encrypted/)
    const { receipts } = await here.space.show(id)
    expect(receipts).toMatchObject([
      { recipient: 'ann', state: 'failed', steps: [{}, { note: expect.stringContaining('--encrypt') }] },
    ])
  })
})
