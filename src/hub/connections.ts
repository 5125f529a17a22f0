import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { HubLimits } from './limits.ts'
import type { Logger, LogRate } from './log.ts'
import type { Metrics } from './metrics.ts'

interface ConnectionParts {
  limits: Pick<HubLimits, 'connections' | 'strangers'>
  metrics: Metrics
  log: Logger
  logRate: LogRate
}

/**
 * The open sockets of a hub. One that has not shown a token yet is a stranger's: of those there can be so many, and one
 * more ends the oldest. Whoever has a token shows it at once, so silent sockets lock nobody out, however many there are.
 */
export class Connections {
  readonly #parts: ConnectionParts
  readonly #open = new Set<Socket>()
  /** By the other end, because the socket of a TLS connection is not the one that was accepted. Oldest first. */
  readonly #strangers = new Map<string, Socket>()

  constructor(parts: ConnectionParts) {
    this.#parts = parts
  }

  /** Those that came over the Unix socket: they are of this user's programs. */
  readonly #local = new WeakSet<Socket>()

  /** Watches a server's connections. */
  watch(server: Server, { isLocal = false }: { isLocal?: boolean } = {}): void {
    const { limits, metrics } = this.#parts
    server.maxConnections = limits.connections
    server.on('connection', (socket: Socket) => {
      const key = isLocal ? undefined : keyOf(socket)
      if (isLocal) this.#local.add(socket)
      metrics.connections.inc()
      this.#open.add(socket)
      if (key !== undefined) this.#receive(key, socket)
      socket.on('close', () => {
        metrics.connections.dec()
        this.#open.delete(socket)
        if (key !== undefined && this.#strangers.get(key) === socket) this.#strangers.delete(key)
      })
    })
    server.on('drop', () => this.#note('connections'))
  }

  #receive(key: string, socket: Socket): void {
    this.#strangers.set(key, socket)
    if (this.#strangers.size <= this.#parts.limits.strangers) return
    const [oldest, gone] = this.#strangers.entries().next().value!
    this.#strangers.delete(oldest)
    gone.destroy()
    this.#note('strangers')
  }

  #note(reason: string): void {
    const { metrics, log, logRate } = this.#parts
    metrics.refused.inc({ reason })
    const more = logRate.take()
    if (more !== undefined) log.warn({ event: 'refused', reason, ...more }, 'refused')
  }

  /** Whether a request came over the Unix socket. */
  isLocal = ({ socket }: IncomingMessage): boolean => this.#local.has(socket)

  /** A request on this connection had a valid token. */
  admit({ socket }: IncomingMessage): void {
    const key = keyOf(socket)
    if (key !== undefined) this.#strangers.delete(key)
  }

  /** Ends those that never sent anything. */
  endSilent(): void {
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy()
  }

  endAll(): void {
    for (const socket of this.#open) socket.destroy()
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string | undefined =>
  remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`
