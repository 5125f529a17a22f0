import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type EventStore,
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server'
import type { Undelivered } from './undelivered.ts'

/** A request of a client and the calls in it, until their answers have been delivered or nobody wants them any more. */
export class Exchange {
  readonly ids: readonly RequestId[]
  /** The stream of its answers, if a client that loses it can take it up again. */
  streamId: string | undefined
  /** What undoes its answers if they do not reach the client. */
  readonly undelivered: Undelivered
  readonly #unanswered: Set<RequestId>
  #back: { promise: Promise<void>; resolve: () => void; timer: NodeJS.Timeout } | undefined

  constructor(ids: readonly RequestId[], undelivered: Undelivered) {
    this.ids = ids
    this.undelivered = undelivered
    this.#unanswered = new Set(ids)
  }

  get isAnswered(): boolean {
    return this.#unanswered.size === 0
  }

  answered(id: RequestId): void {
    this.#unanswered.delete(id)
  }

  /** Resolves while the client is there, or once it is given up. */
  attached = (): Promise<void> => this.#back?.promise ?? Promise.resolve()

  /** The client has lost the stream. */
  lose(giveUp: () => void, afterMs: number): void {
    let resolve = () => {}
    const promise = new Promise<void>((done) => (resolve = done))
    this.#back = { promise, resolve, timer: setTimeout(giveUp, afterMs) }
  }

  /** It has taken it up again, or is given up. */
  regain(): void {
    clearTimeout(this.#back?.timer)
    this.#back?.resolve()
    this.#back = undefined
  }
}

/** What the SDK calls the stream that a client opens to listen. */
const listening = '_GET_stream'

/** More than this of one stream is not kept: a client that missed more has missed progress reports. */
const keptAtMost = 100

/**
 * What was sent in the streams of one session, for a client that takes up one that broke off. Only what
 * belongs to open exchanges is kept, and the last of what listeners were told.
 */
export class SentEvents implements EventStore {
  readonly #streams = new Map<string, { id: string; message: JSONRPCMessage }[]>()
  readonly #exchanges = new Map<string, Exchange>()
  readonly #current = new AsyncLocalStorage<Exchange>()
  #last = 0

  /** Does the work of an exchange, so that its stream is known. */
  during<Result>(exchange: Exchange, work: () => Result): Result {
    return this.#current.run(exchange, work)
  }

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const id = `${streamId}:${++this.#last}`
    const exchange = this.#current.getStore()
    // The empty event before all others, by which a client knows the stream.
    const isFirst = !('jsonrpc' in message)
    if (isFirst && exchange !== undefined) {
      exchange.streamId = streamId
      this.#exchanges.set(streamId, exchange)
    }
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message))
      this.#exchanges.get(streamId)?.answered(message.id!)
    if (streamId !== listening && !this.#exchanges.has(streamId)) return id
    const events = this.#streams.get(streamId) ?? []
    this.#streams.set(streamId, [...events, { id, message }].slice(-keptAtMost))
    return id
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    const streamId = eventId.slice(0, eventId.lastIndexOf(':'))
    return this.#streams.has(streamId) ? streamId : undefined
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const streamId = (await this.getStreamIdForEventId(lastEventId))!
    const after = numberOf(lastEventId)
    for (const { id, message } of this.#streams.get(streamId) ?? [])
      if (numberOf(id) > after && 'jsonrpc' in message) await send(id, message)
    return streamId
  }

  /** The exchange whose stream an event was in. */
  exchangeOf(eventId: string): Exchange | undefined {
    return this.#exchanges.get(eventId.slice(0, eventId.lastIndexOf(':')))
  }

  get open(): readonly Exchange[] {
    return [...this.#exchanges.values()]
  }

  forget({ streamId }: Exchange): void {
    if (streamId === undefined) return
    this.#streams.delete(streamId)
    this.#exchanges.delete(streamId)
  }
}

const numberOf = (eventId: string): number => Number(eventId.slice(eventId.lastIndexOf(':') + 1))
