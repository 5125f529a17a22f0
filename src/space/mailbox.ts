import { MailboxError } from '../base/errors.ts'
import { processState } from '../base/process.ts'
import { timeoutSignal } from '../base/timers.ts'
import { inSpan, noteSpan } from '../base/trace.ts'
import { checkSend } from '../command/check-send.ts'
import { isTalk } from '../command/conversation-check.ts'
import {
  decideClaimNext,
  decideHandle,
  decideShow,
  type HandleCommand,
  type HandleStep,
} from '../command/handle.ts'
import { decideResend } from '../command/resend.ts'
import { requirePresent, type UpdateInput } from '../command/roster.ts'
import { decideSend } from '../command/send.ts'
import { decideSupersede, decideWithdraw } from '../command/withdraw.ts'
import { checkPayload } from '../conversation/payload.ts'
import type { Kind } from '../conversation/registry.ts'
import { unreadNow, withinBudget } from '../delivery/arrive.ts'
import { type Follow, type Unread, type WatchOptions, waitMail, watchMail } from '../delivery/watch.ts'
import { type Agent, person, systemAgent } from '../model/agent.ts'
import type { Claim } from '../model/claim.ts'
import type { Directory } from '../model/directory.ts'
import type { SendInput } from '../model/fields.ts'
import { checkId } from '../model/id.ts'
import { classOf, isAcked, type ReceiptState } from '../model/receipt.ts'
import { count, type UnreadCount } from '../query/count.ts'
import { cursorAfter, type InboxMessage, type InboxOptions, inbox } from '../query/inbox.ts'
import { messageBySeq, receiptsOf, requireSeq, type Source, type StoredMessage } from '../query/message.ts'
import { isAnswerTo, type Owed } from '../query/owed.ts'
import type { ListOptions, Page } from '../query/page.ts'
import { agentByName, isLongSilent } from '../query/roster.ts'
import { search } from '../query/search.ts'
import type { ShownMessage } from '../query/show.ts'
import { standing, unreadFor } from '../query/standing.ts'
import { sent, thread } from '../query/thread.ts'
import type {
  BroadcastInput,
  Checked,
  CheckOptions,
  Handled,
  HandleOptions,
  ReplyInput,
  SentMessage,
  WaitOptions,
} from './mailbox-options.ts'
import { readTemplate } from './settings.ts'
import type { Space } from './space.ts'

/** How much unread mail one who waits looks through for what it wants. */
const waitLooksAt = 1_000

/** One agent's view of a space, wherever the space is: on this disk, or behind a hub. */
export type Mailbox = { [Name in keyof LocalMailbox]: LocalMailbox[Name] }

/** The mailbox of a space on this disk. */
export class LocalMailbox {
  readonly name: string
  readonly #space: Space

  /** @internal Use {@link Space.mailbox}. */
  constructor(space: Space, name: string) {
    this.#space = space
    this.name = name
  }

  /** Sends a message. Resolves when it is durable. */
  async send(input: SendInput): Promise<SentMessage> {
    checkSend(input, this.#space.settings['limits.messageBytes'])
    checkPayload(input.type, input.payload, input.replyTo !== undefined)
    const to = typeof input.to === 'string' ? input.to : input.to.join(', ')
    const span = { name: `send ${to}`, kind: 'producer', attributes: traceOf('send', this.name, to) } as const
    return inSpan(span, async (traceparent) => {
      const stamped = traceparent === undefined ? input : { traceparent, ...input }
      try {
        return await this.#send(stamped)
      } catch (error) {
        // A box may be full of what is over. Whoever is told so has seen to that first.
        const isFull = error instanceof MailboxError && error.code === 'over_limit'
        if (!isFull || (await this.#space.tend()) === 0) throw error
        return this.#send(stamped)
      }
    })
  }

  async #send(input: SendInput): Promise<SentMessage> {
    const parent = input.replyTo === undefined ? undefined : await this.#parent(input.replyTo)
    let warnings: string[] = []
    let earlier: string | undefined
    const needsIndex = input.key !== undefined || Boolean(input.supersede) || isTalk(input)
    const placed = await this.#space.decide((view, context) => {
      this.#mustBeKnown(view.directory)
      earlier = input.key === undefined ? undefined : view.keyed(this.name, input.key)
      if (earlier !== undefined) return []
      const decision = decideSend(view, { from: this.name, input, parent }, context)
      warnings = decision.warnings
      if (!input.supersede) return decision.drafts
      const superseded = decideSupersede(view, this.name, decision.message, input.supersede)
      warnings = [...warnings, ...superseded.warnings]
      return [...decision.drafts, ...superseded.drafts]
    }, needsIndex)
    if (earlier !== undefined)
      return { ...(await this.#message(earlier)), warnings: ['sent before with this key'] }
    const entry = placed[0]?.entry
    if (entry?.kind !== 'message') throw new MailboxError('internal', 'nothing was sent')
    return { seq: entry.seq, ...entry.message, warnings }
  }

  /** Answers a message: to its sender, in its thread, with its priority unless told otherwise. */
  async reply(id: string, input: ReplyInput = {}): Promise<SentMessage> {
    const original = await this.#message(id)
    const mine = original.from === this.name
    const subject = /^re:/i.test(original.subject) ? original.subject : `Re: ${original.subject}`
    const defaults = {
      to: mine ? original.to : original.from,
      subject: subject.slice(0, 500),
      type: 'response',
      priority: original.priority,
    }
    if (original.from === systemAgent && input.to === undefined) {
      throw new MailboxError('not_permitted', 'the system reads no mail', { hint: 'name a recipient: --to' })
    }
    return this.send({ ...defaults, ...input, replyTo: original.id })
  }

  /** Sends to everybody, or to everybody in a swarm. */
  async broadcast(input: BroadcastInput): Promise<SentMessage> {
    const to = input.swarm === undefined ? 'all' : `broadcast:${input.swarm}`
    return this.send({ type: 'broadcast', ...input, to })
  }

  /** Takes a message back that nobody has seen yet. */
  async withdraw(id: string): Promise<StoredMessage> {
    checkId(id)
    await this.#space.decide((view) => decideWithdraw(view, this.name, id), true)
    return this.#message(id)
  }

  /** Sends a dead letter to another address. For its sender, and for the person. */
  async resend(id: string, to: SendInput['to']): Promise<SentMessage> {
    checkId(id)
    // What has expired is listed before anybody has written it down.
    await this.#space.tend()
    let warnings: string[] = []
    const placed = await this.#space.decide((view, context) => {
      const decision = decideResend(view, { agent: this.name, id, to }, context)
      warnings = decision.warnings
      return decision.drafts
    }, true)
    const entry = placed[0]?.entry
    if (entry?.kind !== 'message') throw new MailboxError('internal', 'nothing was sent')
    return { seq: entry.seq, ...entry.message, warnings }
  }

  /** A page of mail, the most urgent first, then the oldest. Changes nothing. */
  async inbox(options: InboxOptions = {}): Promise<Page<InboxMessage>> {
    return this.#query((source, agent) => inbox(source, agent, options, this.#space.now()))
  }

  /**
   * The unread mail that fits a budget, the most urgent first. What it returns is marked as shown, and
   * mail to a role is claimed, before it returns: two who check at once never get the same message.
   */
  async check(options: CheckOptions = {}): Promise<Checked> {
    const { budgetTokens = 2_000, ...filter } = options
    if (!(budgetTokens > 0))
      throw new MailboxError('invalid', 'the budget is not a number of tokens', { hint: 'try 2000' })
    await this.comeIn()
    const page = await this.inbox({ limit: 200, ...filter, unread: true })
    // Whoever has asked something sees the answer before anything else.
    const isShort = (filter.limit ?? 200) < 200
    const whole = isShort ? await this.inbox({ ...filter, limit: 200, unread: true }) : page
    const isAnswer = await this.#isAnswer(whole.messages)
    const answers = whole.messages.filter(isAnswer)
    const others = page.messages.filter((message) => !isAnswer(message))
    const fitting = withinBudget([...answers, ...others].slice(0, filter.limit ?? 200), budgetTokens)
    const taken = await this.#take(fitting)
    const cut = fitting.length < page.messages.length
    const last = fitting.findLast((message) => !isAnswer(message))
    const next = !cut ? page.next : last === undefined ? (filter.after ?? null) : cursorAfter(last)
    return { messages: taken, remaining: await this.count(), next }
  }

  /** One message in full; marks it as shown, and claims it if it is for a role of this agent. */
  async read(id: string): Promise<InboxMessage> {
    const message = await this.#message(id)
    const state = await this.#standing(message.seq)
    if (state === undefined || classOf(state) !== 'unread') {
      return { ...message, state: state ?? (await this.#anyState(message.seq)) }
    }
    const { state: shown } = await this.#handle('shown', message.id)
    this.#delivered([message])
    return { ...message, state: shown }
  }

  /** A trace of what was handed to this agent, linked to the traces of those who sent it. */
  #delivered(messages: readonly StoredMessage[]): void {
    if (messages.length === 0) return
    const links = messages.map(({ traceparent }) => traceparent)
    const attributes = {
      ...traceOf('receive', this.name, this.name),
      'messaging.batch.message_count': messages.length,
    }
    noteSpan({ name: `deliver ${this.name}`, kind: 'consumer', attributes, links })
  }

  /** Notes that this agent was told of mail without being shown it: a bell rang, a terminal was typed into. */
  async notified(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await this.#space.decide((view, context) => decideShow(view, this.name, ids, context, 'notified'), true)
  }

  /** Says that the message has arrived where it matters. */
  async ack(id: string, options: HandleOptions = {}): Promise<Handled> {
    return this.#handle('acked', id, options)
  }

  /** Takes mail to a role, so that nobody else does. Throws `conflict` when somebody has it. */
  async claim(id: string, options: { ttlMs?: number } = {}): Promise<Handled & { claim: Claim }> {
    await this.comeIn()
    const handled = await this.#handle('claimed', id, { claimTtlMs: options.ttlMs })
    return { ...handled, claim: await this.#claimOf(handled.message) }
  }

  /** Takes the next mail of a role: the oldest of the most urgent. Null when there is none. */
  async claimNext(
    role: string,
    options: { ttlMs?: number } = {},
  ): Promise<(Handled & { claim: Claim }) | null> {
    const ttlMs = options.ttlMs ?? this.#space.settings.claimTtlMs
    await this.comeIn()
    const placed = await this.#space.decide(
      (view, context) => decideClaimNext(view, this.name, role, ttlMs, context),
      true,
    )
    const entry = placed.map((one) => one.entry).find(({ kind }) => kind === 'receipt')
    if (entry?.kind !== 'receipt') return null
    const message = await this.#message(entry.changes[0]!.id)
    return { message, state: 'shown', claim: await this.#claimOf(message) }
  }

  /** Says that work on it has begun. */
  async start(id: string): Promise<Handled> {
    return this.#handle('processing', id)
  }

  /** Says that it is done; the message is archived with that unless `archive` is false. */
  async done(id: string, options: HandleOptions & { archive?: boolean } = {}): Promise<Handled> {
    return this.#handle('completed', id, options)
  }

  /** Says that it could not be done, and why. It can be retried. */
  async fail(id: string, options: { reason: string }): Promise<Handled> {
    if (!options?.reason)
      throw new MailboxError('invalid', 'a failure needs a reason', { hint: 'say what went wrong: --reason' })
    return this.#handle('failed', id, { note: options.reason })
  }

  /** Gives it back unread: to the role it was claimed from, or to this agent's own inbox. */
  async release(id: string): Promise<Handled> {
    return this.#handle('released', id)
  }

  /** Puts a failed message back among the unread. */
  async retry(id: string): Promise<Handled> {
    return this.#handle('retried', id)
  }

  async archive(id: string): Promise<Handled> {
    return this.#handle('archived', id)
  }

  /**
   * Waits for a message and marks it as shown. Whatever does not match stays unread. Null when the time
   * is up; an aborted signal throws `interrupted`.
   */
  async wait(options: WaitOptions = {}): Promise<InboxMessage | null> {
    const { replyTo, timeoutMs, signal, match = () => true, along, ...rest } = options
    if (along !== undefined) return this.#waitAlong(along, options)
    const wanted = replyTo === undefined ? rest : { ...rest, replyTo: (await this.#message(replyTo)).id }
    const attempt = async () => {
      const answers: InboxMessage[] = []
      const others: InboxMessage[] = []
      for (let after: string | null | undefined; after !== null && others.length < waitLooksAt; ) {
        const page = await this.inbox({
          ...{ ...wanted, unread: true, limit: 200 },
          ...(after === undefined ? {} : { after }),
        })
        const isAnswer = await this.#isAnswer(page.messages)
        for (const message of page.messages.filter(match))
          (isAnswer(message) ? answers : others).push(message)
        after = page.next
      }
      for (const message of [...answers, ...others]) {
        const [taken] = await this.#take([message])
        if (taken !== undefined) return taken
      }
      return undefined
    }
    await this.comeIn()
    // Mail can become due while one waits for it.
    const keeper = this.#space.keepTime()
    try {
      return (await this.#space.bell(signal).until(attempt, timeoutMs)) ?? null
    } finally {
      keeper.stop()
    }
  }

  async #waitAlong(follow: Follow, options: WaitOptions): Promise<InboxMessage | null> {
    const { type, from, match, replyTo, timeoutMs = Number.POSITIVE_INFINITY, signal } = options
    await this.comeIn()
    const over = timeoutSignal(timeoutMs)
    const ending = signal === undefined ? over : AbortSignal.any([signal, over])
    const watched = {
      name: this.name,
      unread: (filter: InboxOptions) => this.unread(filter),
      peek: (seq: number) => this.peek(seq),
      take: ({ id }: InboxMessage) => this.take(id),
      follow,
    }
    const wanted = {
      ...(type === undefined ? {} : { type }),
      ...(from === undefined ? {} : { from }),
      ...(replyTo === undefined ? {} : { replyTo: (await this.#message(replyTo)).id }),
    }
    return waitMail(watched, { ...wanted, match, signal: ending })
  }

  /** Waits until a recipient has acknowledged a message, or gone beyond that. False when the time is up. */
  async waitForAck(id: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<boolean> {
    const { timeoutMs = 60_000, signal } = options
    const attempt = async () => {
      const receipts = await this.#space.query((source) => receiptsOf(source, requireSeq(source, id)))
      return receipts.some(({ state }) => isAcked(state)) || undefined
    }
    const keeper = this.#space.keepTime()
    try {
      return (await this.#space.bell(signal).until(attempt, timeoutMs)) ?? false
    } finally {
      keeper.stop()
    }
  }

  /** Unread mail as it is there and as it comes. Looks only: nothing is marked, nothing is claimed. */
  watch(options: WatchOptions = {}): AsyncGenerator<InboxMessage> {
    const { name } = this
    return watchMail(
      {
        name,
        unread: (filter) => this.unread(filter),
        peek: (seq) => this.peek(seq),
        follow: (from) => this.#space.follow(from),
      },
      options,
    )
  }

  /** @internal All unread mail at one moment. Changes nothing. */
  async unread(filter: InboxOptions = {}): Promise<Unread> {
    return this.#query((source, agent) => {
      const messages = unreadNow(source, agent, filter, this.#space.now())
      const answers = messages.filter((message) => isAnswerTo(source, this.name, message))
      return { seq: source.index.cursor.seq, messages, answers: answers.map(({ id }) => id) }
    })
  }

  /** @internal The message at this place if it is unread for this agent. Changes nothing. */
  async peek(seq: number): Promise<InboxMessage | null> {
    return this.#query((source, agent) => unreadFor(source, agent, seq, {}, this.#space.now()) ?? null)
  }

  /** @internal Takes an unread message as `wait` does: marks it as shown. Null when it is not there to take. */
  async take(id: string): Promise<InboxMessage | null> {
    const { seq } = await this.#message(id)
    const message = await this.peek(seq)
    return message === null ? null : ((await this.#take([message]))[0] ?? null)
  }

  /** Takes unread mail that the caller has chosen, in that order; what is no longer there to take is left out. */
  async takeAll(ids: readonly string[]): Promise<InboxMessage[]> {
    if (ids.length === 0) return []
    const unread = await this.#query((source, agent) =>
      ids.flatMap((id) => unreadFor(source, agent, requireSeq(source, id), {}, this.#space.now()) ?? []),
    )
    return this.#take(unread)
  }

  /** The thread a message belongs to, oldest first. */
  async thread(id: string): Promise<StoredMessage[]> {
    return this.#space.query((source) => thread(source, id))
  }

  /** What this agent has sent, newest first. */
  async sent(options: ListOptions = {}): Promise<Page<StoredMessage>> {
    return this.#space.query((source) => sent(source, this.name, options))
  }

  /** Full text and operators: `from: to: tag: type: is:unread has:attachment before: after:`, `-` negates. */
  async search(query: string, options: ListOptions = {}): Promise<Page<StoredMessage>> {
    return this.#space.queryWords((source, words) =>
      search(source, words, (at) => this.#agent(at), query, options, this.#space.now()),
    )
  }

  /** A message and the ladder of each recipient. Changes nothing. */
  async show(id: string): Promise<ShownMessage> {
    return this.#space.show(id)
  }

  /** How much is unread, in all and by priority. */
  async count(): Promise<UnreadCount> {
    return this.#query((source, agent) => count(source, agent, this.#space.now()))
  }

  /** How long a claim of this space lasts unless it is renewed. */
  get claimTtlMs(): number {
    return this.#space.settings.claimTtlMs
  }

  /** This agent as the roster has it. */
  async agent(): Promise<Agent> {
    return this.#query((_, agent) => agent)
  }

  /** Whoever leads: the first leading role that somebody holds, or the person. */
  async lead(): Promise<string> {
    const agents = await this.#space.agents()
    const { leads, deadLetterAfterMs } = this.#space.settings
    // One that has just died may be back in a moment, and its mail waits for it as long.
    const mayCome = ({ state, gone, lastSeenAt }: Agent) =>
      state !== 'dead' || (gone !== 'left' && this.#space.now() - Date.parse(lastSeenAt) < deadLetterAfterMs)
    const role = leads.find((one) =>
      agents.some((agent) => agent.name !== this.name && agent.roles.includes(one) && mayCome(agent)),
    )
    return role === undefined ? person : `role:${role}`
  }

  /** What this agent owes others. */
  async owed(options: { kind?: Kind } = {}): Promise<Owed[]> {
    return this.#space.owed({ ...options, by: this.name })
  }

  /** What others owe this agent: answers, verdicts, work. */
  async awaited(options: { kind?: Kind } = {}): Promise<Owed[]> {
    return this.#space.owed({ ...options, to: this.name })
  }

  /** @internal A template of the space, if it has it. */
  async template(name: string): Promise<Record<string, unknown> | null> {
    return readTemplate(this.#space.dir, name) ?? null
  }

  /** Takes on or gives up roles and tags. */
  async update(input: UpdateInput): Promise<Agent> {
    return this.#space.update(this.name, input)
  }

  /** Says that this agent is still there. Needed only where nobody can see its process. */
  async heartbeat(): Promise<Agent> {
    return this.#space.update(this.name, {})
  }

  async leave(options: { frozen?: boolean } = {}): Promise<Agent> {
    return this.#space.leave(this.name, options)
  }

  /** Whoever looks for its mail is there, though it says nothing; then what is due is done. */
  async comeIn(): Promise<void> {
    const isQuiet = await this.#query(
      (source, agent) =>
        processState(agent.session) !== 'running' &&
        isLongSilent(source, agent, this.#space.settings, this.#space.now()),
    )
    if (isQuiet) await this.heartbeat()
    await this.#space.tend()
  }

  #mustBeKnown(directory: Directory): void {
    if (this.name !== systemAgent) requirePresent(directory, this.name)
  }

  #agent(source: Source): Agent {
    const agent = agentByName(source, this.name)
    if (agent === undefined)
      throw new MailboxError('not_found', `no agent is called ${JSON.stringify(this.name)}`, {
        hint: `mailbox join ${this.name}`,
      })
    return agent
  }

  #query<T>(work: (source: Source, agent: Agent) => T): Promise<T> {
    return this.#space.query((source) => work(source, this.#agent(source)))
  }

  #message(id: string): Promise<StoredMessage> {
    return this.#space.query((source) => messageBySeq(source, requireSeq(source, id)))
  }

  async #parent(id: string): Promise<{ id: string; threadId: string }> {
    const { id: fullId, threadId } = await this.#message(id)
    return { id: fullId, threadId }
  }

  /** Which of these messages answer a question of this agent. */
  async #isAnswer(messages: readonly InboxMessage[]): Promise<(message: InboxMessage) => boolean> {
    const found = await this.#query((source) =>
      messages.filter((message) => isAnswerTo(source, this.name, message)).map(({ id }) => id),
    )
    return ({ id }) => found.includes(id)
  }

  /** Marks messages as shown; returns those that were still there to take. */
  async #take(messages: readonly InboxMessage[]): Promise<InboxMessage[]> {
    if (messages.length === 0) return []
    const ids = messages.map(({ id }) => id)
    const placed = await this.#space.decide(
      (view, context) => decideShow(view, this.name, ids, context),
      true,
    )
    const entry = placed[0]?.entry
    const taken = new Set(entry?.kind === 'receipt' ? entry.changes.map(({ seq }) => seq) : [])
    const got = messages.filter(({ seq }) => taken.has(seq))
    this.#delivered(got)
    return got.map((message) => ({ ...message, state: 'shown' }))
  }

  async #handle(
    step: HandleStep,
    id: string,
    options: Partial<Pick<HandleCommand, 'note' | 'archive' | 'claimTtlMs'>> = {},
  ): Promise<Handled> {
    const ttl = options.claimTtlMs ?? this.#space.settings.claimTtlMs
    checkId(id)
    const command = { ...options, agent: this.name, step, id, claimTtlMs: ttl }
    await this.#space.decide((view, context) => decideHandle(view, command, context), true)
    const message = await this.#message(id)
    return { message, state: (await this.#standing(message.seq)) ?? 'stored' }
  }

  /** How far a message has come with whoever has it, for one that it did not reach. */
  #anyState(seq: number): Promise<ReceiptState> {
    return this.#space.query((source) => receiptsOf(source, seq)[0]?.state ?? 'stored')
  }

  #standing(seq: number): Promise<ReceiptState | undefined> {
    return this.#query((source, agent) => standing(source, agent, seq, this.#space.now()))
  }

  async #claimOf({ id, seq }: StoredMessage): Promise<Claim> {
    const receipts = await this.#space.query((source) => receiptsOf(source, seq))
    const held = receipts.find(({ box }) => box === this.name)
    const until = held?.claimUntil ?? this.#space.now() + this.#space.settings.claimTtlMs
    return {
      messageId: id,
      agent: this.name,
      until: new Date(until).toISOString(),
      attempt: Math.max(1, held?.attempts ?? 1),
    }
  }
}

/** What a span says of a message, in the words of OpenTelemetry's conventions. */
const traceOf = (operation: string, agent: string, destination: string) => ({
  'messaging.system': 'agent-mailbox',
  'messaging.operation.name': operation,
  'messaging.client.id': agent,
  'messaging.destination.name': destination,
})
