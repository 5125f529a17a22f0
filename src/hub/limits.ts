import { messageLimits } from '../model/message.ts'

/** What one hub takes on, as numbers. */
export interface HubLimits {
  /** Body of a request: a message of the largest size whose every second byte is escaped, and its envelope. */
  bodyBytes: number
  /** Requests of one token: so many a second, and so many at once after a pause. */
  requestsPerSecond: number
  requestBurst: number
  /** Sockets of all clients together. */
  connections: number
  /** Streams and waits of one token. */
  streamsPerToken: number
  waitsPerToken: number
  /** Bytes that may wait for a follower that does not read, and for how long. */
  followerBytes: number
  followerStallMs: number
  /** How much of the journal's end is kept at hand for those who were away for a moment, in characters. */
  keptChars: number
}

export const defaultLimits: HubLimits = {
  bodyBytes: 2 * messageLimits.bytes + 65_536,
  requestsPerSecond: 500,
  requestBurst: 1_000,
  connections: 4_096,
  streamsPerToken: 1_024,
  waitsPerToken: 256,
  followerBytes: 262_144,
  followerStallMs: 30_000,
  keptChars: 16 * 1_048_576,
}

/** So many a second, and a burst after a pause: one bucket for each key, which fills as time goes by. */
export class Rate {
  readonly #perMs: number
  readonly #burst: number
  readonly #buckets = new Map<string, { left: number; at: number }>()

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1_000
    this.#burst = burst
  }

  /** Takes one. False when there is none left. */
  take(key: string, now = performance.now()): boolean {
    const bucket = this.#buckets.get(key) ?? { left: this.#burst, at: now }
    bucket.left = Math.min(this.#burst, bucket.left + (now - bucket.at) * this.#perMs)
    bucket.at = now
    this.#buckets.set(key, bucket)
    if (bucket.left < 1) return false
    bucket.left--
    return true
  }

  /** Forgets those that are full again: they are as if they had never come. */
  sweep(now = performance.now()): void {
    for (const [key, { left, at }] of this.#buckets)
      if (left + (now - at) * this.#perMs >= this.#burst) this.#buckets.delete(key)
  }
}

/** How many of something each key has open. */
export class Tally {
  readonly #open = new Map<string, number>()

  /** Counts one; undefined when there are that many already. What it gives back takes it off again, once. */
  enter(key: string, atMost: number): (() => void) | undefined {
    const open = this.#open.get(key) ?? 0
    if (open >= atMost) return undefined
    this.#open.set(key, open + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      const now = (this.#open.get(key) ?? 1) - 1
      if (now === 0) this.#open.delete(key)
      else this.#open.set(key, now)
    }
  }
}
