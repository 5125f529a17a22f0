import type { IncomingMessage } from 'node:http'
import { asMailboxError } from '../base/errors.ts'
import { HttpRefusal } from './errors.ts'
import { Rate } from './limits.ts'
import { brief } from './log.ts'
import { heldOperations } from './operations.ts'
import type { HubParts } from './parts.ts'
import type { Caller } from './tokens.ts'

const sweepMs = 60_000

/** Lets requests and WebSocket upgrades in, or refuses them, and counts them: the same code for both. */
export class Admission {
  readonly #parts: HubParts
  readonly #rate: Rate

  constructor(parts: HubParts) {
    const { limits, stopping } = parts
    this.#parts = parts
    this.#rate = new Rate(limits.requestsPerSecond, limits.requestBurst)
    const sweeping = setInterval(() => this.#rate.sweep(), sweepMs)
    sweeping.unref()
    stopping.addEventListener('abort', () => clearInterval(sweeping))
  }

  /** Checks Host and Origin, then the token and its rate. Throws an {@link HttpRefusal}. */
  admit(incoming: IncomingMessage): Caller {
    const { guard, limits } = this.#parts
    guard.checkPlace(incoming.headers)
    const caller = guard.checkToken(incoming.headers)
    if (this.#rate.take(caller.digest)) return caller
    throw new HttpRefusal(429, 'rate', 'too many requests with this token', {
      hint: `the limit is ${limits.requestsPerSecond} per second: wait a moment, or follow the stream instead of polling`,
      agent: caller.agent,
    })
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
    const { metrics, log } = this.#parts
    const path = brief(incoming.url?.split('?')[0])
    if (!(thrown instanceof HttpRefusal)) {
      if (asMailboxError(thrown).code === 'internal') log.error({ err: thrown, path }, 'failed')
      return
    }
    const { reason, status, agent } = thrown
    const { host, origin, upgrade } = incoming.headers
    const method = upgrade === undefined ? incoming.method : 'WEBSOCKET'
    metrics.refused.inc({ reason })
    log.warn(
      {
        ...{ event: 'refused', reason, status, method, path, from: incoming.socket.remoteAddress },
        ...{ host: brief(host), origin: brief(origin), agent },
      },
      'refused',
    )
  }
}
