import { MailboxError } from '../../base/errors.ts'
import type { UpdateInput } from '../../command/roster.ts'
import type { Kind } from '../../conversation/registry.ts'
import { type Follow, type WatchOptions, watchMail } from '../../delivery/watch.ts'
import type { SendInput } from '../../model/fields.ts'
import { count } from '../../query/count.ts'
import { type InboxOptions, inbox } from '../../query/inbox.ts'
import { nextMail } from '../../query/next-mail.ts'
import { owed } from '../../query/owed.ts'
import type { ListOptions } from '../../query/page.ts'
import { search } from '../../query/search.ts'
import { show } from '../../query/show.ts'
import { sent, thread } from '../../query/thread.ts'
import type { SpaceCore } from '../core.ts'
import * as roster from '../roster.ts'
import { readTemplate } from '../settings.ts'
import type {
  BroadcastInput,
  CheckOptions,
  HandleOptions,
  ReplyInput,
  ServedMailbox,
  WaitOptions,
} from './api.ts'
import * as handling from './handling.ts'
import { queryAs, requireKnown } from './looking.ts'
import * as reading from './reading.ts'
import * as sending from './sending.ts'
import * as waiting from './waiting.ts'

/** The mailbox of a space on this disk: what each method does is in the file of its kind. */
export class LocalMailbox implements ServedMailbox {
  readonly name: string
  readonly #core: SpaceCore

  constructor(core: SpaceCore, name: string) {
    this.#core = core
    this.name = name
  }

  get claimTtlMs() {
    return this.#core.settings.claimTtlMs
  }

  async send(input: SendInput) {
    return sending.send(this.#core, this.name, input)
  }

  async reply(id: string, input: ReplyInput = {}) {
    return sending.reply(this.#core, this.name, id, input)
  }

  async broadcast(input: BroadcastInput) {
    const to = input.swarm === undefined ? 'all' : `broadcast:${input.swarm}`
    return this.send({ type: 'broadcast', ...input, to })
  }

  async withdraw(id: string) {
    return sending.withdraw(this.#core, this.name, id)
  }

  async resend(id: string, to: SendInput['to']) {
    return sending.resend(this.#core, this.name, id, to)
  }

  async inbox(options: InboxOptions = {}) {
    return queryAs(this.#core, this.name, (source, agent) => inbox(source, agent, options, this.#core.now()))
  }

  async check(options: CheckOptions = {}) {
    return reading.check(this.#core, this.name, options)
  }

  async read(id: string) {
    return reading.read(this.#core, this.name, id)
  }

  async unread(filter: InboxOptions = {}) {
    const { next: _, ...unread } = await queryAs(this.#core, this.name, (source, agent) =>
      nextMail(source, agent, filter, this.#core.now()),
    )
    return unread
  }

  async peek(seq: number) {
    return reading.peek(this.#core, this.name, seq)
  }

  async take(id: string) {
    return (await this.takeAll([id]))[0] ?? null
  }

  async takeAll(ids: readonly string[]) {
    return reading.takeAll(this.#core, this.name, ids)
  }

  async count() {
    return queryAs(this.#core, this.name, (source, agent) => count(source, agent, this.#core.now()))
  }

  async thread(id: string) {
    return this.#core.query((source) => thread(source, id))
  }

  async sent(options: ListOptions = {}) {
    return this.#core.query((source) => sent(source, this.name, options))
  }

  async search(query: string, options: ListOptions = {}) {
    return this.#core.queryWords((source, words) =>
      search(source, words, (at) => requireKnown(at, this.name), query, options, this.#core.now()),
    )
  }

  async show(id: string) {
    return this.#core.query((source) => show(source, id, this.#core.now()))
  }

  async notified(ids: readonly string[]) {
    return handling.notified(this.#core, this.name, ids)
  }

  async ack(id: string, options: HandleOptions = {}) {
    return handling.handle(this.#core, this.name, 'acked', id, options)
  }

  async claim(id: string, options: { ttlMs?: number } = {}) {
    return handling.claim(this.#core, this.name, id, options)
  }

  async claimNext(role: string, options: { ttlMs?: number } = {}) {
    return handling.claimNext(this.#core, this.name, role, options)
  }

  async start(id: string) {
    return handling.handle(this.#core, this.name, 'processing', id)
  }

  async done(id: string, options: HandleOptions & { archive?: boolean } = {}) {
    return handling.handle(this.#core, this.name, 'completed', id, options)
  }

  async fail(id: string, options: { reason: string }) {
    if (!options?.reason)
      throw new MailboxError('invalid', 'a failure needs a reason', { hint: 'say what went wrong: --reason' })
    return handling.handle(this.#core, this.name, 'failed', id, { note: options.reason })
  }

  async release(id: string) {
    return handling.handle(this.#core, this.name, 'released', id)
  }

  async retry(id: string) {
    return handling.handle(this.#core, this.name, 'retried', id)
  }

  async archive(id: string) {
    return handling.handle(this.#core, this.name, 'archived', id)
  }

  async wait(options: WaitOptions = {}) {
    return waiting.wait(this.#core, this.name, options)
  }

  async waitAlong(options: WaitOptions, follow: Follow) {
    return waiting.wait(this.#core, this.name, options, follow)
  }

  async waitForAck(id: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}) {
    return waiting.waitForAck(this.#core, id, options)
  }

  watch(options: WatchOptions = {}) {
    return watchMail(waiting.watched(this.#core, this.name), options)
  }

  async agent() {
    return queryAs(this.#core, this.name, (_, agent) => agent)
  }

  async lead() {
    return roster.leadOf(this.#core, this.name)
  }

  async owed(options: { kind?: Kind } = {}) {
    return this.#core.query((source) => owed(source, { ...options, by: this.name }, this.#core.now()))
  }

  async awaited(options: { kind?: Kind } = {}) {
    return this.#core.query((source) => owed(source, { ...options, to: this.name }, this.#core.now()))
  }

  async template(name: string) {
    return readTemplate(this.#core.dir, name) ?? null
  }

  async update(input: UpdateInput) {
    return roster.update(this.#core, this.name, input)
  }

  async heartbeat() {
    return roster.update(this.#core, this.name, {})
  }

  async comeIn() {
    return handling.comeIn(this.#core, this.name)
  }

  async leave(options: { frozen?: boolean } = {}) {
    return roster.leave(this.#core, this.name, options)
  }
}
