/** A session takes this many messages of one sender at once, and then this many a second. */
const burst = 30
const perSecond = 0.5
/** The same text again within this time is taken for a copy. */
const sameMs = 31_000

interface Bucket {
  tokens: number
  at: number
  text: string
  textAt: number
}

/** Keeps to what a session takes from one sender, so that nothing is dropped. */
export class Pace {
  readonly #buckets = new Map<string, Bucket>()

  /** Whether a text may go now. Counts it if so. */
  take(pair: string, text: string, now: number): boolean {
    const bucket = this.#buckets.get(pair) ?? {
      tokens: burst,
      at: now,
      text: '',
      textAt: Number.NEGATIVE_INFINITY,
    }
    const tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond)
    const isSame = bucket.text === text && now - bucket.textAt < sameMs
    const goes = tokens >= 1 && !isSame
    const said = goes ? { text, textAt: now } : { text: bucket.text, textAt: bucket.textAt }
    this.#buckets.set(pair, { tokens: goes ? tokens - 1 : tokens, at: now, ...said })
    return goes
  }

  /** A receiver has dropped something: nothing more for as long as it takes to be allowed one again. */
  cool(now: number): void {
    for (const bucket of this.#buckets.values()) Object.assign(bucket, { tokens: 0, at: now })
  }
}
