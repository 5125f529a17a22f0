import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { revokeAgentToken } from '../../src/hub/tokens.ts'
import { serveHub } from '../helpers/mcp.ts'
import { tempSpace } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

const ofEach = 25

/** A connection of its own, with every byte that came over it. */
class Line {
  readonly #socket: Socket
  #bytes = Buffer.alloc(0)
  readonly ended: Promise<void>

  constructor(url: string, request: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect(Number(port), hostname)
    this.#socket.on('data', (data: Buffer) => (this.#bytes = Buffer.concat([this.#bytes, data])))
    this.#socket.on('error', () => {})
    this.ended = new Promise((resolve) => this.#socket.once('close', () => resolve()))
    this.#socket.write(request)
    onTestFinished(() => void this.#socket.destroy())
  }

  /** What came so far. Nothing is compressed, so words can be looked for. */
  get text(): string {
    return this.#bytes.toString('latin1')
  }

  close(): void {
    this.#socket.end()
  }
}

it('gives not one byte of mail to 100 streams, waits and calls whose token was just revoked', async () => {
  const space = await tempSpace()
  const bob = await space.mailbox('bob')
  const ada = await space.mailbox('ada')
  const hub = await serveHub(space.dir)
  const token = hub.tokenOf('bob')
  const { host } = new URL(hub.url)
  const head = (first: string, ...more: string[]) =>
    [`${first} HTTP/1.1`, `host: ${host}`, ...more, '', ''].join('\r\n')
  const authorization = `authorization: Bearer ${token}`
  const post = (path: string, body: object, ...more: string[]) => {
    const text = JSON.stringify(body)
    const headers = ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`]
    return `${head(`POST ${path}`, authorization, ...headers, ...more)}${text}`
  }
  const lines = (request: () => string) => Array.from({ length: ofEach }, () => new Line(hub.url, request()))

  const events = lines(() => head('GET /api/stream', authorization))
  const sockets = lines(() =>
    head(
      'GET /api/stream',
      ...['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
      `sec-websocket-key: ${randomBytes(16).toString('base64')}`,
      `sec-websocket-protocol: mailbox, bearer.${token}`,
    ),
  )
  await until(async () => (await hub.metric('mailbox_streams{kind="sse"}')) === ofEach)
  await until(async () => (await hub.metric('mailbox_streams{kind="websocket"}')) === ofEach)
  // Mail does come over them while the token is good.
  await ada.send({ to: 'bob', subject: 'IN-TIME' })
  for (const line of [...events, ...sockets]) await until(() => line.text.includes('IN-TIME'))
  await bob.check()

  const waits = lines(() => post('/api/mailboxes/bob/wait', {}))
  const accept = 'accept: application/json, text/event-stream'
  const hello = new Line(
    hub.url,
    post(
      '/mcp',
      {
        ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'many', version: '1' },
        },
      },
      accept,
    ),
  )
  await until(() => /mcp-session-id: \S+/.test(hello.text))
  const session = `mcp-session-id: ${/mcp-session-id: (\S+)/.exec(hello.text)![1]}`
  let id = 1
  const calls = lines(() =>
    post(
      '/mcp',
      {
        ...{ jsonrpc: '2.0', id: ++id, method: 'tools/call' },
        params: { name: 'wait', arguments: { seconds: 60 } },
      },
      ...[accept, session, 'mcp-protocol-version: 2025-11-25'],
    ),
  )
  await until(async () => (await hub.metric('mailbox_waits')) === ofEach)
  await until(async () => (await hub.metric('mailbox_mcp_calls')) === ofEach)

  const all = [...events, ...sockets, ...waits, ...calls]
  expect(all).toHaveLength(100)
  revokeAgentToken(space.dir, 'bob')
  // At once: the hub cannot have heard of it.
  const sent = await Promise.all(
    Array.from({ length: 10 }, (_, n) => ada.send({ to: 'bob', subject: `TOO-LATE ${n}` })),
  )
  for (const line of waits) await until(() => line.text.startsWith('HTTP/1.1 401 '))
  for (const line of events) await until(() => line.text.includes(': revoked at '))
  // A close frame with the code 1008.
  for (const line of sockets) await until(() => line.text.includes('\x03\xf0'))
  await until(async () => (await hub.metric('mailbox_mcp_calls')) === 0)
  for (const line of [...all, hello]) line.close()
  // What was under way has come by the time that the hub has stopped.
  hub.running.kill('SIGTERM')
  await hub.running.exit
  await Promise.all(all.map(({ ended }) => ended))
  expect(all.filter(({ text }) => text.includes('TOO-LATE'))).toEqual([])
  // Nobody took any of it.
  const { messages } = await bob.inbox({ unread: true })
  expect(messages.map((message) => message.id).sort()).toEqual(sent.map((message) => message.id).sort())
})
