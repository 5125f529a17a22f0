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

  send = (input: SendInput) => sending.send(this.#core, this.name, input)
  reply = (id: string, input: ReplyInput = {}) => sending.reply(this.#core, this.name, id, input)

  async broadcast(input: BroadcastInput) {
    const to = input.swarm === undefined ? 'all' : `broadcast:${input.swarm}`
    return this.send({ type: 'broadcast', ...input, to })
  }

  withdraw = (id: string) => sending.withdraw(this.#core, this.name, id)
  resend = (id: string, to: SendInput['to']) => sending.resend(this.#core, this.name, id, to)

  inbox = (options: InboxOptions = {}) =>
    queryAs(this.#core, this.name, (source, agent) => inbox(source, agent, options, this.#core.now()))
  check = (options: CheckOptions = {}) => reading.check(this.#core, this.name, options)
  read = (id: string) => reading.read(this.#core, this.name, id)

  async unread(filter: InboxOptions = {}) {
    const { next: _, ...unread } = await queryAs(this.#core, this.name, (source, agent) =>
      nextMail(source, agent, filter, this.#core.now()),
    )
    return unread
  }

  peek = (seq: number) => reading.peek(this.#core, this.name, seq)
  take = async (id: string) => (await this.takeAll([id]))[0] ?? null
  takeAll = (ids: readonly string[]) => reading.takeAll(this.#core, this.name, ids)
  count = () => queryAs(this.#core, this.name, (source, agent) => count(source, agent, this.#core.now()))
  thread = (id: string) => this.#core.query((source) => thread(source, id))
  sent = (options: ListOptions = {}) => this.#core.query((source) => sent(source, this.name, options))
  search = (query: string, options: ListOptions = {}) =>
    this.#core.queryWords((source, words) =>
      search(source, words, (at) => requireKnown(at, this.name), query, options, this.#core.now()),
    )
  show = (id: string) => this.#core.query((source) => show(source, id, this.#core.now()))

  notified = (ids: readonly string[]) => handling.notified(this.#core, this.name, ids)
  ack = (id: string, options: HandleOptions = {}) =>
    handling.handle(this.#core, this.name, 'acked', id, options)
  claim = (id: string, options: { ttlMs?: number } = {}) => handling.claim(this.#core, this.name, id, options)
  claimNext = (role: string, options: { ttlMs?: number } = {}) =>
    handling.claimNext(this.#core, this.name, role, options)
  start = (id: string) => handling.handle(this.#core, this.name, 'processing', id)
  done = (id: string, options: HandleOptions & { archive?: boolean } = {}) =>
    handling.handle(this.#core, this.name, 'completed', id, options)

  async fail(id: string, options: { reason: string }) {
    if (!options?.reason)
      throw new MailboxError('invalid', 'a failure needs a reason', { hint: 'say what went wrong: --reason' })
    return handling.handle(this.#core, this.name, 'failed', id, { note: options.reason })
  }

  release = (id: string) => handling.handle(this.#core, this.name, 'released', id)
  retry = (id: string) => handling.handle(this.#core, this.name, 'retried', id)
  archive = (id: string) => handling.handle(this.#core, this.name, 'archived', id)

  wait = (options: WaitOptions = {}) => waiting.wait(this.#core, this.name, options)
  waitAlong = (options: WaitOptions, follow: Follow) => waiting.wait(this.#core, this.name, options, follow)
  waitForAck = (id: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
    waiting.waitForAck(this.#core, id, options)
  watch = (options: WatchOptions = {}) => watchMail(waiting.watched(this.#core, this.name), options)

  agent = () => queryAs(this.#core, this.name, (_, agent) => agent)
  lead = () => roster.leadOf(this.#core, this.name)
  owed = (options: { kind?: Kind } = {}) =>
    this.#core.query((source) => owed(source, { ...options, by: this.name }, this.#core.now()))
  awaited = (options: { kind?: Kind } = {}) =>
    this.#core.query((source) => owed(source, { ...options, to: this.name }, this.#core.now()))
  template = async (name: string) => readTemplate(this.#core.dir, name) ?? null
  update = (input: UpdateInput) => roster.update(this.#core, this.name, input)
  heartbeat = () => roster.update(this.#core, this.name, {})
  touch = () => handling.touch(this.#core, this.name)
  leave = (options: { frozen?: boolean } = {}) => roster.leave(this.#core, this.name, options)
}
