import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Callers } from '../../src/hub/callers.ts'
import type { Scope } from '../../src/hub/scopes.ts'
import { createAgentToken, digestOf, listAgentTokens, revokeAgentToken } from '../../src/hub/tokens.ts'
import { openSpace } from '../../src/space/open.ts'
import { stageHub } from '../helpers/hub.ts'

/** Mail between ada and bob, and mallory who has a token and no part in it. */
async function stageTalk() {
  const stage = await stageHub()
  const ada = await stage.space.mailbox('ada', { join: { roles: ['architect'] } })
  const bob = await stage.space.mailbox('bob')
  await stage.space.join('mallory')
  const secret = await ada.send({ to: 'bob', subject: 'secret plan', body: 'the vault is open' })
  await bob.reply(secret.id, { body: 'vault seen' })
  await ada.send({ to: 'bob', subject: 'a question about the vault', awaitingResponse: true })
  const told = await ada.send({ to: 'mallory', subject: 'for mallory', body: 'about the vault' })
  const as = (name: string, scopes?: Scope[]) => {
    const token = stage.agentToken(name, scopes === undefined ? {} : { scopes })
    return {
      token,
      get: (path: string) => stage.ask(path, { token }),
      act: (operation: string, input: object = {}, who = name) => stage.act(who, operation, input, { token }),
    }
  }
  return { stage, ada, bob, secret, told, as }
}

it('shows an agent its own mail, its threads and the roster, and nothing else', async () => {
  const { stage, ada, secret, told, as } = await stageTalk()
  const { get, act, token } = as('mallory')
  const { id } = secret
  for (const [operation, input] of [
    ['read', { id }],
    ['show', { id }],
    ['thread', { id }],
    ['ack', { id }],
    ['claim', { id }],
    ['done', { id }],
    ['take', { id }],
    ['take-all', { ids: [id] }],
    ['reply', { id, body: 'let me in' }],
    ['send', { to: 'bob', replyTo: id, body: 'let me in' }],
    ['wait-for-ack', { id, timeoutMs: 0 }],
    ['wait-until-settled', { ids: [id], timeoutMs: 0 }],
  ] as const) {
    const { status, text } = await act(operation, input)
    expect([operation, status]).toEqual([operation, 404])
    expect(text).not.toContain('vault')
  }
  for (const path of [`/api/messages/${id}`, `/api/threads/${id}`])
    expect([path, (await get(path)).status]).toEqual([path, 404])
  for (const path of ['overview', 'needs-you', 'digest', 'stats', 'traffic', 'series', 'replay'])
    expect([path, (await get(`/api/${path}`)).status]).toEqual([path, 403])
  expect((await get('/metrics')).status).toBe(403)
  expect((await get('/api/stream?mailbox=ada')).status).toBe(403)
  // What is left has only what is hers.
  const found = (await act('search', { query: 'vault' })).json.messages
  expect(found.map(({ id: one }: { id: string }) => one)).toEqual([told.id])
  expect((await get('/api/search?q=vault')).json.messages).toHaveLength(1)
  expect((await get('/api/threads?agent=ada')).json.threads).toMatchObject([{ id: told.id }])
  expect((await get('/api/owed')).json.owed).toEqual([])
  expect((await get('/api/dead')).json.letters).toEqual([])
  const { text: entries } = await get('/api/entries?limit=1')
  expect(entries).not.toContain('secret plan')
  const all = (await get('/api/entries')).json.entries
  expect(all.map(({ message }: { message?: { id: string } }) => message?.id)).toContain(told.id)
  expect(JSON.stringify(all)).not.toContain('secret plan')
  expect((await get('/api/agents')).json.agents.length).toBeGreaterThan(2)
  expect((await act('read', { id: told.id })).status).toBe(200)

  // Writing into a thread of others lets nobody in, and neither does what comes back from the mailbox itself.
  await act('send', { to: 'mallory', threadId: id, body: 'to myself' })
  await act('send', { to: 'bob', threadId: id, body: 'hello', ttlMs: 1 })
  const senders = (await act('thread', { id })).json.messages.map(({ from }: { from: string }) => from)
  // On a slow machine it has come back by now.
  expect(senders.filter((from: string) => from !== 'system')).toEqual(['mallory', 'mallory'])
  expect((await act('show', { id })).status).toBe(404)
  // Being written to does.
  await ada.send({ to: 'mallory', replyTo: id, body: 'come in' })
  expect((await act('thread', { id })).json.messages).toHaveLength(5)
  expect((await act('show', { id })).status).toBe(200)

  const remote = await openSpace({ url: stage.url, token })
  onTestFinished(() => remote.close())
  const seen: string[] = []
  for await (const { entry } of remote.follow({ after: 0 })) {
    if (entry.kind === 'message') seen.push(entry.message.subject)
    if (seen.includes('for mallory')) break
  }
  expect(seen).toEqual(['for mallory'])
})

it('gives a token for metrics the metrics, to an agent that need not exist', async () => {
  const { as } = await stageTalk()
  const { get, act } = as('prometheus', ['metrics'])
  expect((await get('/metrics')).status).toBe(200)
  for (const path of ['/api/space', '/api/agents', '/api/openapi.json', '/api/stream', '/mcp'])
    expect([path, (await get(path)).status]).toEqual([path, 403])
  for (const operation of ['join', 'inbox', 'send', 'check', 'open'])
    expect([operation, (await act(operation)).status]).toEqual([operation, 403])
})

it('lets a token that reads act in nothing, and one that reads everything read everything', async () => {
  const { secret, as } = await stageTalk()
  const own = as('bob', ['read-own'])
  expect((await own.act('inbox')).status).toBe(200)
  expect((await own.get(`/api/messages/${secret.id}`)).status).toBe(200)
  for (const operation of ['check', 'send', 'read', 'wait', 'join'])
    expect([operation, (await own.act(operation, { id: 'x' })).status]).toEqual([operation, 403])
  expect((await own.get('/mcp')).status).toBe(403)

  const all = as('auditor', ['read-all'])
  for (const path of ['overview', 'needs-you', 'stats', 'entries', `messages/${secret.id}`, 'agents'])
    expect([path, (await all.get(`/api/${path}`)).status]).toEqual([path, 200])
  expect((await all.get('/metrics')).status).toBe(200)
  expect((await all.act('inbox', {}, 'bob')).json.messages.length).toBeGreaterThan(0)
  expect((await all.act('thread', { id: secret.id }, 'bob')).json.messages).toHaveLength(2)
  for (const [operation, who] of [
    ['check', 'bob'],
    ['send', 'user'],
    ['send', 'auditor'],
    ['join', 'auditor'],
  ] as const)
    expect([operation, who, (await all.act(operation, { to: 'ada' }, who)).status]).toEqual([
      ...[operation, who, 403],
    ])
})

it('ends a token when its time is up', async () => {
  const { stage } = await stageTalk()
  const token = stage.agentToken('ada', { lastsMs: 60_000 })
  expect((await stage.act('ada', 'count', {}, { token })).status).toBe(200)
  const short = stage.agentToken('ada', { lastsMs: 1 })
  const { status, json } = await stage.act('ada', 'count', {}, { token: short })
  expect({ status, json }).toMatchObject({
    status: 401,
    json: { error: { message: 'the token has expired' } },
  })
  expect(stage.refusals().at(-1)).toMatchObject({ reason: 'expired', agent: 'ada' })
})

it('keeps tokens from before there were scopes', async () => {
  const { stage } = await stageTalk()
  const token = 'mbx_early'
  const row = { sha256: digestOf(token), createdAt: new Date().toISOString() }
  writeFileSync(join(stage.space.dir, 'hub', 'agents.json'), JSON.stringify({ ada: row }), { mode: 0o600 })
  expect((await stage.act('ada', 'check', {}, { token })).status).toBe(200)
  expect((await stage.ask('/metrics', { token })).status).toBe(200)
  expect((await stage.ask('/api/overview', { token })).status).toBe(403)
})

it('has a place for every name', async () => {
  const { stage } = await stageTalk()
  const { dir } = stage.space
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const tokens = names.map((name) => createAgentToken(dir, name))
  expect(listAgentTokens(dir).map(({ name }) => name)).toEqual(names)
  const callers = new Callers(dir)
  onTestFinished(() => callers.stop())
  expect(tokens.map((token) => callers.callerOf(token)?.agent)).toEqual(names)
  for (const name of names) expect(revokeAgentToken(dir, name)).toBe(true)
  expect(revokeAgentToken(dir, 'valueOf')).toBe(false)
  expect(listAgentTokens(dir)).toEqual([])
})
