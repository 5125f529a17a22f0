import { hash } from 'node:crypto'
import * as http from 'node:http'
import * as https from 'node:https'
import { type Duplex, Readable } from 'node:stream'
import { type ConnectionOptions, connect } from 'node:tls'
import { MailboxError } from '../base/errors.ts'

/** How requests get to a hub. */
export interface Wire {
  /** Where the hub is, for people. */
  readonly url: string
  /** Like the global `fetch`, with a path. */
  fetch(path: string, init: WireRequest): Promise<Response>
  /** The same for a WebSocket: its address, and who makes the connection. */
  socket(path: string): { address: string; agent?: http.Agent }
}

interface WireRequest {
  method?: string
  headers: Record<string, string>
  body?: string | null
  signal: AbortSignal
}

/** A free connection is dropped before the hub drops it: it closes those that are idle for 5 s. */
const agentOptions = { keepAlive: true, timeout: 3_000 }

/**
 * A way to a hub by its URL: over HTTP, over TLS, or over the Unix socket of its space (`unix:/…/hub/socket`). With a
 * `pin`, the fingerprint of its certificate, nothing is sent before the hub has shown that it is the one.
 */
export function wireTo(url: string, pin: string | undefined): Wire {
  const path = /^unix:(?:\/\/)?(\/.+)$/.exec(url)?.[1]
  if (path !== undefined) return wireToSocket(path)
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new MailboxError('invalid', `${JSON.stringify(url)} is not a valid hub URL`, {
      hint: 'pass the URL that `mailbox serve` printed, such as http://127.0.0.1:7337, or unix:PATH for its socket',
    })
  }
  const { origin, protocol } = new URL(url)
  const address = (to: string) => `${origin.replace(/^http/, 'ws')}${to}`
  if (pin === undefined)
    return {
      url: origin,
      fetch: (to, init) => fetch(`${origin}${to}`, init),
      socket: (to) => ({ address: address(to) }),
    }
  if (protocol === 'http:') {
    throw new MailboxError('invalid', 'the token is for a hub that speaks TLS', {
      hint: `use ${origin.replace(/^http/, 'https')}, or a token without the part from ~ on`,
    })
  }
  const agent = new PinnedAgent(pin)
  return {
    url: origin,
    fetch: (to, init) => send((options) => https.request(`${origin}${to}`, { ...options, agent }), init),
    socket: (to) => ({ address: address(to), agent }),
  }
}

function wireToSocket(socketPath: string): Wire {
  const agent = new http.Agent(agentOptions)
  return {
    url: `unix:${socketPath}`,
    fetch: (path, init) => send((options) => http.request({ ...options, agent, socketPath, path }), init),
    socket: (path) => ({ address: `ws+unix:${socketPath}:${path}` }),
  }
}

/** A request by Node's own client, answered as `fetch` does it. */
function send(
  open: (options: http.RequestOptions) => http.ClientRequest,
  { method = 'GET', headers, body, signal }: WireRequest,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const outgoing = open({ method, headers, signal })
    outgoing.on('error', (cause) => {
      reject(cause instanceof MailboxError ? cause : new TypeError('the request failed', { cause }))
    })
    outgoing.on('response', (incoming) => {
      const status = incoming.statusCode!
      const isEmpty = status === 204 || status === 304
      if (isEmpty) incoming.resume()
      resolve(new Response(isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream), { status }))
    })
    outgoing.end(body ?? undefined)
  })
}

/** Makes connections to one hub only: the one with this certificate. Whoever signed it does not matter. */
class PinnedAgent extends https.Agent {
  readonly #pin: string

  constructor(pin: string) {
    super(agentOptions)
    this.#pin = pin
  }

  /** Node sends the request when this calls back, and not before. */
  override createConnection(
    options: http.ClientRequestArgs,
    made: (error: Error | null, socket: Duplex) => void = () => {},
  ): undefined {
    const socket = connect({ ...(options as ConnectionOptions), rejectUnauthorized: false })
    const fail = (error: Error) => made(error, socket)
    socket.once('error', fail)
    socket.once('secureConnect', () => {
      socket.off('error', fail)
      const { raw } = socket.getPeerCertificate()
      if (raw !== undefined && hash('sha256', raw, 'base64url') === this.#pin) return made(null, socket)
      socket.destroy()
      made(
        new MailboxError('not_permitted', 'this is not the hub that the token is for', {
          hint: 'its certificate is another one; if the hub has made a new one, create a new token: mailbox token NAME',
        }),
        socket,
      )
    })
  }
}
