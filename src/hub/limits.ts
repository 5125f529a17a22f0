import { messageLimits } from '../model/message.ts'
import type { Caller } from './callers.ts'
import { HttpRefusal } from './errors.ts'

/** The limits of one hub. */
export interface HubLimits {
  /** Body of a request: the largest message with every character escaped, and its envelope. */
  bodyBytes: number
  /** Requests per token: per second, and at once after a pause. */
  requestsPerSecond: number
  requestBurst: number
  /** Sockets of all clients together. */
  connections: number
  /** Sockets that have shown no token yet. One more ends the oldest. */
  strangers: number
  /** How long the headers of a request may take. */
  headersMs: number
  /** The address of a request. */
  targetChars: number
  /** Streams and waits per token. */
  streamsPerToken: number
  waitsPerToken: number
  /** Bytes that may wait for a follower that does not read, and for how long. */
  followerBytes: number
  followerStallMs: number
  /** How much of the journal's end is kept in memory for followers that were away for a moment, in characters. */
  keptChars: number
}

export const defaultLimits: HubLimits = {
  bodyBytes: 2 * messageLimits.bytes + 65_536,
  requestsPerSecond: 500,
  requestBurst: 1_000,
  connections: 4_096,
  strangers: 256,
  headersMs: 10_000,
  targetChars: 8_192,
  streamsPerToken: 1_024,
  waitsPerToken: 256,
  followerBytes: 262_144,
  followerStallMs: 30_000,
  keptChars: 16 * 1_048_576,
}

/** A rate limit per key: a bucket that refills over time and allows a burst when it is full. */
export class Rate {
  readonly #perMs: number
  readonly #burst: number
  readonly #buckets = new Map<string, { left: number; at: number }>()

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1_000
    this.#burst = burst
  }

  /** Takes one token from the bucket. False when it is empty. */
  take(key: string, now = performance.now()): boolean {
    const bucket = this.#buckets.get(key) ?? { left: this.#burst, at: now }
    bucket.left = Math.min(this.#burst, bucket.left + (now - bucket.at) * this.#perMs)
    bucket.at = now
    this.#buckets.set(key, bucket)
    if (bucket.left < 1) return false
    bucket.left--
    return true
  }

  /** Forgets buckets that are full again: they are like new ones. */
  sweep(now = performance.now()): void {
    for (const [key, { left, at }] of this.#buckets)
      if (left + (now - at) * this.#perMs >= this.#burst) this.#buckets.delete(key)
  }
}

/** How many streams or waits each token has open. */
export class Tally {
  readonly #what: string
  readonly #atMost: number
  readonly #hint: string
  readonly #open = new Map<string, number>()

  constructor(what: string, atMost: number, hint: string) {
    this.#what = what
    this.#atMost = atMost
    this.#hint = hint
  }

  /** Counts one and returns a function that uncounts it. Throws when the limit is reached. */
  enter({ digest, agent }: Caller): () => void {
    const open = this.#open.get(digest) ?? 0
    if (open >= this.#atMost)
      throw new HttpRefusal(429, this.#what, `this token has ${this.#atMost} ${this.#what} open`, {
        ...{ hint: this.#hint, agent },
      })
    this.#open.set(digest, open + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      const now = (this.#open.get(digest) ?? 1) - 1
      if (now === 0) this.#open.delete(digest)
      else this.#open.set(digest, now)
    }
  }
}
