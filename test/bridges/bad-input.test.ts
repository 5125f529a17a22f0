import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bridgeId, memoryPath } from '../../src/bridges/remembered.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'
import { mailOf, type Stage, stage, stageIn } from './stage.ts'

const ao = (id: string, more: object = {}) => ({
  ...{ id, from: 'ao-1', to: 'zoe', timestamp: '2026-02-16T20:45:00.000Z', type: 'text', priority: 'normal' },
  ...{ payload: { text: id }, requiresAck: false, ...more },
})
const ralph = (id: string, more: object = {}) =>
  JSON.stringify({
    ...{ MessageId: id, FromAgentId: 'lead', ToAgentId: 'zoe', Type: 'Text', Content: id, Metadata: null },
    ...{ Timestamp: new Date().toISOString(), ...more },
  })

/** Nobody has touched it for a while. */
const age = ({ folder }: Stage, path: string) => utimesSync(join(folder, path), 1_700_000_000, 1_700_000_000)

const bodies = async ({ space }: Stage, name = 'zoe') => (await mailOf(space, name)).map(({ body }) => body)

describe('what cannot be read', () => {
  it('is left where it is, reported once with its line, and holds nothing up', async () => {
    const here = await stage('ralph')
    here.put(
      'alpha/mailbox/zoe.jsonl',
      `${ralph('1')}\n{"MessageId":\n[1]\n${ralph('2')}\n{"MessageId":"3"}\n${ralph('4')}\n`,
    )
    await here.sync()
    await here.sync()
    expect(await bodies(here)).toEqual(['1', '2', '4'])
    expect(here.problems).toEqual([
      'alpha/mailbox/zoe.jsonl:2 is not JSON',
      'alpha/mailbox/zoe.jsonl:3 is not a JSON object',
      'alpha/mailbox/zoe.jsonl:5 has no sender in `FromAgentId` that can be named here',
    ])
  })

  it('may answer what comes after it: nobody waits for each other', async () => {
    const here = await stage('ao')
    const files = [
      ao('a2', { from: 'ao-1', replyTo: 'b1' }),
      ao('a3', { from: 'ao-1' }),
      ao('b0', { from: 'ao-2', replyTo: 'a3' }),
      ao('b1', { from: 'ao-2' }),
    ]
    for (const [at, file] of files.entries()) here.put(`zoe/inbox/${at}.json`, JSON.stringify(file))
    await here.sync()
    expect((await bodies(here)).sort()).toEqual(['a2', 'a3', 'b0', 'b1'])
  })

  it('may still be being written: a file and a line are taken when they are whole', async () => {
    const here = await stage('ao')
    const text = JSON.stringify(ao('1'))
    here.put('zoe/inbox/half.json', text.slice(0, 40))
    here.run()
    await until(() => here.space.core.agents.get('zoe') && here.space.core.agents.size > 0)
    writeFileSync(join(here.folder, 'zoe/inbox/half.json'), text)
    await until(async () => (await bodies(here)).length === 1)
    expect(here.problems).toEqual([])
    const lines = await stage('ralph')
    lines.put('alpha/mailbox/zoe.jsonl', ralph('1').slice(0, 30))
    lines.run()
    appendFileSync(join(lines.folder, 'alpha/mailbox/zoe.jsonl'), `${ralph('1').slice(30)}\n`)
    await until(async () => (await bodies(lines)).length === 1)
    expect(lines.problems).toEqual([])
  })

  it('is half a file that nobody finishes', async () => {
    const here = await stage('ao')
    here.put('zoe/inbox/half.json', '{"id":"1","fr')
    here.put('zoe/inbox/whole.json', ao('2'))
    age(here, 'zoe/inbox/half.json')
    await here.sync()
    expect([await bodies(here), here.problems]).toEqual([['2'], ['zoe/inbox/half.json is not JSON']])
    here.put('zoe/inbox/half.json', ao('1'))
    await here.sync()
    expect(await bodies(here)).toEqual(['2', '1'])
  })

  it('is JSON of any shape', { timeout: 300_000 }, async () => {
    const here = await stage('ao')
    const shapes = fc.sample(fc.jsonValue({ maxDepth: 3 }), { numRuns: inStorm(1_000, 50), seed: 3 })
    for (const [at, value] of shapes.entries()) {
      here.put(`zoe/inbox/a${at}.json`, JSON.stringify(value))
      const broken = { ...ao('x'), [['id', 'from', 'to', 'payload', 'type', 'timestamp'][at % 6]!]: value }
      here.put(`zoe/inbox/b${at}.json`, JSON.stringify(broken))
      age(here, `zoe/inbox/a${at}.json`)
    }
    here.put('zoe/inbox/last.json', ao('last'))
    await here.sync()
    expect(await bodies(here)).toContain('last')
    expect(here.files('zoe')).toHaveLength(2 * shapes.length + 1)
  })

  it('is not UTF-8, or longer than any message', async () => {
    const here = await stage('ao')
    here.put('zoe/inbox/a.json', '')
    writeFileSync(join(here.folder, 'zoe/inbox/a.json'), Buffer.from([0x7b, 0xff, 0x7d]))
    writeFileSync(join(here.folder, 'zoe/inbox/b.json'), Buffer.alloc(17 * 1_048_576, 32))
    here.put('zoe/inbox/c.json', ao('c'))
    await here.sync()
    expect(await bodies(here)).toEqual(['c'])
    expect(here.problems.map((one) => one.split(' ').slice(0, 3).join(' '))).toEqual([
      'zoe/inbox/a.json is not',
      'zoe/inbox/b.json has 17825792',
    ])
  })
})

describe('what is refused', () => {
  it('is what send refuses, and it is reported', async () => {
    const here = await stage('ao', { 'limits.messageBytes': 1_000 })
    here.put('zoe/inbox/1.json', ao('1', { payload: { text: 'x'.repeat(2_000) } }))
    here.put('zoe/inbox/2.json', ao('2'))
    await here.sync()
    expect(await bodies(here)).toEqual(['2'])
    expect(here.problems[0]).toMatch(/1\.json the message has \d+ bytes; the limit is 1000/)
  })

  it('waits when a limit is reached, and comes in order when there is room', async () => {
    const here = await stage('ralph', { 'limits.inbox': 2 })
    here.put('alpha/mailbox/zoe.jsonl', ['1', '2', '3', '4'].map((id) => `${ralph(id)}\n`).join(''))
    here.run()
    await until(async () => (await bodies(here)).length === 2)
    appendFileSync(
      join(here.folder, 'alpha/mailbox/zoe.jsonl'),
      `${ralph('5', { FromAgentId: 'agent-1' })}\n`,
    )
    // Others are not held up.
    await until(async () => (await bodies(here)).includes('5'))
    const zoe = await here.space.mailbox('zoe')
    const done = new Set<string>()
    while (done.size < 5) {
      await until(async () => (await zoe.count()).unread > 0)
      for (const { id, body } of (await zoe.check()).messages) {
        done.add(body)
        await zoe.done(id)
      }
    }
    expect([...done].filter((body) => body !== '5')).toEqual(['1', '2', '3', '4'])
    expect(here.problems).toEqual([])
  })
})

it('what is refused as it is, and then waits for room, comes when there is room', async () => {
  const here = await stage('ao', { 'limits.inbox': 1 })
  here.put('zoe/inbox/1.json', ao('1'))
  here.put('zoe/inbox/2.json', ao('2', { payload: { text: 'a big number', n: 1e300 } }))
  await here.sync({ patienceMs: 300 })
  const [first] = await mailOf(here.space, 'zoe')
  await here.space.mailboxInside('zoe').done(first!.id)
  await here.sync({ patienceMs: 300 })
  expect((await mailOf(here.space, 'zoe')).map(({ bridge }) => bridge)).toMatchObject([
    { id: '1' },
    { id: '2', raw: expect.stringContaining('a big number') },
  ])
  expect(here.problems).toEqual([])
})

describe('a thread that waits for the person', () => {
  it('holds up nothing else of its senders, is reported, and goes on when the person has spoken', async () => {
    const here = await stage('ao', { 'limits.threadMessages': 2 })
    for (const [id, replyTo] of [['1'], ['2', '1'], ['3', '2'], ['4']])
      here.put(`zoe/inbox/${id}.json`, ao(id!, replyTo === undefined ? {} : { replyTo }))
    await here.sync({ patienceMs: 300 })
    expect(await bodies(here)).toEqual(['1', '2', '4'])
    expect(here.problems).toEqual([expect.stringContaining('limits.threadMessages')])
    const [first] = await mailOf(here.space, 'zoe')
    await here.space.mailboxInside('user').send({ to: 'zoe', body: 'go on', threadId: first!.threadId })
    await here.sync()
    expect(await bodies(here)).toContain('3')
    expect(here.problems).toHaveLength(1)
  })
})

describe('names and times', () => {
  it('that no agent can have are reported, and others go on', async () => {
    const here = await stage('ao')
    mkdirSync(join(here.folder, 'a:b/inbox'), { recursive: true })
    here.put('zoe/inbox/1.json', ao('1', { from: 'line\nbreak' }))
    here.put('zoe/inbox/2.json', ao('2'))
    await here.sync()
    expect(await bodies(here)).toEqual(['2'])
    expect(here.problems).toEqual([
      'a:b is no name that an agent can have here',
      'zoe/inbox/1.json has no sender in `from` that can be named here',
    ])
  })

  it('that look like those of others are reported', async () => {
    const here = await stage('ao')
    here.put('zoe/inbox/1.json', ao('1', { from: 'zое' }))
    await here.sync()
    expect(here.problems[0]).toMatch(/looks like/)
    expect(here.files('zoe')).toEqual(['zoe/inbox/1.json'])
  })

  it('without a zone are local', async () => {
    const here = await stage('jean-claude')
    const message = { id: '1', from: 'w', to: 'zoe', body: 'b', created_at: '2026-07-01T12:00:00' }
    here.put('zoe/mailbox/inbox.jsonl', `${JSON.stringify(message)}\n`)
    await here.sync()
    const [brought] = await mailOf(here.space, 'zoe')
    expect(brought!.bridge).toMatchObject({ at: new Date(2026, 6, 1, 12).toISOString() })
  })
})

describe('the folder', () => {
  it('can vanish and come back', async () => {
    const here = await stage('ao')
    here.put('zoe/inbox/1.json', ao('1'))
    const stop = here.run()
    await until(async () => (await bodies(here)).length === 1)
    const away = `${here.folder}-away`
    renameSync(here.folder, away)
    await until(() => here.problems.length > 0)
    await here.space.mailboxInside('zoe').send({ to: 'ao-1', body: 'meanwhile' })
    renameSync(away, here.folder)
    await until(() => here.files().some((file) => file.startsWith('ao-1/')))
    await stop()
    expect(here.problems).toEqual([expect.stringContaining('the folder is not there')])
    expect(await bodies(here)).toEqual(['1'])
  })

  it('can be emptied by its owner: nothing is written to it again', async () => {
    const here = await stage('ralph')
    here.put('alpha/mailbox/lead.jsonl', '')
    here.put('alpha/mailbox/zoe.jsonl', `${ralph('1')}\n`)
    await here.sync()
    const zoe = await here.space.mailbox('zoe')
    await zoe.send({ to: 'alpha/lead', body: 'once' })
    await here.sync()
    rmSync(join(here.folder, 'alpha'), { recursive: true })
    await zoe.send({ to: 'alpha/lead', body: 'too late' })
    await here.sync()
    expect(readdirSync(here.folder)).toEqual([])
    expect(await bodies(here, 'alpha/lead')).toEqual(['once', 'too late'])
  })

  it('does not lead out of itself by a symbolic link', async () => {
    const here = await stage('ao')
    const outside = mkdtempSync(join(tempDir(), 'out-'))
    writeFileSync(join(outside, 'secret.json'), JSON.stringify(ao('secret')))
    mkdirSync(join(here.folder, 'zoe/inbox'), { recursive: true })
    mkdirSync(join(here.folder, 'ao-1'))
    symlinkSync(join(outside, 'secret.json'), join(here.folder, 'zoe/inbox/1.json'))
    symlinkSync(outside, join(here.folder, 'ao-1/inbox'))
    symlinkSync(outside, join(here.folder, 'ao-9'))
    here.put('zoe/inbox/2.json', ao('2'))
    await here.sync()
    await here.space.mailboxInside('zoe').send({ to: 'ao-1', body: 'x' })
    await here.sync({ patienceMs: 300 })
    expect(await bodies(here)).toEqual(['2'])
    expect(readdirSync(outside)).toEqual(['secret.json'])
    expect(here.problems.some((one) => one.startsWith('zoe/inbox/1.json is not a regular file'))).toBe(true)
    expect(here.problems.some((one) => one.includes('leads out of the folder'))).toBe(true)
  }, 60_000)

  it('that cannot be written to is reported, and read all the same', async () => {
    const here = await stage('ao')
    here.put('zoe/inbox/1.json', ao('1'))
    await here.sync()
    // A file in the place of a directory refuses everybody, the superuser too.
    rmSync(join(here.folder, 'ao-1'), { recursive: true, force: true })
    here.put('ao-1', 'in the way')
    chmodSync(join(here.folder, 'ao-1'), 0o400)
    const sent = await here.space.mailboxInside('zoe').send({ to: 'ao-1', body: 'x' })
    const stop = here.run()
    await until(() => here.problems.length > 0)
    here.put('zoe/inbox/2.json', ao('2'))
    await until(async () => (await bodies(here)).includes('2'))
    rmSync(join(here.folder, 'ao-1'))
    await until(() => here.files('').some((file) => file.includes(sent.id)))
    await stop()
    expect(here.problems).toHaveLength(1)
  }, 60_000)
})

describe('locks', () => {
  const lockOf = ({ folder }: Stage) => join(folder, 'alpha/mailbox/lead.jsonl.lock')
  const teamed = async () => {
    const here = await stage('ralph')
    here.put('alpha/mailbox/lead.jsonl', '')
    here.put('alpha/mailbox/agent-1.jsonl', '')
    here.put('alpha/mailbox/zoe.jsonl', `${ralph('1')}\n`)
    await here.sync()
    return here
  }

  it('that are held keep only their own file waiting', async () => {
    const here = await teamed()
    writeFileSync(lockOf(here), '1')
    const zoe = await here.space.mailbox('zoe')
    for (const body of ['a', 'b']) await zoe.send({ to: 'alpha/lead', body })
    await zoe.send({ to: 'alpha/agent-1', body: 'c' })
    here.run()
    await until(() => here.text('alpha/mailbox/agent-1.jsonl').includes('"c"'))
    expect(here.text('alpha/mailbox/lead.jsonl')).toBe('')
    rmSync(lockOf(here))
    await until(() => here.text('alpha/mailbox/lead.jsonl').includes('"b"'))
    expect(here.text('alpha/mailbox/lead.jsonl').indexOf('"a"')).toBeLessThan(
      here.text('alpha/mailbox/lead.jsonl').indexOf('"b"'),
    )
  })

  it('that nobody holds any more are taken', async () => {
    const here = await teamed()
    writeFileSync(lockOf(here), '1')
    utimesSync(lockOf(here), 1_700_000_000, 1_700_000_000)
    await (await here.space.mailbox('zoe')).send({ to: 'alpha/lead', body: 'a' })
    await here.sync()
    expect(here.text('alpha/mailbox/lead.jsonl')).toContain('"a"')
    expect(here.files('alpha/mailbox')).not.toContain('alpha/mailbox/lead.jsonl.lock')
  })

  it('that are held for ever are reported', async () => {
    const here = await teamed()
    writeFileSync(lockOf(here), '1')
    await (await here.space.mailbox('zoe')).send({ to: 'alpha/lead', body: 'a' })
    here.run()
    await until(() => here.problems.length > 0)
    expect(here.problems).toEqual(['alpha/mailbox/lead.jsonl.lock is locked by another program'])
  })

  it('of a bridge keep a second one out, and a killed one holds none', async () => {
    const space = await tempSpace()
    const here = stageIn(space, 'ao', tempDir())
    const end = here.run()
    await expect(here.sync()).rejects.toThrow('running in another process')
    await end()
    await here.sync()
    expect(memoryPath(space.dir, bridgeId('ao', here.folder))).toContain(space.dir)
  })
})

it('a file of very many lines is taken in without keeping it in memory', { timeout: 900_000 }, async () => {
  const count = inStorm(1_000_000, 5_000)
  const here = await stage('ralph')
  const old = { Timestamp: '2026-02-16T20:45:00.0000000Z', FromAgentId: 'lead' }
  let text = ''
  mkdirSync(join(here.folder, 'alpha/mailbox'), { recursive: true })
  for (let n = 0; n < count; n++) {
    text += `${ralph(String(n), old)}\n`
    if (n % 10_000 === 9_999 || n === count - 1) {
      appendFileSync(join(here.folder, 'alpha/mailbox/zoe.jsonl'), text)
      text = ''
    }
  }
  const { brought } = await here.sync()
  expect(brought).toBe(count)
  expect((await here.sync()).brought).toBe(0)
})
