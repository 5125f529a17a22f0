import type { Entry } from '../model/entry.ts'
import type { Feed } from './feed.ts'
import type { Wrap } from './frames.ts'
import type { HubLimits } from './limits.ts'
import type { Metrics, StreamKind } from './metrics.ts'
import type { Caller } from './tokens.ts'

/** Why a stream ends before its client wants it to. */
export type Ending = 'stopping' | 'stalled' | 'revoked' | 'failed'

/** Where a follower's bytes go. */
export interface Sink {
  kind: StreamKind
  wrap: Wrap
  write(bytes: Buffer): void
  /** Bytes that it has taken and not passed on. */
  buffered(): number
  /** A sign of life, with the cursor: a follower that sees little of the journal need not read it again. */
  beat(cursor: number): void
  end(why: Ending, cursor: number): void
}

export interface FollowerOptions {
  feed: Feed
  sink: Sink
  caller: Caller
  limits: HubLimits
  metrics: Metrics
  after: number
  /** Which entries; all of them without it. */
  wants?: (entry: Entry) => boolean
  onEnd: () => void
}

/**
 * One who follows the journal over a connection. It takes as much as its connection passes on, so one that
 * does not read costs a bounded amount of memory; after a while it is let go, and comes back with its cursor.
 */
export class Follower {
  readonly caller: Caller
  readonly #options: FollowerOptions
  readonly #unlisten: () => void
  #cursor: number
  #pumping = false
  #ended = false
  /** Since when it has taken nothing, in ms. */
  #blockedAt: number | undefined

  constructor(options: FollowerOptions) {
    this.#options = options
    this.caller = options.caller
    this.#cursor = options.after
    this.#unlisten = options.feed.onMore(() => this.pump())
    options.metrics.streams.inc({ kind: options.sink.kind })
  }

  /** Hands on what there is room for. Call it at the start, and when the connection has room again. */
  pump(): void {
    if (this.#pumping || this.#ended) return
    this.#pumping = true
    void this.#pump()
      .catch(() => this.end('failed'))
      .finally(() => {
        this.#pumping = false
        // Something may have come while the last look found nothing.
        if (this.#hasMore() && this.#hasRoom()) this.pump()
      })
  }

  #hasMore(): boolean {
    return !this.#ended && this.#cursor < this.#options.feed.last
  }

  #hasRoom(): boolean {
    const { sink, limits } = this.#options
    return sink.buffered() < limits.followerBytes
  }

  async #pump(): Promise<void> {
    const { feed, sink, metrics, wants } = this.#options
    while (this.#hasMore()) {
      if (!this.#hasRoom()) {
        this.#blockedAt ??= performance.now()
        return
      }
      this.#blockedAt = undefined
      const atHand = feed.chunkAfter(this.#cursor, sink.wrap, wants)
      const chunk = atHand ?? (await feed.readAfter(this.#cursor, sink.wrap, wants))
      if (this.#ended) return
      // The journal has less than it had: whoever comes back begins with what there is.
      if (chunk === undefined) return this.end('failed')
      this.#cursor = chunk.to
      if (chunk.entries === 0) continue
      metrics.streamed.inc(chunk.entries)
      sink.write(chunk.bytes)
    }
  }

  /** Looked at every few seconds: whoever does not read for too long is let go. */
  beat(): void {
    const { sink, limits, metrics } = this.#options
    const isStuck = !this.#hasRoom()
    if (!isStuck) {
      this.#blockedAt = undefined
      sink.beat(this.#cursor)
      this.pump()
      return
    }
    this.#blockedAt ??= performance.now()
    if (performance.now() - this.#blockedAt < limits.followerStallMs) return
    metrics.stalled.inc()
    this.end('stalled')
  }

  /** Ends it from our side. */
  end(why: Ending): void {
    if (this.#ended) return
    this.#options.sink.end(why, this.#cursor)
    this.gone()
  }

  /** The connection is no more. */
  gone(): void {
    if (this.#ended) return
    this.#ended = true
    this.#unlisten()
    this.#options.metrics.streams.dec({ kind: this.#options.sink.kind })
    this.#options.onEnd()
  }
}
