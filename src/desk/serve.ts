import { chmodSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { MailboxError } from '../base/errors.ts'
import { monotonicMs } from '../base/timers.ts'
import type { Greeting, Hello } from './hello.ts'
import { LineReader } from './lines.ts'
import { prepareAddress, removeAddress } from './place.ts'
import { type Answer, type Ask, type Sign, toLine } from './wire.ts'

export interface DeskOptions {
  space: string
  /** What somebody who introduces itself like this is told first; undefined if it may not ask. */
  greet: (hello: Hello) => Greeting | undefined
  handle: (ask: Ask) => Promise<unknown>
  /** Whether anybody else has written lately, besides those who ask here. */
  isBusy: () => boolean
}

/** Whoever has asked within this time counts as being there. */
const latelyMs = 50
/** How often those who wait are told that the desk is at work. */
const signEveryMs = 20

/** Somebody who may ask. */
interface Connection {
  /** When it asked last. */
  askedAt: number
  /** The questions that it waits for. */
  open: Set<number>
}

/** Errors that are answers. After any other, whoever asks goes the direct way and meets the real one. */
const refusals = new Set(
  'invalid not_found unknown_recipient not_permitted conflict over_limit disk_full sync_failed damaged'.split(
    ' ',
  ),
)

/** The desk at work: listens on the socket of the space, and answers. Only for whoever holds the desk's lock. */
export class DeskServer {
  readonly #options: DeskOptions
  readonly #server = createServer((socket) => this.#receive(socket))
  readonly #connections = new Map<Socket, Connection>()
  #pending = 0
  #signs: NodeJS.Timeout | undefined
  #onIdle: (() => void) | undefined

  constructor(options: DeskOptions) {
    this.#options = options
  }

  /** Returns false if there is no address to listen at. */
  async open(): Promise<boolean> {
    const address = prepareAddress(this.#options.space)
    if (address === undefined) return false
    const isListening = await new Promise<boolean>((resolve) => {
      this.#server.once('error', () => resolve(false))
      this.#server.listen(address, () => resolve(true))
    })
    // Nothing depends on the desk, so it keeps no process alive.
    this.#server.unref()
    if (isListening) chmodSync(address, 0o600)
    return isListening
  }

  #receive(socket: Socket): void {
    const reader = new LineReader()
    let isGreeted = false
    const connection: Connection = { askedAt: Number.NEGATIVE_INFINITY, open: new Set() }
    this.#connections.set(socket, connection)
    socket.unref()
    socket.setEncoding('utf8')
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#connections.delete(socket))
    const take = (line: string) => {
      const ask = JSON.parse(line) as Ask
      if (ask.verb !== 'hello') return void this.#answer(socket, connection, ask, isGreeted)
      const value = this.#options.greet(ask.args[0] as Hello)
      isGreeted = value !== undefined
      say(socket, isGreeted ? { n: ask.n, value } : { n: ask.n, direct: 'another program' })
    }
    socket.on('data', (chunk: string) => {
      try {
        for (const line of reader.push(chunk)) take(line)
      } catch {
        socket.destroy()
      }
    })
  }

  async #answer(socket: Socket, connection: Connection, ask: Ask, isGreeted: boolean): Promise<void> {
    const now = monotonicMs()
    connection.askedAt = now
    if (!isGreeted || now > ask.until) return say(socket, { n: ask.n, direct: 'late' })
    connection.open.add(ask.n)
    this.#pending++
    this.#signs ??= setInterval(() => this.#showWork(), signEveryMs).unref()
    const answer = await this.#outcome(socket, ask)
    connection.open.delete(ask.n)
    say(socket, answer)
    if (--this.#pending === 0) this.#onIdle?.()
  }

  /** A desk that waits for the disk or for the lock is not one that has stopped: nobody would be faster without it. */
  #showWork(): void {
    if (this.#pending === 0) {
      clearInterval(this.#signs)
      this.#signs = undefined
    }
    for (const [socket, { open }] of this.#connections) for (const n of open) say(socket, { n, atWork: true })
  }

  async #outcome(socket: Socket, ask: Ask): Promise<Answer> {
    const { n } = ask
    try {
      const value = (await this.#options.handle(ask)) ?? null
      return this.#isAlone(socket) ? { n, value, alone: true } : { n, value }
    } catch (error) {
      if (!(error instanceof MailboxError) || !refusals.has(error.code))
        return { n, direct: error instanceof Error ? error.message : 'in doubt' }
      const { code, message, hint, limit } = error
      return { n, error: { code, message, hint, limit } }
    }
  }

  #isAlone(own: Socket): boolean {
    if (this.#options.isBusy()) return false
    const since = monotonicMs() - latelyMs
    for (const [socket, { askedAt }] of this.#connections) if (socket !== own && askedAt > since) return false
    return true
  }

  /** Answers what was asked so far, and no more. */
  async close(): Promise<void> {
    this.#server.close()
    if (this.#pending > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    for (const socket of this.#connections.keys()) socket.end(() => socket.destroy())
    removeAddress(this.#options.space)
  }
}

function say(socket: Socket, said: Answer | Sign): void {
  if (socket.writable) socket.write(toLine(said))
}
