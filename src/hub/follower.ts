import type { Wants } from '../api/mailbox-filter.ts'
import { person } from '../model/agent.ts'
import type { Caller } from './callers.ts'
import { hiding, type Wrap } from './frames.ts'
import type { StreamKind } from './metrics.ts'
import type { HubParts } from './parts.ts'

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

export interface FollowerStart {
  caller: Caller
  after: number
  /** Which entries. @default all */
  wants?: Wants
}

/**
 * A client that follows the journal over a connection. It takes only what its connection sends, so a client that
 * does not read costs a bounded amount of memory. After a while it is disconnected, and resumes from its cursor.
 */
export class Follower {
  readonly caller: Caller
  readonly #parts: HubParts
  readonly #sink: Sink
  readonly #wants: Wants | undefined
  readonly #wrap: Wrap
  readonly #onEnd: () => void
  readonly #unlisten: () => void
  #cursor: number
  #pumping = false
  #ended = false
  /** Since when it has accepted nothing, in ms. */
  #blockedAt: number | undefined

  constructor(parts: HubParts, sink: Sink, { caller, after, wants }: FollowerStart, onEnd: () => void) {
    this.#parts = parts
    this.#sink = sink
    this.caller = caller
    this.#cursor = after
    this.#wants = wants
    this.#wrap = caller.agent === person ? sink.wrap : hiding(sink.wrap, caller.agent)
    this.#onEnd = onEnd
    this.#unlisten = parts.feed.onMore(() => this.pump())
    parts.metrics.streams.inc({ kind: sink.kind })
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
    return !this.#ended && this.#cursor < this.#parts.feed.last
  }

  #hasRoom(): boolean {
    return this.#sink.buffered() < this.#parts.limits.followerBytes
  }

  async #pump(): Promise<void> {
    const { feed, metrics, revocation } = this.#parts
    while (this.#hasMore()) {
      if (!this.#hasRoom()) {
        this.#blockedAt ??= performance.now()
        return
      }
      this.#blockedAt = undefined
      const atHand = feed.chunkAfter(this.#cursor, this.#wrap, this.#wants)
      const chunk = atHand ?? (await feed.readAfter(this.#cursor, this.#wrap, this.#wants))
      if (this.#ended) return
      // Whoever has lost its token gets nothing more, not even what is ready.
      if (!revocation.isStillGood(this.caller)) return this.end('revoked')
      // The journal is shorter than before: after a reconnect the follower starts with what there is.
      if (chunk === undefined) return this.end('failed')
      this.#cursor = chunk.to
      if (chunk.entries === 0) continue
      metrics.streamed.inc(chunk.entries)
      this.#sink.write(chunk.bytes)
    }
  }

  /** Called every few seconds. Disconnects a client that has not read for too long. */
  beat(): void {
    const { limits, metrics } = this.#parts
    if (this.#hasRoom()) {
      this.#blockedAt = undefined
      this.#sink.beat(this.#cursor)
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
    this.#sink.end(why, this.#cursor)
    this.gone()
  }

  /** The connection is closed. */
  gone(): void {
    if (this.#ended) return
    this.#ended = true
    this.#unlisten()
    this.#parts.metrics.streams.dec({ kind: this.#sink.kind })
    this.#onEnd()
  }
}
