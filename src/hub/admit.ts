import type { IncomingMessage } from 'node:http'
import { asMailboxError } from '../base/errors.ts'
import type { Caller } from './callers.ts'
import { HttpRefusal } from './errors.ts'
import { Rate } from './limits.ts'
import { brief, briefError } from './log.ts'
import { heldOperations } from './operations.ts'
import type { HubParts } from './parts.ts'

const sweepMs = 60_000

/** Lets requests and WebSocket upgrades in, or refuses them, and counts them: the same code for both. */
export class Admission {
  readonly #parts: HubParts
  readonly #rate: Rate
  readonly #admitted = new WeakSet<IncomingMessage>()

  constructor(parts: HubParts) {
    const { limits, stopping } = parts
    this.#parts = parts
    this.#rate = new Rate(limits.requestsPerSecond, limits.requestBurst)
    const sweeping = setInterval(() => this.#rate.sweep(), sweepMs)
    sweeping.unref()
    stopping.addEventListener('abort', () => clearInterval(sweeping))
  }

  /** Checks Host and Origin, then the token and its rate. Throws an {@link HttpRefusal}. */
  async admit(incoming: IncomingMessage): Promise<Caller> {
    const { limits, connections, use } = this.#parts
    this.checkPlace(incoming)
    const caller = await this.#callerOf(incoming)
    this.#admitted.add(incoming)
    connections.admit(incoming)
    use.used(caller)
    if (this.#rate.take(caller.digest)) return caller
    throw new HttpRefusal(429, 'rate', 'too many requests with this token', {
      hint: `the limit is ${limits.requestsPerSecond} per second: wait a moment, or follow the stream instead of polling`,
      agent: caller.agent,
    })
  }

  /** Another machine of the space may have made the token a moment ago: a hub asks before it refuses one. */
  async #callerOf(incoming: IncomingMessage): Promise<Caller> {
    const { guard, space } = this.#parts
    try {
      return guard.checkToken(incoming)
    } catch (error) {
      const isUnknown = error instanceof HttpRefusal && error.reason === 'token'
      const pulling = isUnknown ? space.core.journal.pullFiles() : undefined
      if (pulling === undefined) throw error
      await pulling
      return guard.checkToken(incoming)
    }
  }

  /** Checks what needs no token: where a request came in, and the length of its address. */
  checkPlace(incoming: IncomingMessage): void {
    const { guard, limits, connections } = this.#parts
    const { url = '' } = incoming
    guard.checkPlace(incoming, connections.isLocal(incoming))
    if (url.length > limits.targetChars) {
      throw new HttpRefusal(414, 'target', 'the address is too long', {
        hint: `the limit is ${limits.targetChars} characters`,
      })
    }
    // One with a host of its own is for a proxy.
    if (url.startsWith('/') && URL.canParse(`http://hub${url}`)) return
    throw new HttpRefusal(400, 'target', 'the address is not valid', { hint: 'send a path, such as /health' })
  }

  /** Counts a request from its arrival to its answer. `operation` is its label in the metrics. */
  async count(work: () => Promise<{ operation: string; status: number }>): Promise<void> {
    const { metrics } = this.#parts
    const started = performance.now()
    metrics.inFlight.inc()
    try {
      const { operation, status } = await work()
      metrics.requests.inc({ operation, status })
      // A connection that is held open says nothing about how fast the hub is.
      if (!heldOperations.has(operation))
        metrics.seconds.observe({ operation }, (performance.now() - started) / 1_000)
    } finally {
      metrics.inFlight.dec()
    }
  }

  /** Logs a refusal or a defect of ours. Strangers write headers, so they are cut short; tokens are never logged. */
  report(incoming: IncomingMessage, thrown: unknown): void {
    const { metrics, log, logRate, use } = this.#parts
    const isRefused = thrown instanceof HttpRefusal
    if (isRefused) {
      metrics.refused.inc({ reason: thrown.reason })
      if (thrown.agent !== undefined || thrown.reason === 'token') use.refused(thrown.agent)
    } else if (asMailboxError(thrown).code !== 'internal') return
    const more = this.#admitted.has(incoming) ? {} : logRate.take()
    if (more === undefined) return
    const path = brief(incoming.url?.split('?')[0])
    if (!isRefused) return void log.error({ err: briefError(thrown), path, ...more }, 'failed')
    const { reason, status, agent } = thrown
    const { host, origin, upgrade } = incoming.headers
    const method = upgrade === undefined ? incoming.method : 'WEBSOCKET'
    log.warn(
      {
        ...{ event: 'refused', reason, status, method, path, from: incoming.socket.remoteAddress },
        ...{ host: brief(host), origin: brief(origin), agent, ...more },
      },
      'refused',
    )
  }
}
