import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stageHub } from '../helpers/hub.ts'
import { startScript } from '../helpers/processes.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

const cli = new URL('../../dist/cli.cjs', import.meta.url)

interface Machine {
  folder: string
  /** What its host is called, where that is not the name of this one. */
  name?: string
  token: string
  url: string
}

/** A machine with a folder of ao, and nothing of the space but the address of its hub. */
function machine({ folder, name, token, url }: Machine) {
  const config = tempDir()
  const env = { XDG_CONFIG_HOME: config, HOME: tempDir(), MAILBOX_SPACE: url, MAILBOX_TOKEN: token }
  const start = (...words: string[]) => startScript(cli, [...words], { env })
  const run = async (...words: string[]) => {
    const process = start('--json', ...words)
    const { code } = await process.exit
    const answer = JSON.parse(process.lines.join('\n') || 'null') as Record<string, unknown>
    return { code, stderr: process.stderr(), answer, error: answer?.['error'] as { message: string } }
  }
  return {
    folder,
    config,
    start,
    run,
    sync: () => run('bridge', 'ao', folder, '--once'),
    /** What this machine is called from now on. */
    async isCalled() {
      await run('bridge', 'ao', folder, '--once', '--dry-run')
      for (const file of readdirSync(config, { recursive: true, encoding: 'utf8' }))
        if (file.endsWith('machine.json')) writeFileSync(join(config, file), JSON.stringify({ name }))
    },
    drop(file: string, more: object = {}) {
      mkdirSync(join(folder, 'ao-10/inbox'), { recursive: true })
      const message = { id: file, from: 'ao-1', to: 'ao-10', type: 'text', payload: { text: file }, ...more }
      writeFileSync(join(folder, 'ao-10/inbox', `${file}.json`), JSON.stringify(message))
    },
    inbox: (name: string) => readdirSync(join(folder, name, 'inbox')),
  }
}

async function scene() {
  const stage = await stageHub()
  await stage.space.join('zoe')
  const token = stage.agentToken('ao-bridge', { scopes: ['read-all', 'bridge'] })
  const folder = tempDir()
  mkdirSync(join(folder, 'ao-10/inbox'), { recursive: true })
  const found = async (words: string) =>
    (await stage.space.mailboxInside('user').search(words)).messages.map(({ body }) => body)
  return { ...stage, token, folder, found, at: machine({ folder, token, url: stage.url }) }
}

describe('mailbox bridge at a hub', () => {
  it('says what --once would do, does it, and lists it', async () => {
    const { at, found, space } = await scene()
    at.drop('one')
    const dry = await at.run('bridge', 'ao', at.folder, '--once', '--dry-run')
    expect(dry).toMatchObject({ code: 0, answer: { brought: 1, dryRun: true } })
    expect([await found('one'), space.core.agents.has('ao-10')]).toEqual([[], false])
    expect((await at.sync()).answer).toMatchObject({ brought: 1, agents: 2, problems: [] })
    expect((await at.sync()).answer).toMatchObject({ brought: 0, agents: 0 })
    expect(await found('one')).toEqual(['one'])
    expect((await at.run('bridge')).answer).toMatchObject({ bridges: [{ format: 'ao', state: 'stopped' }] })
  })

  it('works both ways until it is stopped, and waits for a hub that is away', {
    timeout: 120_000,
  }, async () => {
    const { at, found, space, hub, stop, token } = await scene()
    const port = Number(new URL(hub.url).port)
    const bridge = at.start('bridge', 'ao', at.folder)
    await bridge.line(/^bridged ao/)
    at.drop('live')
    await until(async () => (await found('live')).length === 1)
    await stop()
    at.drop('meanwhile')
    await space.mailboxInside('zoe').send({ to: 'ao-10', body: 'from here' })
    const back = await stageHub({ space, port })
    await until(async () => (await found('meanwhile')).length === 1)
    await until(() => at.inbox('ao-10').length === 3)
    const again = machine({ folder: at.folder, token, url: back.url })
    expect((await again.run('bridge')).answer).toMatchObject({ bridges: [] })
    expect((await at.run('bridge', 'stop', 'ao')).code).toBe(0)
    expect(await bridge.exit).toMatchObject({ code: 0 })
    expect(bridge.stderr()).toBe('')
  })

  it('ends without giving anything up when its token is revoked', { timeout: 120_000 }, async () => {
    const { at, found, agentToken, url } = await scene()
    const bridge = at.start('bridge', 'ao', at.folder)
    await bridge.line(/^bridged ao/)
    const next = agentToken('ao-bridge', { scopes: ['read-all', 'bridge'] })
    at.drop('kept')
    expect(await bridge.exit).toMatchObject({ code: 4 })
    expect(bridge.stderr()).toContain('the token is not valid')
    expect(await found('kept')).toEqual([])
    const again = machine({ folder: at.folder, token: next, url })
    expect((await again.sync()).answer).toMatchObject({ brought: 1, problems: [] })
    expect(await found('kept')).toEqual(['kept'])
  })

  it('tells the folders of two machines apart, although their paths are the same', async () => {
    const { at, found, token, url } = await scene()
    at.drop('one')
    await at.sync()
    renameSync(at.folder, `${at.folder}-elsewhere`)
    mkdirSync(join(at.folder, 'ao-10/inbox'), { recursive: true })
    const other = machine({ folder: at.folder, name: 'another', token, url })
    await other.isCalled()
    other.drop('two')
    expect((await other.sync()).answer).toMatchObject({ brought: 1, written: 1 })
    expect((await other.sync()).answer).toMatchObject({ brought: 0, written: 0 })
    expect(other.inbox('ao-10')).toHaveLength(2)
    expect([await found('one'), await found('two')]).toEqual([['one'], ['two']])
  })

  it('is for the person, and for tokens that say so', async () => {
    const { at, agentToken, hub, url, found } = await scene()
    at.drop('one')
    for (const scopes of [undefined, ['read-all', 'act'] as const]) {
      const token = agentToken('eve', scopes && { scopes: [...scopes] })
      const { code, error } = await machine({ folder: at.folder, token, url }).sync()
      expect([code, error.message]).toEqual([4, 'the token is not good for this: it needs bridge'])
    }
    expect(await found('one')).toEqual([])
    const person = machine({ folder: at.folder, token: hub.token, url })
    expect((await person.sync()).answer).toMatchObject({ brought: 1 })
  })

  it('writes no mail that is encrypted for its recipient, whoever its token is of, and its sender is told', async () => {
    const { at, space, url, hub } = await scene()
    at.drop('one')
    await at.sync()
    const person = machine({ folder: at.folder, token: hub.token, url })
    for (const one of [at, person]) {
      const { id } = await space
        .mailboxInside('zoe')
        .send({ to: 'ao-10', body: 'for your eyes', encrypt: true })
      expect((await one.sync()).answer).toMatchObject({ written: 0, problems: [] })
      expect((await space.show(id)).receipts).toMatchObject([{ recipient: 'ao-10', state: 'failed' }])
    }
    expect(at.inbox('ao-10')).toHaveLength(1)
  })

  it('takes over what was finished before as history', async () => {
    const { at, found, space } = await scene()
    mkdirSync(join(at.folder, 'ao-10/inbox/processed'))
    const old = { from: 'ao-1', to: 'ao-10', type: 'text', ackedAt: '2026-02-16T20:50:00Z' }
    for (let n = 0; n < 3; n++)
      writeFileSync(
        join(at.folder, `ao-10/inbox/processed/old-${n}.json`),
        JSON.stringify({
          ...old,
          id: `old-${n}`,
          timestamp: '2026-02-16T20:45:00Z',
          payload: { text: `past ${n}` },
        }),
      )
    expect((await at.sync()).answer).toMatchObject({ brought: 3, problems: [] })
    expect((await found('past')).sort()).toEqual(['past 0', 'past 1', 'past 2'])
    const { messages } = await space.mailboxInside('ao-10').inbox({ all: true })
    expect(messages.map(({ state, createdAt }) => [state, createdAt])).toEqual(
      Array.from({ length: 3 }, () => ['acked', '2026-02-16T20:45:00.000Z']),
    )
  })
})

describe('a token of a bridge', () => {
  const origin = { format: 'ao', path: 'there:/x', id: 'm1' }

  it('speaks for nobody but those in its folder', async () => {
    const { act, token, space } = await scene()
    await act('ao-1', 'bridge-join', {}, { token })
    expect(await act('ao-1', 'bring', { to: 'zoe', body: 'x', origin }, { token })).toMatchObject({
      json: { bridge: origin, from: 'ao-1' },
    })
    for (const name of ['user', 'system'])
      expect(await act(name, 'bring', { to: 'zoe', body: 'x', origin }, { token })).toMatchObject({
        ...{ status: 403, json: { error: { message: `a bridge cannot act as ${name}` } } },
      })
    // What it says is always marked, and agents of their own come and go by themselves.
    expect((await act('ao-1', 'bring', { to: 'zoe', body: 'x' }, { token })).status).toBe(400)
    expect((await act('ao-1', 'send', { to: 'zoe', body: 'x' }, { token })).status).toBe(403)
    expect((await act('zoe', 'bridge-join', {}, { token })).status).toBe(409)
    expect((await act('zoe', 'bridge-leave', {}, { token })).status).toBe(403)
    expect(space.core.agents.get('zoe')).toMatchObject({ session: { generation: 1 } })
  })

  it('imports nothing that the person or the mailbox is said to have written', async () => {
    const { act, token } = await scene()
    const at = '2026-02-16T20:45:00.000Z'
    const message = (id: string, more: object) => ({
      ...{ kind: 'message', at },
      message: {
        ...{ id, from: 'ao-1', to: ['zoe'], type: 'text', priority: 'normal', createdAt: at, threadId: id },
        ...{ requiresAck: false, awaitingResponse: false, tags: [], attachments: [], subject: '', body: 'x' },
        ...more,
      },
    })
    const id = (n: number) => `01900000-0000-7000-8000-00000000000${n}`
    const bridge = origin
    const step = (of: string, by: string) => ({
      ...{ kind: 'receipt', at, step: 'acked', by },
      changes: [{ id: of, owner: 'zoe', box: 'zoe', state: 'acked' }],
    })
    const lines = [
      message(id(1), { bridge }),
      message(id(2), { bridge, from: 'user' }),
      message(id(3), { bridge, from: 'system' }),
      message(id(4), {}),
      step(id(1), 'zoe'),
      step(id(1), 'user'),
      step(id(4), 'zoe'),
      { kind: 'settings', settings: { rules: 'open' } },
    ]
    const { json } = await act('ao-bridge', 'bridge-import', { lines }, { token })
    expect(json).toMatchObject({ imported: 1 })
    expect(json.refused.map(({ line }: { line: number }) => line)).toEqual([2, 3, 4, 6, 7, 8])
  })

  it('gives no role that the person gives', async () => {
    const { act, token, space } = await scene()
    space.settings['roles.granted'] = ['lead']
    const { json } = await act('ao-1', 'bridge-join', { roles: ['lead', 'tester'] }, { token })
    expect(json).toMatchObject({ roles: ['tester'], session: { client: 'bridge' } })
    const more = await act('ao-1', 'bridge-update', { addRoles: ['lead'], addTags: ['project:x'] }, { token })
    expect(more.json).toMatchObject({ roles: ['tester'], tags: ['project:x'] })
  })
})
