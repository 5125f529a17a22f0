import { mailboxOperations } from '../api/mailbox-operations.ts'
import { type AnswerOf, type InputOf, type Operation, toPath } from '../api/operation.ts'
import { waitAtMostMs, waitingOperations } from '../api/waiting-operations.ts'
import { MailboxError } from '../base/errors.ts'
import { checkJsonValue } from '../base/json.ts'
import { given } from '../base/objects.ts'
import { inSpan } from '../base/trace.ts'
import type { UpdateInput } from '../command/roster.ts'
import {
  checkWait,
  type Takeable,
  type WaitForMessagesOptions,
  type WaitOptions,
  type WatchOptions,
  waitForMail,
  watchMail,
} from '../delivery/watch.ts'
import type { SendInput } from '../model/fields.ts'
import type { InboxMessage, InboxOptions } from '../query/inbox.ts'
import type { ListOptions } from '../query/page.ts'
import type { SearchOptions } from '../query/search.ts'
import type { Space } from '../space/api.ts'
import type {
  Addresses,
  BroadcastInput,
  CheckOptions,
  ClaimNumber,
  ClaimOptions,
  FailOptions,
  Handled,
  HandleOptions,
  Mailbox,
  ReplyInput,
  UntilOptions,
} from '../space/mailbox/api.ts'
import { ClaimsMade } from './claims.ts'
import type { CallOptions, Connection } from './connection.ts'
import { followHub } from './stream.ts'

/** A little less than the hub waits at most, so that its answer comes before we give up. */
const waitMs = waitAtMostMs - 5_000
/** How long an answer may take on its way. */
const answerMs = 30_000

const operations = { ...mailboxOperations, ...waitingOperations }
type Operations = typeof operations
type Kind = InputOf<Operations['owed']>

/** A mailbox behind a hub. Inputs and answers have the types of the table that the hub's routes come from. */
export class RemoteMailbox implements Mailbox {
  readonly name: string
  readonly claimTtlMs: number
  readonly now: () => number
  readonly #connection: Connection
  readonly #claims: ClaimsMade
  /** Called when the hub has heard from the agent. */
  readonly #onHeard: () => void

  constructor(
    connection: Connection,
    name: string,
    { settings, now }: Pick<Space, 'settings' | 'now'>,
    onHeard: () => void,
    { isOfRun = false }: { isOfRun?: boolean } = {},
  ) {
    this.#claims = new ClaimsMade({ isOfRun })
    this.#connection = connection
    this.name = name
    this.claimTtlMs = settings.claimTtlMs
    this.now = now
    this.#onHeard = onHeard
  }

  async #ask<M extends keyof Operations>(
    method: M,
    input: InputOf<Operations[M]>,
    more: Partial<CallOptions> = {},
  ): Promise<AnswerOf<Operations[M]>> {
    try {
      return await this.#askOnce(method, this.#claims.understood(input), more)
    } catch (error) {
      if (!this.#claims.isRefused(error, input)) throw error
      return this.#askOnce(method, this.#claims.understood(input), more)
    }
  }

  async #askOnce<M extends keyof Operations>(
    method: M,
    input: InputOf<Operations[M]>,
    more: Partial<CallOptions>,
  ): Promise<AnswerOf<Operations[M]>> {
    for (const [name, value] of Object.entries(input)) if (value !== undefined) checkJsonValue(value, name)
    const { reads = false }: Pick<Operation, 'reads'> = operations[method]
    const call = (headers: Record<string, string> = {}) =>
      this.#connection.call<AnswerOf<Operations[M]>>({
        path: `/api/mailboxes/${encodeURIComponent(this.name)}/${toPath(method)}`,
        body: input,
        headers,
        repeatable: reads || ('key' in input && input.key !== undefined),
        ...more,
      })
    if (reads) return call()
    // The hub continues our trace, and the message carries it.
    const span = () => ({ name: `${method} ${this.name}`, kind: 'client', attributes: {} }) as const
    const answer = await inSpan(span, (traceparent) => call(traceparent === undefined ? {} : { traceparent }))
    this.#onHeard()
    return answer
  }

  send = (input: SendInput) => this.#ask('send', input)
  reply = (id: string, input: ReplyInput = {}) => this.#ask('reply', { ...input, id })
  broadcast = (input: BroadcastInput) => this.#ask('broadcast', input)
  withdraw = (id: string) => this.#ask('withdraw', { id })
  resend = (id: string, to: Addresses) => this.#ask('resend', { id, to })

  inbox = (options: InboxOptions = {}) => this.#ask('inbox', options)
  check = async (options: CheckOptions = {}) => {
    const checked = await this.#ask('check', options)
    this.#claims.taken(checked.messages)
    return checked
  }
  read = async (id: string) => {
    const message = await this.#ask('read', { id })
    this.#claims.taken([message])
    return message
  }
  thread = async (id: string) => (await this.#ask('thread', { id })).messages
  sent = (options: ListOptions = {}) => this.#ask('sent', options)
  scheduled = async () => (await this.#ask('scheduled', {})).messages
  search = (query: string, options: SearchOptions = {}) => this.#ask('search', { ...options, query })
  show = (id: string) => this.#ask('show', { id })
  count = () => this.#ask('count', {})
  lead = async () => (await this.#ask('lead', {})).result
  owed = async (options: Kind = {}) => (await this.#ask('owed', options)).owed
  awaited = async (options: Kind = {}) => (await this.#ask('awaited', options)).owed
  agent = () => this.#ask('agent', {})
  template = async (name: string) => (await this.#ask('template', { name })).result
  unread = (filter: InboxOptions = {}) => this.#ask('unread', filter)
  peek = async (seq: number) => (await this.#ask('peek', { seq })).message
  takeAll = async (ids: readonly string[]) => {
    const { messages } = await this.#ask('takeAll', { ids })
    this.#claims.taken(messages)
    return messages
  }

  notified = async (ids: readonly string[]) => void (await this.#ask('notified', { ids }))
  async claim(id: string, options: ClaimOptions = {}) {
    const known = this.#claims.of(id)
    const claim = async (input: ClaimOptions) => {
      const claimed = await this.#ask('claim', { ...options, ...input, id })
      this.#claims.claimed(claimed)
      return claimed
    }
    if (options.claimNumber !== undefined || known === undefined)
      return claim({ ...this.#claims.none, ...options })
    try {
      return await claim({ claimNumber: known })
    } catch (error) {
      if (!(error instanceof MailboxError) || error.code !== 'conflict') throw error
      // It is over, but the mail may be free.
      return claim({ claimNumber: 0 })
    }
  }

  async claimNext(role: string, options: { ttlMs?: number } = {}) {
    const { result } = await this.#ask('claimNext', { ...options, role })
    if (result !== null) this.#claims.claimed(result)
    return result
  }

  ack = (id: string, options: HandleOptions = {}) => this.#handle('ack', id, options)
  start = (id: string, options: ClaimNumber = {}) => this.#handle('start', id, options)
  done = async (id: string, options: HandleOptions & { archive?: boolean } = {}) =>
    this.#claims.finished(await this.#handle('done', id, options))
  fail = async (id: string, options: FailOptions) =>
    this.#claims.handled(await this.#ask('fail', { ...this.#claims.with(id, options), id }))
  release = (id: string, options: ClaimNumber = {}) => this.#handle('release', id, options)
  retry = (id: string, options: ClaimNumber = {}) => this.#handle('retry', id, options)
  archive = async (id: string, options: ClaimNumber = {}) =>
    this.#claims.finished(await this.#handle('archive', id, options))

  async #handle(
    step: 'ack' | 'start' | 'done' | 'release' | 'retry' | 'archive',
    id: string,
    options: HandleOptions & { archive?: boolean },
  ): Promise<Handled> {
    return this.#claims.handled(await this.#ask(step, { ...this.#claims.with(id, options), id }))
  }

  touch = async () => void (await this.#ask('comeIn', {}))
  update = (input: UpdateInput) => this.#ask('update', input)
  heartbeat = () => this.#ask('heartbeat', {})
  leave = (options: { frozen?: boolean } = {}) => this.#ask('leave', options)

  wait = async (options: WaitOptions = {}) =>
    (await this.waitForMessages({ ...options, count: 1 }))[0] ?? null

  /** The hub says what mail there is; `match` runs here, because a function cannot be sent. */
  async waitForMessages(options: WaitForMessagesOptions = {}): Promise<InboxMessage[]> {
    const { signal, timeoutMs, replyTo } = options
    checkWait(options)
    this.#connection.mustRun(signal)
    const idOf = async (id: string) => (await this.show(id)).message.id
    const whole =
      typeof replyTo === 'object' ? await Promise.all(replyTo.map(idOf)) : replyTo && (await idOf(replyTo))
    const taken = await waitForMail(this.#watched(signal, timeoutMs), {
      ...{ ...options, signal: this.#connection.until(signal) },
      ...(whole === undefined ? {} : { replyTo: whole }),
    })
    if (taken.length === 0) this.#connection.mustRun(signal)
    return taken
  }

  waitForAck = async (id: string, options: UntilOptions = {}) => {
    const { timeoutMs = 60_000 } = options
    const until = { ...options, timeoutMs }
    return (await this.#until('waitForAck', { id }, ({ result }) => result, until)).result
  }

  waitUntilSettled = (ids: string | readonly string[], options: UntilOptions = {}) =>
    this.#until('waitUntilSettled', { ids: [ids].flat() }, ({ settled }) => settled, options)

  /** Asks again and again until it is so or the time is up, so that no connection is silent for long. */
  async #until<M extends 'waitForAck' | 'waitUntilSettled'>(
    method: M,
    input: InputOf<Operations[M]>,
    isSo: (answer: AnswerOf<Operations[M]>) => boolean,
    { timeoutMs = Number.POSITIVE_INFINITY, signal }: UntilOptions,
  ): Promise<AnswerOf<Operations[M]>> {
    checkWait({ timeoutMs })
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const left = Math.max(0, Math.min(deadline - performance.now(), waitMs))
      const more = { signal, timeoutMs: left + answerMs, retryForMs: deadline - performance.now() }
      const answer = await this.#ask(method, { ...input, timeoutMs: left }, more)
      if (isSo(answer) || performance.now() >= deadline) return answer
    }
  }

  async *watch(options: WatchOptions = {}): AsyncGenerator<InboxMessage> {
    const ending = this.#connection.until(options.signal)
    try {
      yield* watchMail(this.#watched(options.signal), { ...options, signal: ending })
    } catch (error) {
      // The caller knows that it has ended it.
      if (!ending.aborted) throw error
    }
  }

  /** How to watch. Requests are repeated as long as there is time, because the hub may be back by then. */
  #watched(signal: AbortSignal | undefined, timeoutMs = Number.POSITIVE_INFINITY): Takeable {
    const deadline = performance.now() + timeoutMs
    const again = () => ({ signal, retryForMs: deadline - performance.now(), repeatable: true })
    return {
      name: this.name,
      unread: (filter: InboxOptions) => this.#ask('unread', filter, again()),
      peek: async (seq: number) => (await this.#ask('peek', { seq }, again())).message,
      follow: (from: { after: number; signal: AbortSignal | undefined }) =>
        followHub(this.#connection, { ...from, mailbox: this.name }),
      takeAll: async (messages) => {
        const taken: InboxMessage[] = []
        for (const message of messages) taken.push(...(await this.#take(message, again)))
        return taken
      },
      release: ({ id, claimNumber }) => this.release(id, given({ claimNumber })),
    }
  }

  /**
   * Takes a message if it is still there. When the answer is lost, this reads the message: if it is shown now, it was
   * shown to us, and must not get lost between the hub and here.
   */
  async #take(message: InboxMessage, again: () => Partial<CallOptions>): Promise<InboxMessage[]> {
    try {
      const { message: taken } = await this.#ask('take', { id: message.id })
      if (taken !== null) this.#claims.taken([taken])
      return taken === null ? [] : [taken]
    } catch (error) {
      if (!(error instanceof MailboxError) || error.code !== 'unreachable') throw error
      const { state } = await this.#ask('read', { id: message.id }, again())
      return state === 'shown' ? [{ ...message, state }] : []
    }
  }
}
