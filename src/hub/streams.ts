import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { concerns } from '../api/mailbox-filter.ts'
import { MailboxError } from '../base/errors.ts'
import { type Caller, readsAll } from './callers.ts'
import { securityHeaders } from './console.ts'
import { type Ending, Follower, type FollowerStart, type Sink } from './follower.ts'
import { sseFrame, webSocketFrame } from './frames.ts'
import { checkMailbox, checkScope } from './guard.ts'
import { Tally } from './limits.ts'
import type { HubParts } from './parts.ts'

/** What a client asks of a stream. */
export interface StreamRequest {
  caller: Caller
  after: string | undefined
  mailbox: string | undefined
}

/** Where a follower starts, and how it gives up its place among the streams of its token. */
interface Start extends FollowerStart {
  leave: () => void
}

/** WebSocket close codes, from RFC 6455 and its registry. */
const closeCodes: Record<Ending, number> = { stopping: 1001, stalled: 1013, revoked: 1008, failed: 1011 }
/** Followers have nothing to send. */
const maxIncomingBytes = 1_024

/** All clients that follow the journal over HTTP, by server-sent events or WebSocket. */
export class Streams {
  readonly #parts: HubParts
  readonly #followers = new Set<Follower>()
  readonly #tally: Tally
  readonly #beating: NodeJS.Timeout
  readonly #sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxIncomingBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('mailbox') ? 'mailbox' : false),
  })

  constructor(parts: HubParts, beatMs = 15_000) {
    this.#parts = parts
    const hint = 'close some, or follow once and share the entries'
    this.#tally = new Tally('streams', parts.limits.streamsPerToken, hint)
    this.#beating = setInterval(() => this.#beat(), beatMs)
    this.#beating.unref()
  }

  #beat(): void {
    this.#parts.revocation.look()
    for (const follower of [...this.#followers]) follower.beat()
  }

  /** Responds with server-sent events. */
  async serveEvents(request: StreamRequest, outgoing: ServerResponse): Promise<void> {
    const start = await this.#prepare(request)
    // The client left meanwhile: no `close` event will tell us.
    if (outgoing.destroyed) return start.leave()
    outgoing.writeHead(200, {
      ...securityHeaders,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    outgoing.write(`retry: 1000\n: from ${start.after}\n\n`)
    const sink: Sink = {
      kind: 'sse',
      wrap: sseFrame,
      write: (bytes) => void outgoing.write(bytes),
      buffered: () => outgoing.writableLength,
      beat: (cursor) => void outgoing.write(`id: ${cursor}\n\n: beat ${cursor}\n\n`),
      end: (why, cursor) => {
        outgoing.write(`: ${why} at ${cursor}\n\n`)
        if (why === 'stalled') outgoing.destroy()
        else outgoing.end()
      },
    }
    const follower = this.#follow(sink, start)
    outgoing.on('drain', () => follower.pump())
    outgoing.on('close', () => follower.gone())
  }

  /** Upgrades the connection to a WebSocket. False when the client's handshake was wrong, and refused. */
  async serveSocket(
    request: StreamRequest,
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<boolean> {
    const start = await this.#prepare(request)
    // Also when the handshake fails.
    socket.once('close', start.leave)
    if (socket.destroyed) {
      start.leave()
      return false
    }
    let isOpen = false
    this.#sockets.handleUpgrade(incoming, socket, head, (client) => {
      isOpen = true
      const sink: Sink = {
        kind: 'websocket',
        wrap: webSocketFrame,
        // Whole frames go straight into the socket: the library would frame every entry again for every follower.
        write: (bytes) => void socket.write(bytes),
        buffered: () => socket.writableLength,
        beat: () => client.ping(),
        end: (why, cursor) => {
          client.close(closeCodes[why], `${why}; resume after ${cursor}`)
          if (why === 'stalled') client.terminate()
        },
      }
      const follower = this.#follow(sink, start)
      client.on('error', () => client.terminate())
      client.on('close', () => follower.gone())
      socket.on('drain', () => follower.pump())
    })
    return isOpen
  }

  #follow(sink: Sink, start: Start): Follower {
    const follower = new Follower(this.#parts, sink, start, () => {
      this.#followers.delete(follower)
      release()
      start.leave()
    })
    const release = this.#parts.revocation.hold(start.caller, () => follower.end('revoked'))
    this.#followers.add(follower)
    follower.pump()
    return follower
  }

  async #prepare({ caller, after, ...request }: StreamRequest): Promise<Start> {
    const mailbox = request.mailbox ?? (readsAll(caller) ? undefined : caller.agent)
    if (mailbox === undefined) checkScope(caller, 'read-all')
    else checkMailbox(caller, mailbox, true)
    const start = await this.#startOf(after)
    const agent = mailbox === undefined ? undefined : await this.#parts.survey.agent(mailbox)
    const wants = mailbox === undefined ? {} : { wants: concerns(mailbox, agent) }
    return { caller, after: start, leave: this.#tally.enter(caller), ...wants }
  }

  async #startOf(after: string | undefined): Promise<number> {
    const end = await this.#parts.space.lastSeq()
    if (after === undefined) return end
    const seq = /^\d{1,15}$/.test(after) ? Number(after) : Number.NaN
    if (seq <= end) return seq
    throw new MailboxError('invalid', `there is no entry ${after.slice(0, 20)} to resume from`, {
      hint: `the last one is ${end}; omit \`after\` to start there`,
    })
  }

  /** Ends all streams. Clients resume from their cursors when the hub is back. */
  stop(): void {
    clearInterval(this.#beating)
    for (const follower of [...this.#followers]) follower.end('stopping')
    this.#sockets.close()
  }
}
