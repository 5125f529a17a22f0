import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { MailboxError } from '../base/errors.ts'
import { monotonicMs } from '../base/timers.ts'
import type { Greeting, Hello } from './hello.ts'
import { LineReader } from './lines.ts'
import { findAddress } from './place.ts'
import { type Answer, type Ask, type Sign, toLine } from './wire.ts'

/**
 * How long a desk may say nothing; whoever has heard nothing by then goes the direct way. It is counted in steps: on a
 * machine that is so busy that this process is held up as well, each of them takes longer, and the desk has as much more
 * time.
 */
const stepMs = 20
const steps = 4

/** After this the desk sends nothing for whoever asked, if it should still have the question: ids are remembered longer. */
const forgottenAfterMs = 1_000

export type Question = Omit<Ask, 'n' | 'until'>

/** What came back. Undefined where it is not known what the desk did: the caller goes the direct way. */
export type Reply<T> = { value: T; alone: boolean } | undefined

/** No socket: connecting to it fails at once. */
const nowhere = '/dev/null'

/** A timer can fire a little early. */
async function reach(until: number): Promise<void> {
  for (let left = until - monotonicMs(); left >= 0; left = until - monotonicMs()) await sleep(left + 1)
}

interface Pending {
  resolve: (answer: Answer | undefined) => void
  timer: NodeJS.Timeout
  /** As long as the desk says that it is at work, it is waited for until then. */
  until: number
}

/** A connection to the desk of a space. */
export class DeskLink {
  readonly #socket: Socket
  readonly #pending = new Map<number, Pending>()
  #last = 0
  /** Resolves when the desk has ended, or was never there. */
  readonly ended: Promise<void>
  #isEnded = false
  /** When an answer last came that nobody waited for any more. */
  lateAt = Number.NEGATIVE_INFINITY

  /** Greets at once: the first question need not wait for the answer. */
  constructor(space: string, hello: Hello) {
    this.#socket = connect(findAddress(space) ?? nowhere)
    // A desk that is stopped just now greets when it goes on. Nothing is kept waiting for that.
    this.greeting = this.ask<Greeting>({ verb: 'hello', args: [hello] }, Number.POSITIVE_INFINITY)
    this.#socket.unref()
    const reader = new LineReader()
    this.#socket.setEncoding('utf8')
    this.#socket.on('error', () => this.#socket.destroy())
    this.ended = new Promise((resolve) => this.#socket.once('close', () => resolve(this.#end())))
    this.#socket.on('data', (chunk: string) => {
      try {
        for (const line of reader.push(chunk)) this.#settle(JSON.parse(line) as Answer | Sign)
      } catch {
        this.#socket.destroy()
      }
    })
  }

  /** Undefined if the desk is not meant for us, or is not there. */
  readonly greeting: Promise<Reply<Greeting>>

  /** Throws what the desk refuses. `patience` is counted in steps of 20 ms. */
  async ask<T>(question: Question, patience = steps): Promise<Reply<T>> {
    const n = ++this.#last
    // A late send is known by its id. Anything else may be done only while its asker waits: what comes next undoes it.
    const isKnownById = question.id !== undefined
    const until =
      monotonicMs() + (isKnownById ? forgottenAfterMs : Math.min(patience * stepMs, forgottenAfterMs))
    const answer = await new Promise<Answer | undefined>((resolve) => {
      if (this.#isEnded) return resolve(undefined)
      // The connection keeps the process alive while somebody waits, and the timer does not.
      this.#socket.ref()
      this.#pending.set(n, { resolve, timer: this.#waitOn(n, patience), until: isKnownById ? until : 0 })
      this.#socket.write(toLine({ n, until, ...question }))
    })
    if (answer === undefined && !isKnownById && !this.#isEnded) await reach(until)
    if (answer === undefined || 'direct' in answer) return undefined
    if ('value' in answer) return { value: answer.value as T, alone: answer.alone ?? false }
    const { code, message, hint, limit } = answer.error
    throw new MailboxError(code, message, { ...(hint && { hint }), ...(limit && { limit }) })
  }

  #waitOn(n: number, left: number): NodeJS.Timeout {
    const next = () => {
      const pending = this.#pending.get(n)
      if (pending === undefined) return
      if (left > 1) pending.timer = this.#waitOn(n, left - 1)
      // The answer may have arrived while this process was held up itself: it is looked for once more.
      else setImmediate(() => this.#take(n)?.(undefined))
    }
    return setTimeout(next, stepMs).unref()
  }

  #settle(answer: Answer | Sign): void {
    if ('atWork' in answer) {
      this.#goOn(answer.n)
      return
    }
    const resolve = this.#take(answer.n)
    if (resolve === undefined) this.lateAt = performance.now()
    else resolve(answer)
  }

  #goOn(n: number): void {
    const pending = this.#pending.get(n)
    if (pending === undefined || monotonicMs() > pending.until) return
    clearTimeout(pending.timer)
    pending.timer = this.#waitOn(n, steps)
  }

  #take(n: number): Pending['resolve'] | undefined {
    const found = this.#pending.get(n)
    if (found === undefined) return undefined
    clearTimeout(found.timer)
    this.#pending.delete(n)
    if (this.#pending.size <= (this.#pending.has(1) ? 1 : 0)) this.#socket.unref()
    return found.resolve
  }

  #end(): void {
    this.#isEnded = true
    for (const n of [...this.#pending.keys()]) this.#take(n)?.(undefined)
  }

  close(): void {
    this.#socket.destroy()
  }
}
