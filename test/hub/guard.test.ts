import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createAgentToken, listAgentTokens, revokeAgentToken } from '../../src/hub/tokens.ts'
import { type Stage, stageHub } from '../helpers/hub.ts'
import { until } from '../helpers/wait.ts'

/** Tries to open a WebSocket; the status of the refusal, or 101. */
const knock = (stage: Stage, options: { protocols?: string[]; headers?: Record<string, string> }) =>
  new Promise<number>((resolve) => {
    const url = `${stage.url.replace('http', 'ws')}/api/stream`
    const socket = new WebSocket(url, options.protocols ?? [], { headers: options.headers ?? {} })
    socket.on('unexpected-response', (_, response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    socket.on('open', () => {
      socket.terminate()
      resolve(101)
    })
    socket.on('error', () => {})
  })

it('lets nobody in by a forged Origin, a foreign Host, no token or a wrong one, and notes each', async () => {
  const stage = await stageHub()
  await stage.space.join('ada')
  await stage.space.join('bob')
  const ada = stage.agentToken('ada')
  const port = new URL(stage.url).port
  const attempts: [reason: string, status: number, path: string, options: object][] = [
    ['origin', 403, '/api/overview', { headers: { origin: 'https://evil.example' } }],
    ['origin', 403, '/api/overview', { headers: { origin: 'null' } }],
    ['origin', 403, '/', { headers: { origin: `http://127.0.0.1:${Number(port) + 1}` } }],
    ['host', 403, '/api/overview', { headers: { host: `evil.example:${port}` } }],
    ['host', 403, '/api/overview', { headers: { host: '127.0.0.1' } }],
    ['host', 403, '/health', { headers: { host: 'localhost.evil.example' } }],
    ['token', 401, '/api/overview', { token: null }],
    ['token', 401, '/metrics', { token: null }],
    ['token', 401, '/mcp', { token: null, body: {} }],
    ['token', 401, '/api/nothing-here', { token: null }],
    ['token', 401, '/api/stream', { token: 'mbx_guessed' }],
    ['agent', 403, '/api/mailboxes/bob/check', { token: ada, body: {} }],
    ['agent', 403, '/api/mailboxes/user/send', { token: ada, body: { to: 'bob' } }],
    ['agent', 403, '/api/mailboxes/bob/inbox', { token: ada, body: {} }],
    ['agent', 403, '/api/mailboxes/system/send', { body: { to: 'bob' } }],
    ['agent', 403, '/api/mailboxes/bob/check', { body: {} }],
  ]
  const end = await stage.space.lastSeq()
  for (const [reason, status, path, options] of attempts) {
    const before = stage.lines.length
    const answer = await stage.ask(path, options)
    expect([path, answer.status]).toEqual([path, status])
    expect(answer.json.error).toMatchObject({ code: 'not_permitted', hint: expect.any(String) })
    expect(stage.lines.slice(before)).toMatchObject([{ event: 'refused', reason, status, path }])
  }
  expect(await stage.space.lastSeq()).toBe(end)
  const logged = JSON.stringify(stage.lines)
  for (const secret of [stage.token, ada, 'mbx_guessed']) expect(logged).not.toContain(secret)

  for (const host of [`localhost:${port}`, `[::1]:${port}`, `127.0.0.1:${port}`]) {
    const headers = { host, origin: `http://${host}` }
    expect((await stage.ask('/api/agents', { headers })).status).toBe(200)
  }
  // The person looks into every inbox, and acts in none.
  expect((await stage.act('bob', 'inbox')).status).toBe(200)
})

it('checks WebSockets the same way, and takes the token as a subprotocol', async () => {
  const stage = await stageHub()
  const headers = { authorization: `Bearer ${stage.token}` }
  expect(await knock(stage, {})).toBe(401)
  expect(await knock(stage, { protocols: ['mailbox', 'bearer.mbx_guessed'] })).toBe(401)
  expect(await knock(stage, { headers: { ...headers, origin: 'https://evil.example' } })).toBe(403)
  expect(await knock(stage, { headers: { ...headers, host: 'evil.example' } })).toBe(403)
  expect(stage.refusals().map(({ reason }) => reason)).toEqual(['token', 'token', 'origin', 'host'])
  expect(await knock(stage, { headers })).toBe(101)
  expect(await knock(stage, { protocols: ['mailbox', `bearer.${stage.token}`] })).toBe(101)
})

it('holds WebSockets to the rate of their token, and counts them like other requests', async () => {
  const stage = await stageHub({ limits: { requestsPerSecond: 0.001, requestBurst: 2 } })
  const headers = { authorization: `Bearer ${stage.token}` }
  expect(await knock(stage, { headers })).toBe(101)
  expect(await knock(stage, { headers })).toBe(101)
  expect(await knock(stage, { headers })).toBe(429)
  expect(stage.refusals()).toMatchObject([
    { reason: 'rate', status: 429, method: 'WEBSOCKET', path: '/api/stream', agent: 'user' },
  ])
  expect(await knock(stage, {})).toBe(401)
  const prometheus = stage.agentToken('prometheus', { scopes: ['metrics'] })
  const { text } = await stage.ask('/metrics', { token: prometheus })
  for (const line of [
    'mailbox_http_requests_total{operation="stream",status="101"} 2',
    'mailbox_http_requests_total{operation="other",status="429"} 1',
    'mailbox_http_requests_total{operation="other",status="401"} 1',
  ])
    expect(text).toContain(line)
})

it('answers under the names that a proxy uses, if it was told of them', async () => {
  const stage = await stageHub({ allowHosts: ['Hub.example.org', 'hub.example.org:8443'] })
  const from = (host: string, origin: string) => stage.ask('/api/agents', { headers: { host, origin } })
  expect((await from('hub.example.org', 'https://hub.example.org')).status).toBe(200)
  expect((await from('hub.example.org:8443', 'https://hub.example.org:8443')).status).toBe(200)
  expect((await from('hub.example.org:9000', 'https://hub.example.org')).status).toBe(403)
  expect((await from('hub.example.org', 'https://hub.example.org.evil.example')).status).toBe(403)
})

it('stamps the sender: an agent cannot write as another', async () => {
  const stage = await stageHub()
  await stage.space.join('ada')
  await stage.space.join('bob')
  const token = stage.agentToken('ada')
  const forged = await stage.act('ada', 'send', { to: 'bob', from: 'user', subject: 'x' }, { token })
  expect(forged).toMatchObject({
    status: 400,
    json: { error: { code: 'invalid', message: expect.stringContaining('from') } },
  })
  const sent = await stage.act('ada', 'send', { to: 'bob', subject: 'x' }, { token })
  expect(sent.json).toMatchObject({ from: 'ada' })
  expect((await stage.ask('/api/space', { token })).json.you).toBe('ada')
  expect((await stage.ask('/api/needs-you', { token })).status).toBe(403)
})

it('keeps tokens to itself: 0600, digests only, good until they are taken back', async () => {
  const stage = await stageHub({ beatMs: 50 })
  await stage.space.join('ada')
  const { dir } = stage.space
  const first = createAgentToken(dir, 'ada')
  for (const file of ['token', 'agents.json'])
    expect(statSync(join(dir, 'hub', file)).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(dir, 'hub', 'token'), 'utf8').trim()).toBe(stage.token)
  expect(readFileSync(join(dir, 'hub', 'agents.json'), 'utf8')).not.toContain(first)
  expect(listAgentTokens(dir).map(({ name }) => name)).toEqual(['ada'])
  expect(() => createAgentToken(dir, 'user')).toThrow(/cannot have/)

  const socket = new WebSocket(`${stage.url.replace('http', 'ws')}/api/stream`, [
    'mailbox',
    `bearer.${first}`,
  ])
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  await new Promise((resolve) => socket.on('open', resolve))
  expect((await stage.act('ada', 'count', {}, { token: first })).status).toBe(200)
  const second = createAgentToken(dir, 'ada')
  // Streams of a revoked token end as well.
  expect(await closed).toBe(1008)
  expect((await stage.act('ada', 'count', {}, { token: first })).status).toBe(401)
  expect((await stage.act('ada', 'count', {}, { token: second })).status).toBe(200)
  expect(revokeAgentToken(dir, 'ada')).toBe(true)
  expect(revokeAgentToken(dir, 'ada')).toBe(false)
  expect((await stage.act('ada', 'count', {}, { token: second })).status).toBe(401)
  await until(async () => (await stage.metric('mailbox_streams{kind="websocket"}')) === 0)
})
