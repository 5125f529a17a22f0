import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { stageHub } from '../helpers/hub.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

/** Sends bytes and returns everything that comes back until the other side closes. */
function raw(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let answer = ''
  socket.on('data', (data) => (answer += data.toString()))
  socket.on('error', () => {})
  socket.write(text)
  return new Promise((resolve) => socket.on('close', () => resolve(answer)))
}

const statusOf = (answer: string) => Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1])

it('refuses an address of 15,000 characters with one short line in the log', async () => {
  const stage = await stageHub({ consoleDir: tempDir() })
  for (const accept of ['*/*', 'text/html']) {
    const before = stage.lines.length
    const answer = await stage.ask(`/${'a'.repeat(15_000)}`, { token: null, headers: { accept } })
    expect(answer.status).toBe(414)
    const lines = stage.lines.slice(before)
    expect(lines).toMatchObject([{ event: 'refused', reason: 'target', status: 414 }])
    expect(JSON.stringify(lines).length).toBeLessThan(1_000)
  }
  // A name that no file can have is one that is not there.
  expect((await stage.ask(`/${'a'.repeat(3_000)}`, { token: null })).status).toBe(404)
  expect(stage.lines).toHaveLength(2)
})

it('lets nobody fill the log without a token, and counts what it leaves out', async () => {
  const stage = await stageHub()
  const attempts = 300
  for (let n = 0; n < attempts; n++) await stage.ask('/api/agents', { token: null })
  const written = stage.refusals().length
  expect(written).toBeGreaterThan(20)
  expect(written).toBeLessThan(attempts / 2)
  // Whoever has a token is always in the log.
  await stage.space.join('ada')
  const ada = stage.agentToken('ada')
  await stage.act('user', 'send', {}, { token: ada })
  expect(stage.refusals().at(-1)).toMatchObject({ reason: 'agent', agent: 'ada' })
  expect(await stage.metric('mailbox_http_refused_total{reason="token"}')).toBe(attempts)
  await until(async () => {
    await stage.ask('/api/agents', { token: null })
    return stage.refusals().some(({ leftOut }) => Number(leftOut) > 0)
  })
})

it('stays open to everybody else while a thousand sockets say nothing', async () => {
  const stage = await stageHub({ limits: { connections: 600, strangers: 100 } })
  const port = Number(new URL(stage.url).port)
  const silent: Socket[] = []
  onTestFinished(() => {
    for (const socket of silent) socket.destroy()
  })
  const headers = { authorization: `Bearer ${stage.token}` }
  const following = new AbortController()
  const stream = await fetch(`${stage.url}/api/stream`, { headers, signal: following.signal })
  for (let n = 0; n < 1_000; n++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    silent.push(socket)
    await new Promise((resolve) => socket.once('connect', resolve))
  }
  expect((await stage.ask('/api/agents')).status).toBe(200)
  expect((await stage.ask('/health', { token: null })).status).toBe(200)
  expect(await stage.metric('mailbox_connections')).toBeLessThan(120)
  expect(await stage.metric('mailbox_http_refused_total{reason="strangers"}')).toBeGreaterThan(800)
  // Whoever has shown a token keeps its connection.
  await (await stage.space.mailbox('ada')).send({ to: 'user', subject: 'still here' })
  const reader = stream.body!.getReader()
  let text = ''
  while (!text.includes('still here')) text += Buffer.from((await reader.read()).value!).toString()
  following.abort()
})

it('ends a connection that does not finish its headers', async () => {
  const stage = await stageHub({ limits: { headersMs: 300 } })
  const answer = await raw(stage.url, 'GET /health HTTP/1.1\r\nHost: 127')
  expect(statusOf(answer)).toBe(408)
})

it('refuses what a browser sends for a page of another site, and opens the console from a link', async () => {
  const stage = await stageHub({ consoleDir: tempDir() })
  const get = async (path: string, site: string, more: Record<string, string> = {}) =>
    (
      await stage.ask(path, {
        token: stage.hub.consoleToken,
        headers: { 'sec-fetch-site': site, accept: 'text/html', ...more },
      })
    ).status
  const image = { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
  const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  const frame = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
  // The console is not built here, and says so.
  for (const [path, site, more, status] of [
    ['/', 'cross-site', image, 403],
    ['/', 'same-site', image, 403],
    ['/', 'cross-site', frame, 403],
    ['/health', 'cross-site', image, 403],
    ['/api/agents', 'cross-site', link, 403],
    ['/metrics', 'cross-site', link, 403],
    ['/', 'cross-site', link, 503],
    ['/', 'none', link, 503],
    ['/api/agents', 'same-origin', {}, 200],
    ['/api/agents', 'none', {}, 200],
  ] as const)
    expect([path, site, await get(path, site, more)]).toEqual([path, site, status])
  // The token of programs has no business in a browser.
  const headers = { 'sec-fetch-site': 'same-origin' }
  expect((await stage.ask('/api/agents', { headers })).status).toBe(401)
})

it('takes a token as a subprotocol for WebSockets only, and one Host', async () => {
  const stage = await stageHub()
  const headers = { 'sec-websocket-protocol': `mailbox, bearer.${stage.token}` }
  expect((await stage.ask('/api/agents', { token: null, headers })).status).toBe(401)
  const { host } = new URL(stage.url)
  const head = `Authorization: Bearer ${stage.token}\r\nConnection: close\r\n`
  const twice = await raw(stage.url, `GET /api/agents HTTP/1.1\r\nHost: ${host}\r\nHost: evil\r\n${head}\r\n`)
  expect(statusOf(twice)).toBe(400)
  const once = await raw(stage.url, `GET /api/agents HTTP/1.1\r\nHost: ${host}\r\n${head}\r\n`)
  expect(statusOf(once)).toBe(200)
})

it('refuses addresses that are none, with a WebSocket and without', async () => {
  const stage = await stageHub()
  const { host } = new URL(stage.url)
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
  for (const target of ['//', 'http://[', 'http://127.0.0.1:1/api/stream', '//evil/api/stream', '*']) {
    for (const more of [upgrade, 'Connection: close\r\n']) {
      const answer = await raw(
        stage.url,
        `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${stage.token}\r\n${more}\r\n`,
      )
      expect([target, statusOf(answer)]).toEqual([target, expect.toBeOneOf([400, 404])])
    }
  }
  expect(stage.lines.filter(({ msg }) => msg === 'failed')).toEqual([])
})

it('says that nothing is to be kept, and repeats little of what it was sent', async () => {
  const stage = await stageHub()
  for (const path of ['/api/agents', '/api/nothing', '/metrics', '/health', '/api/stream?after=x'])
    expect([path, (await stage.ask(path)).headers['cache-control']]).toEqual([path, 'no-store'])
  expect((await stage.ask('/api/agents', { token: null })).headers['cache-control']).toBe('no-store')
  await stage.space.join('bob')
  for (const [operation, input] of [
    ['inbox', { after: 'x'.repeat(1_000_000) }],
    ['sent', { after: 'x'.repeat(1_000_000) }],
    ['search', { query: `before:${'9'.repeat(1_000_000)}` }],
    ['send', { to: 'b'.repeat(1_000_000) }],
    ['read', { id: 'x'.repeat(1_000_000) }],
  ] as const) {
    const { status, text } = await stage.act('user', operation, input)
    expect([operation, status]).toEqual([operation, expect.toBeOneOf([400, 404])])
    expect([operation, text.length < 3_000]).toEqual([operation, true])
  }
})

it.each(['1e-400', '-1e-999', '0.000e1', '0e-999', `0.${'0'.repeat(400)}1`])(
  'takes no number that would become another: %s',
  async (number) => {
    const stage = await stageHub()
    await stage.space.join('bob')
    const { status } = await stage.ask('/api/mailboxes/user/send', {
      raw: `{"to":"bob","payload":${number}}`,
    })
    expect(status).toBe(/^-?0(\.0+)?e/.test(number) ? 200 : 400)
  },
)
