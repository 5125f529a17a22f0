import { MailboxError } from '../../base/errors.ts'
import { watchMail } from '../../delivery/watch.ts'
import type { SendInput } from '../../model/fields.ts'
import { checkLabel } from '../../model/name.ts'
import type { Origin } from '../../model/origin.ts'
import { count } from '../../query/count.ts'
import { inbox } from '../../query/inbox.ts'
import { signedReader } from '../../query/keys.ts'
import { nextMail } from '../../query/next-mail.ts'
import { owed } from '../../query/owed.ts'
import { scheduledBy } from '../../query/scheduled.ts'
import { search } from '../../query/search.ts'
import { show } from '../../query/show.ts'
import { sent, thread } from '../../query/threads.ts'
import type { SpaceCore } from '../core.ts'
import { queryNow } from '../due.ts'
import * as roster from '../roster.ts'
import { readTemplate } from '../settings.ts'
import type { BroadcastInput, SentMessage, ServedMailbox } from './api.ts'
import { checkedOptions, idsOf, optionsOf } from './arguments.ts'
import * as handling from './handling.ts'
import { type Holder, queryAs, requireKnown } from './looking.ts'
import * as reading from './reading.ts'
import * as sending from './sending.ts'
import * as waiting from './waiting.ts'

/** A method as the interface has it. */
type Of<Method extends keyof ServedMailbox> = ServedMailbox[Method]

/** The mailbox of a space on this disk: what each method does is in the file of its kind. */
export class LocalMailbox implements ServedMailbox {
  readonly name: string
  readonly #core: SpaceCore
  readonly #holder: Holder

  constructor(core: SpaceCore, name: string, traits: Omit<Holder, 'core' | 'name'> = {}) {
    this.#core = core
    this.name = name
    this.#holder = { core, name, ...traits }
  }

  get now() {
    return this.#core.now
  }

  get claimTtlMs() {
    return this.#core.settings.claimTtlMs
  }

  send: Of<'send'> = (input) => sending.send(this.#holder, input)
  /** Sends what a bridge has found elsewhere. It is marked with where it comes from. */
  bring = (input: SendInput, origin: Origin): Promise<SentMessage> =>
    sending.send(this.#holder, input, origin)

  reply: Of<'reply'> = async (id, input) => sending.reply(this.#holder, id, optionsOf(input))

  async broadcast(input: BroadcastInput) {
    const { swarm } = optionsOf(input)
    // What is no text is refused as a field.
    const to = typeof swarm === 'string' ? `broadcast:${swarm}` : 'all'
    return this.send({ type: 'broadcast', ...input, to })
  }

  withdraw: Of<'withdraw'> = (id) => sending.withdraw(this.#holder, id)
  resend: Of<'resend'> = (id, to) => sending.resend(this.#holder, id, to)

  inbox: Of<'inbox'> = async (options) => {
    const filter = checkedOptions(options)
    return queryAs(this.#holder, (source, agent, now) => inbox(source, agent, filter, now))
  }
  check: Of<'check'> = async (options) => reading.check(this.#holder, checkedOptions(options))
  read: Of<'read'> = (id) => reading.read(this.#holder, id)

  unread: Of<'unread'> = async (options) => {
    const filter = checkedOptions(options)
    const { next: _, ...unread } = await queryAs(this.#holder, (source, agent, now) =>
      nextMail(source, agent, filter, now),
    )
    return unread
  }

  peek: Of<'peek'> = (seq) => reading.peek(this.#holder, seq)
  take: Of<'take'> = async (id) => (await reading.takeAll(this.#holder, [id], false))[0] ?? null
  takeAll: Of<'takeAll'> = async (ids) => reading.takeAll(this.#holder, idsOf(ids))
  count: Of<'count'> = () => queryAs(this.#holder, count)
  thread: Of<'thread'> = (id) => this.#core.query((source) => thread(source, id, signedReader(source)))
  sent: Of<'sent'> = async (options) => {
    const filter = checkedOptions(options)
    return this.#core.query((source) => sent(source, this.name, filter))
  }
  scheduled: Of<'scheduled'> = () => this.#core.query((source) => scheduledBy(source, this.name))
  search: Of<'search'> = async (query, options) => {
    const filter = checkedOptions(options)
    return this.#core.queryWords((source, words) =>
      search(source, words, (at) => requireKnown(at, this.name), query, filter, this.#core.now()),
    )
  }
  show: Of<'show'> = (id) => this.#core.query((source) => show(source, id, this.#core.now()))

  notified: Of<'notified'> = async (ids) => handling.notified(this.#holder, idsOf(ids))
  ack: Of<'ack'> = (id, options) => handling.handle(this.#holder, 'acked', id, options)
  claim: Of<'claim'> = (id, options) => handling.claim(this.#holder, id, options)
  claimNext: Of<'claimNext'> = async (role, options) =>
    handling.claimNext(this.#holder, role, optionsOf(options).ttlMs)
  start: Of<'start'> = (id, options) => handling.handle(this.#holder, 'processing', id, options)
  done: Of<'done'> = (id, options) => handling.handle(this.#holder, 'completed', id, options)

  fail: Of<'fail'> = async (id, options) => {
    if (!optionsOf(options).reason)
      throw new MailboxError('invalid', 'a failure needs a reason', { hint: 'say what went wrong: --reason' })
    const { reason: note, claimNumber } = options
    return handling.handle(this.#holder, 'failed', id, { note, claimNumber })
  }

  release: Of<'release'> = (id, options) => handling.handle(this.#holder, 'released', id, options)
  retry: Of<'retry'> = (id, options) => handling.handle(this.#holder, 'retried', id, options)
  archive: Of<'archive'> = (id, options) => handling.handle(this.#holder, 'archived', id, options)

  wait: Of<'wait'> = async (options) =>
    (await this.waitForMessages({ ...optionsOf(options), count: 1 }))[0] ?? null
  waitForMessages: Of<'waitForMessages'> = async (options) =>
    waiting.waitForMessages(this.#holder, checkedOptions(options))
  waitAlong: Of<'waitAlong'> = (options, follow) => waiting.waitForMessages(this.#holder, options, follow)
  waitForAck: Of<'waitForAck'> = (id, options) => waiting.waitForAck(this.#core, id, options)
  waitUntilSettled: Of<'waitUntilSettled'> = (ids, options) =>
    waiting.waitUntilSettled(this.#core, ids, options)
  watch: Of<'watch'> = (options) => watchMail(waiting.watched(this.#holder, { acts: false }), options)

  agent: Of<'agent'> = () => queryAs(this.#holder, (_, agent) => agent)
  lead: Of<'lead'> = () => roster.leadOf(this.#core, this.name)
  owed: Of<'owed'> = async (options) =>
    queryNow(this.#core, (source) => owed(source, { ...optionsOf(options), by: this.name }, this.#core.now()))
  awaited: Of<'awaited'> = async (options) =>
    queryNow(this.#core, (source) => owed(source, { ...optionsOf(options), to: this.name }, this.#core.now()))
  template: Of<'template'> = async (name) =>
    readTemplate(this.#core.dir, checkLabel(name, 'template')) ?? null
  update: Of<'update'> = (input) => roster.update(this.#core, this.name, input)
  heartbeat: Of<'heartbeat'> = () => roster.update(this.#core, this.name, {})
  touch: Of<'touch'> = () => handling.touch(this.#holder)
  leave: Of<'leave'> = async (options) => roster.leave(this.#core, this.name, optionsOf(options))
}
