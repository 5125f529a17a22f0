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
  /** Bytes that it has accepted but not sent. */
  buffered(): number
  /** A heartbeat with the cursor, so that a follower with a filter does not resume from far back. */
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
  /** Which entries. @default all */
  wants?: (entry: Entry) => boolean
  onEnd: () => void
}

/**
 * A client that follows the journal over a connection. It takes only what its connection sends, so a client that
 * does not read costs a bounded amount of memory. After a while it is disconnected, and resumes from its cursor.
 */
export class Follower {
  readonly caller: Caller
  readonly #options: FollowerOptions
  readonly #unlisten: () => void
  #cursor: number
  #pumping = false
  #ended = false
  /** Since when it has accepted nothing, in ms. */
  #blockedAt: number | undefined

  constructor(options: FollowerOptions) {
    this.#options = options
    this.caller = options.caller
    this.#cursor = options.after
    this.#unlisten = options.feed.onMore(() => this.pump())
    options.metrics.streams.inc({ kind: options.sink.kind })
  }

  /** Sends what there is room for. Call it at the start, and when the connection has room again. */
  pump(): void {
    if (this.#pumping || this.#ended) return
    this.#pumping = true
    void this.#pump()
      .catch(() => this.end('failed'))
      .finally(() => {
        this.#pumping = false
        // Entries may have arrived after the last check found none.
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
      // The journal is shorter than before: after a reconnect the follower starts with what there is.
      if (chunk === undefined) return this.end('failed')
      this.#cursor = chunk.to
      if (chunk.entries === 0) continue
      metrics.streamed.inc(chunk.entries)
      sink.write(chunk.bytes)
    }
  }

  /** Called every few seconds. Disconnects a client that has not read for too long. */
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

  /** The connection is closed. */
  gone(): void {
    if (this.#ended) return
    this.#ended = true
    this.#unlisten()
    this.#options.metrics.streams.dec({ kind: this.#options.sink.kind })
    this.#options.onEnd()
  }
}
