import { renameSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Feed } from '../../src/hub/feed.ts'
import { operations } from '../../src/hub/operations.ts'
import { Survey } from '../../src/space/survey.ts'
import { stageHub } from '../helpers/hub.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

it('refuses what makes no sense with a status, a hint, and nothing written', async () => {
  const stage = await stageHub()
  await stage.space.join('bob')
  const end = await stage.space.lastSeq()
  const deep = `{"to":"bob","payload":${'['.repeat(200)}${']'.repeat(200)}}`
  const attempts: [
    status: number,
    code: string,
    operation: string,
    raw: string | Buffer,
    headers?: object,
  ][] = [
    [400, 'invalid', 'send', '{"to":"bob"'],
    [400, 'invalid', 'send', 'to=bob'],
    [400, 'invalid', 'send', '"bob"'],
    [400, 'invalid', 'send', '[]'],
    [400, 'invalid', 'send', 'null'],
    [400, 'invalid', 'send', deep],
    [400, 'invalid', 'send', '{"to":"bob","to":"user"}'],
    [400, 'invalid', 'send', '{"to":"bob","__proto__":{"x":1}}'],
    [400, 'invalid', 'send', '{"to":"bob","payload":123456789012345678901234567890}'],
    [400, 'invalid', 'send', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    [400, 'invalid', 'send', '{"to":7}'],
    [400, 'invalid', 'send', '{}'],
    [400, 'invalid', 'send', '{"to":"bob","priority":"loud"}'],
    [400, 'invalid', 'send', '{"to":"bob","colour":"red"}'],
    [400, 'invalid', 'send', '{"to":"bob","requiresAck":"yes"}'],
    [400, 'invalid', 'fail', '{"id":"x"}'],
    [400, 'invalid', 'wait', '{"timeoutMs":60001}'],
    [400, 'invalid', 'inbox', '{"limit":0}'],
    [400, 'invalid', 'inbox', '{"after":"nonsense"}'],
    [415, 'invalid', 'send', '{"to":"bob"}', { 'content-type': 'text/plain' }],
    [413, 'over_limit', 'send', JSON.stringify({ to: 'bob', body: 'x'.repeat(1_048_577) })],
    [413, 'over_limit', 'send', JSON.stringify({ to: 'bob', body: 'x'.repeat(3_000_000) })],
    [404, 'unknown_recipient', 'send', '{"to":"bobby"}'],
    [404, 'not_found', 'read', '{"id":"01900000-0000-7000-8000-000000000000"}'],
    [404, 'not_found', 'conjure', '{}'],
    [404, 'not_found', 'constructor', '{}'],
    [400, 'invalid', 'join', '{"session":{"pid":1}}'],
  ]
  for (const [status, code, operation, raw, headers] of attempts) {
    const answer = await stage.ask(`/api/mailboxes/user/${operation}`, { raw, headers: { ...headers } })
    const shown = raw.toString().slice(0, 60)
    expect([shown, answer.status, answer.json?.error.code]).toEqual([shown, status, code])
    expect(answer.json.error.hint, shown).toEqual(expect.any(String))
  }
  for (const [path, status] of [
    ['/api/search', 400],
    ['/api/entries?after=-1', 400],
    ['/api/entries?after=x', 400],
    ['/api/stream?after=999999', 400],
    ['/api/stream?after=first', 400],
    ['/api/threads?colour=red', 400],
    ['/api/traffic?since=yesterday', 400],
    ['/api/threads/none', 404],
    ['/api/messages/none', 404],
    ['/nothing', 404],
    ['/api/mailboxes', 404],
  ] as const) {
    const answer = await stage.ask(path)
    expect([path, answer.status]).toEqual([path, status])
    expect(answer.json.error).toMatchObject({ code: expect.any(String), hint: expect.any(String) })
  }
  expect((await stage.ask('/api/agents', { method: 'DELETE' })).status).toBe(404)
  expect(await stage.space.lastSeq()).toBe(end)
  expect(await stage.metric('mailbox_http_in_flight')).toBe(1)
})

it('takes any name in an address, as long as it is escaped', async () => {
  const stage = await stageHub()
  for (const name of ['dev/ada', 'Grüße', 'two words', 'a%2Fb', 'a?b#c']) {
    await stage.space.join(name)
    const token = stage.agentToken(name)
    const sent = await stage.act(name, 'send', { to: 'user', subject: name }, { token })
    expect([name, sent.status, sent.json.from]).toEqual([name, 200, name])
  }
})

it('takes a message of the largest size, however much of it must be escaped', async () => {
  const stage = await stageHub()
  await stage.space.join('bob')
  const body = '"\n'.repeat(524_288)
  const sent = await stage.act('user', 'send', { to: 'bob', body })
  expect(sent.status).toBe(200)
  expect((await stage.ask(`/api/messages/${sent.json.id}`)).json.message.body).toBe(body)
})

it('reads no more of a body than it takes, whatever its sender says of its length', async () => {
  const stage = await stageHub({ limits: { bodyBytes: 10_000 } })
  const answered = await new Promise<number>((resolve, reject) => {
    const outgoing = request(`${stage.url}/api/mailboxes/user/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' },
    })
    outgoing.on('response', (response) => {
      resolve(response.statusCode!)
      outgoing.destroy()
    })
    outgoing.on('error', reject)
    // Without a length: it goes on and on.
    outgoing.write('{"to":"bob","body":"')
    for (let part = 0; part < 20; part++) outgoing.write('x'.repeat(1_000))
  })
  expect(answered).toBe(413)
})

it('holds a token to a rate, and to so many waits', async () => {
  const burst = 50
  const stage = await stageHub({
    limits: { requestsPerSecond: 0.001, requestBurst: burst, waitsPerToken: 1 },
  })
  await stage.space.join('ada')
  const waiting = request(`${stage.url}/api/mailboxes/user/wait`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.token}` },
  })
  waiting.on('error', () => {})
  waiting.end('{}')
  let used = 1
  // As soon as the first wait is there, a second is one too many.
  await until(async () => {
    used++
    const { status, json } = await stage.act('user', 'wait', { timeoutMs: 0 })
    return status === 429 && json.error.code === 'over_limit'
  })
  expect(stage.refusals().map(({ reason }) => reason)).toEqual(['waits'])
  const statuses: number[] = []
  for (let n = 0; n < burst; n++) statuses.push((await stage.ask('/api/agents')).status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(burst - used)
  const last = await stage.ask('/api/agents')
  expect([last.status, last.headers['retry-after']]).toEqual([429, '1'])
  expect(stage.refusals().at(-1)).toMatchObject({ reason: 'rate', status: 429 })
  // One that asks too much takes nothing from another.
  expect((await stage.ask('/api/agents', { token: stage.agentToken('ada') })).status).toBe(200)
  waiting.destroy()
})

it('takes so many connections and no more, and notes the others', async () => {
  const stage = await stageHub({ limits: { connections: 2 } })
  const { port } = new URL(stage.url)
  const sockets = [1, 2, 3].map(() => connect(Number(port), '127.0.0.1'))
  // The one too many may be reset.
  for (const socket of sockets) socket.on('error', () => {})
  const [, , third] = sockets
  await new Promise((resolve) => third!.on('close', resolve))
  expect(stage.refusals()).toMatchObject([{ reason: 'connections' }])
  sockets[0]!.destroy()
  await until(async () => (await stage.ask('/health').catch(() => undefined))?.status === 200)
  sockets[1]!.destroy()
})

it('keeps no place for a WebSocket that never came about', async () => {
  const stage = await stageHub({ limits: { streamsPerToken: 1 } })
  const { port } = new URL(stage.url)
  for (let n = 0; n < 3; n++) {
    const socket = connect(Number(port), '127.0.0.1')
    let answer = ''
    socket.on('data', (data) => (answer += data.toString()))
    // Everything but the key of the handshake.
    socket.write(
      `GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${stage.token}\r\n` +
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n',
    )
    await new Promise((resolve) => socket.on('close', resolve))
    expect(answer).toMatch(/^HTTP\/1.1 400/)
  }
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${stage.token}` }
  expect((await fetch(`${stage.url}/api/stream`, { headers, signal: gone.signal })).status).toBe(200)
  expect((await stage.ask('/api/stream')).status).toBe(429)
  gone.abort()
})

it('forgets a client that dies in the middle of a request or a wait', async () => {
  const stage = await stageHub()
  const bob = await stage.space.mailbox('bob')
  const token = stage.agentToken('bob')
  const open = async (path: string, head: string, rest: string) => {
    const { port } = new URL(stage.url)
    const socket = connect(Number(port), '127.0.0.1')
    await new Promise((resolve) => socket.on('connect', resolve))
    socket.on('error', () => {})
    socket.write(
      `${head} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n${rest}`,
    )
    return socket
  }
  const json = 'Content-Type: application/json\r\n'
  const clients = [
    await open('/api/mailboxes/bob/send', 'POST', `${json}Content-Length: 100\r\n\r\n{"to":`),
    await open('/api/mailboxes/bob/wait', 'POST', `${json}Content-Length: 2\r\n\r\n{}`),
    await open('/api/mailboxes/bob/wait', 'POST', `${json}Content-Length: 23\r\n\r\n{"type":"no-such-type"}`),
    await open('/api/stream', 'GET', '\r\n'),
  ]
  await until(async () => (await stage.metric('mailbox_waits')) === 2)
  await until(async () => (await stage.metric('mailbox_streams{kind="sse"}')) === 1)
  for (const client of clients) client.destroy()
  await until(async () => (await stage.metric('mailbox_waits')) === 0)
  await until(async () => (await stage.metric('mailbox_streams{kind="sse"}')) === 0)
  // The question about the figures is itself one request on one connection.
  await until(async () => (await stage.metric('mailbox_connections')) === 1)
  await until(async () => (await stage.metric('mailbox_http_in_flight')) === 1)
  // Nobody has taken the mail that came after they had gone.
  const { id } = await (await stage.space.mailbox('ada')).send({ to: 'bob', subject: 'still there' })
  expect((await bob.inbox({ unread: true })).messages.map((message) => message.id)).toEqual([id])
})

it.each(['wait', 'wait-for-messages'])(
  'gives mail back that was taken for a client that had gone: %s',
  async (path) => {
    const { space } = await stageHub()
    const survey = new Survey(space.core)
    const feed = new Feed(space, survey, { keptChars: 1_000 })
    const bob = await space.mailbox('bob')
    await (await space.mailbox('ada')).send({ to: 'bob', subject: 'lost on the way?' })
    const gone = new AbortController()
    // The client goes at the one moment that counts: the mail is taken, the answer is not written.
    const decide = space.core.decide.bind(space.core)
    space.core.decide = async (on, work) => {
      const decided = await decide(on, work)
      gone.abort()
      return decided
    }
    const answer = await operations
      .get(path)!
      .run({ space, name: 'bob', signal: gone.signal, feed, survey }, {})
    const taken = { subject: 'lost on the way?' }
    expect(answer).toMatchObject(path === 'wait' ? { message: taken } : { messages: [taken] })
    expect(await bob.count()).toMatchObject({ unread: 1 })
  },
)

it('says that it is not well when the files of its space are gone, and that it is when they are back', async () => {
  const dir = join(tempDir(), 'space')
  const stage = await stageHub({ open: { dir } })
  await stage.space.mailbox('ada')
  expect(await stage.ask('/health')).toMatchObject({ status: 200, json: { ok: true } })
  renameSync(dir, `${dir}-elsewhere`)
  const { status, text, json } = await stage.ask('/health', { token: null })
  expect({ status, json }).toMatchObject({ status: 503, json: { ok: false, error: { code: 'damaged' } } })
  // Strangers are told no paths.
  expect(text).not.toContain(dir)
  expect(stage.lines).toContainEqual(
    expect.objectContaining({ event: 'health', reason: expect.stringContaining(dir) }),
  )
  const sent = await stage.act('user', 'send', { to: 'ada', subject: 'into nothing' })
  expect(sent).toMatchObject({ status: 500, json: { error: { code: 'damaged' } } })
  renameSync(`${dir}-elsewhere`, dir)
  expect(await stage.ask('/health')).toMatchObject({ status: 200 })
  expect(await stage.act('user', 'send', { to: 'ada', subject: 'back' })).toMatchObject({ status: 200 })
})

it('says how the mirror is, and what reading old files again has found', async () => {
  const dir = tempDir()
  const mirror = join(tempDir(), 'mirror')
  const first = await tempSpace({ dir })
  await first.setMirror(mirror)
  await first.close()
  const stage = await stageHub({ open: { dir } })
  await stage.space.mailbox('ada')
  const health = async () => (await stage.ask('/health', { token: null })).json
  expect(await health()).toEqual({ ok: true, version: '0.0.0-test', mirror: 'current' })
  renameSync(mirror, `${mirror}-away`)
  const findings = [{ segment: 1, offset: 7, where: 'mirror' }]
  writeFileSync(join(dir, 'scrub.json'), JSON.stringify({ segment: 0, sum: '', finishedAt: 0, findings }))
  expect(await health()).toMatchObject({
    ...{ ok: true, mirror: 'away', scrub: { finishedAt: null, damaged: 1 } },
  })
})

it('does not take a client that leaves in the middle of its request for an error', async () => {
  const stage = await stageHub()
  await stage.space.mailbox('ada')
  const { host, port } = new URL(stage.url)
  const head = `Host: ${host}\r\nAuthorization: Bearer ${stage.token}\r\nContent-Type: application/json\r\n`
  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`POST /api/mailboxes/user/send HTTP/1.1\r\n${head}Content-Length: 5000\r\n\r\n{"to":`)
    await until(async () => (await stage.metric('mailbox_http_in_flight')) === 2)
    socket[leave]()
    await until(async () => (await stage.metric('mailbox_http_in_flight')) === 1)
  }
  expect(stage.lines).toEqual([])
})
