/**
 * The specification once more, as plainly as it can be said: everything in memory, nothing indexed, nothing clever,
 * and nothing taken from src. docs/settling.md is the rulebook. Messages are known by their number in the order they
 * were sent; times are in ms.
 *
 * An agent has a message in up to four ways, and all of them together are one piece of mail to it: a copy of its own
 * (it was named, or it is in a group and has touched the message), a copy of a role that it has claimed, a copy of a
 * role it holds that nobody has, and a group's message it has not touched.
 */
export type State =
  | 'stored'
  | 'shown'
  | 'acked'
  | 'processing'
  | 'completed'
  | 'failed'
  | 'archived'
  | 'expired'
  | 'dead'
  | 'withdrawn'

export type Step =
  | 'shown'
  | 'claimed'
  | 'acked'
  | 'processing'
  | 'completed'
  | 'failed'
  | 'released'
  | 'retried'
  | 'archived'

/** What happens to a copy by itself, as its sender sees it. */
type Mark = 'repeated' | 'escalated' | 'stale' | 'overdue' | 'revived' | 'extended' | 'expired' | 'dead'

export type Refusal = 'invalid' | 'unknown_recipient' | 'not_permitted' | 'conflict' | 'over_limit'

/** What the specification refuses, with the code it gives. */
export class Refused extends Error {
  readonly code: Refusal
  constructor(code: Refusal, why: string) {
    super(why)
    this.code = code
  }
}

/** How a space is set up; 0 means never, or no limit. */
export interface PlainSettings {
  rules: 'open' | 'hub'
  leads: string[]
  maxAttempts: number
  ackTimeoutMs: number
  ackRepeats: number
  urgentAfterMs: number
  staleAfterMs: number
  silentAfterMs: number
  deadLetterAfterMs: number
  answerAfterMs: number
  /** The person's hours: none, or those of {@link isWorkingHour}. */
  hours: '' | 'mon-fri 9-18 UTC'
  'limits.ratePerMinute': number
  'limits.inbox': number
}

export interface PlainAgent {
  name: string
  state: 'alive' | 'frozen' | 'dead'
  roles: Set<string>
  tags: Set<string>
  generation: number
  /** What its client calls the session. */
  session: string | undefined
  /** The process it is tied to: none, one that runs, or one that has ended. */
  process: 'none' | 'running' | 'ended'
  startedAt: number
  /** When it last said or did something. */
  seenAt: number
  /** Since when it is frozen or dead; and why it is dead: it has left, its process has ended, nothing was heard of it. */
  goneAt: number
  gone: 'left' | 'ended' | 'silent'
  /** When it was last away. */
  away: { from: number; to: number } | undefined
}

/** What a message leaves open with one address, until it is settled. */
type Kind = 'ack' | 'question' | 'status' | 'plan' | 'shutdown' | 'task'
type Standing =
  | 'open'
  | 'acked'
  | 'answered'
  | 'approved'
  | 'rejected'
  | 'revised'
  | 'deferred'
  | 'accepted'
  | 'done'
  | 'failed'
  | 'closed'
  | 'reassigned'
  | 'void'
interface Matter {
  owner: string
  kind: Kind
  state: Standing
  /** By when it was to be settled, and how often somebody was told that it was not. */
  until: number | null
  level: number
}

/** A shutdown that was put off, and work that failed, are not over. */
const isOpen = ({ state }: Matter): boolean => ['open', 'deferred', 'failed'].includes(state)

/** What each type of message asks for; the others ask for nothing, but for a `request`, which nobody keeps track of. */
const asked: Record<string, Kind> = {
  help_request: 'question',
  status_request: 'status',
  plan_submission: 'plan',
  shutdown_request: 'shutdown',
  task_assignment: 'task',
  handoff: 'task',
}

/** The type that each answers. */
const answers: Record<string, Kind> = {
  status_response: 'status',
  plan_approval: 'plan',
  shutdown_response: 'shutdown',
}

/** What a message says besides its text. */
export interface Said {
  type?: string
  awaiting?: boolean
  requiresAck?: boolean
  /** The task it is about. */
  task?: string
  withinMs?: number
  /** Of a report. */
  status?: string
  /** Approved, or accepted. */
  yes?: boolean
  /** The message that a report is about, where it was sent by itself. */
  about?: number
}

/** One recipient's copy: an agent's, or a role's. */
interface Copy {
  message: PlainMessage
  owner: string
  state: State
  /** Who has claimed the copy of a role, and until when; null when there is no end to wait for. */
  claimedBy: string | null
  claimUntil: number | null
  expiresAt: number | null
  /** When it last became unread. */
  since: number
  attempts: number
  /** How often work on it has failed. */
  failures: number
  /** Which of all claims was the last on it; 0 when there was none. */
  lastClaim: number
  /** When an ack is overdue. */
  ackBy: number | null
  repeats: number
  /** 0: nobody was told of it, 1: the lead, 2: the person. */
  level: number
  /** Nobody is told that it is unread. */
  quiet: boolean
  /** Its owner has it because it is in a group. */
  viaGroup: boolean
  /** Somebody has seen it, whatever became of it since. */
  seen: boolean
  /** What it was before it became a dead letter. */
  before: State
  marks: Mark[]
}

interface PlainMessage extends Said {
  number: number
  from: string
  to: string[]
  rank: number
  createdAt: number
  expiresAt: number | null
  exclude: string[]
  groups: Set<string>
  /** What those in its groups get who have not touched it. */
  groupState: State
  /** By group. */
  groupMarks: Map<string, Mark[]>
  copies: Map<string, Copy>
  threadOf: number
  replyTo: number | undefined
  /** The only run it is for. */
  generation: number | null
  matters: Matter[]
  /** The last claim of each agent on any copy. */
  claims: Map<string, number>
}

export interface PlainSend extends Said {
  to: string[]
  rank: number
  /** Undefined: by kind of address. Null: without an end. */
  ttlMs?: number | null
  key?: string
  exclude?: string[]
  hold?: boolean
}

type Posted = PlainSend & { from: string; replyTo?: number | undefined; isAwaited?: boolean }

/** A copy that is changed by a step, and what it becomes. */
interface Change {
  copy: Copy | null
  owner: string
  was: State
  to: State
  viaGroup: boolean
}

/** Why somebody is told of a message. */
type Reason = 'unread' | 'ack' | 'answer' | 'deadline' | 'undelivered' | 'waiting' | 'ended'
interface Item {
  message: PlainMessage
  owner: string
  kind: Reason
}
interface Told extends Item {
  to: string
}
interface Notice {
  to: string
  items: Item[]
  number: number
}

/** How urgent each notice is; one for several reasons is as urgent as most. */
const ranks: Record<Reason, number> = {
  ...{ unread: 3, ack: 2, answer: 2, deadline: 2 },
  ...{ undelivered: 1, waiting: 1, ended: 1 },
}
const severalRank = 2

export interface Listed {
  number: number
  state: State
}

const minute = 60_000
const hour = 60 * minute
const claimMs = 15 * minute
/** What was only read for a role, and asks for something. */
const readMs = 4 * hour
/** Nobody is told of older mail. */
const oldNewsMs = 30 * 24 * hour
const normalRank = 1
const highRank = 2
const urgentRank = 3

const unread: State[] = ['stored']
const open: State[] = ['shown', 'acked', 'processing', 'failed']
const finished: State[] = ['completed', 'archived']
const lost: State[] = ['dead', 'expired']
/** Acknowledged, or more. */
const acked: State[] = ['acked', 'processing', 'completed', 'failed', 'archived']
/** What can still be done by somebody else. A failure stays with whoever tried. */
const underWay: State[] = ['shown', 'acked', 'processing']

/** The ladder: where a step leads from each state it leads on from, and where there is nothing left to do. */
const ladder: Record<Step, { from: State[]; already: State[]; to: State }> = {
  shown: {
    from: ['stored'],
    already: ['shown', 'acked', 'processing', 'completed', 'failed', 'archived'],
    to: 'shown',
  },
  claimed: { from: ['stored'], already: ['shown', 'acked', 'processing'], to: 'shown' },
  acked: {
    from: ['stored', 'shown'],
    already: ['acked', 'processing', 'completed', 'failed', 'archived'],
    to: 'acked',
  },
  processing: { from: ['stored', 'shown', 'acked', 'failed'], already: ['processing'], to: 'processing' },
  completed: {
    from: ['stored', 'shown', 'acked', 'processing', 'failed'],
    already: ['completed', 'archived'],
    to: 'archived',
  },
  failed: { from: ['stored', 'shown', 'acked', 'processing'], already: ['failed'], to: 'failed' },
  released: { from: ['shown', 'acked', 'processing', 'failed'], already: ['stored'], to: 'stored' },
  retried: { from: ['failed'], already: ['stored'], to: 'stored' },
  archived: {
    from: ['stored', 'shown', 'acked', 'processing', 'completed', 'failed'],
    already: ['archived'],
    to: 'archived',
  },
}

/** Steps that end a claim; the others take what is free, whoever had it before. */
const ending: Step[] = ['completed', 'failed', 'released', 'retried', 'archived']

export class PlainSpace {
  now: number
  readonly settings: PlainSettings
  readonly agents = new Map<string, PlainAgent>()
  readonly messages: PlainMessage[] = []
  /** What the system has said, each notice in a line, in order. */
  readonly notices: string[] = []
  /** Nobody promised an order to what is due at one time; this is the one in which it was really said. */
  order: readonly string[] = []
  readonly #keys = new Map<string, number>()
  readonly #told: Notice[] = []
  /** How many claims were made. */
  #claims = 0
  /** Messages whose claim was made before the program was started again, by the agent. */
  readonly #forgotten = new Map<string, Set<number>>()

  constructor(now: number, settings: PlainSettings) {
    this.now = now
    this.settings = settings
    this.agents.set('user', { ...this.#newAgent('user'), generation: 0, startedAt: 0, seenAt: 0 })
  }

  // The roster

  #newAgent(name: string): PlainAgent {
    const { now } = this
    return {
      ...{ name, state: 'alive', roles: new Set(), tags: new Set(), generation: 1 },
      ...{ session: undefined, process: 'none', startedAt: now, seenAt: now, goneAt: now, gone: 'left' },
      away: undefined,
    }
  }

  /** Joining again after being frozen continues the run; another session of the same client is a new one. */
  join(
    name: string,
    input: { roles?: string[]; tags?: string[]; session?: string; process?: boolean } = {},
  ): number {
    const before = this.agents.get(name)
    const { session } = input
    const isResumed =
      before?.state === 'frozen' &&
      (session === undefined || before.session === undefined || before.session === session)
    const isBack = before !== undefined && before.state !== 'alive'
    const agent: PlainAgent = {
      ...this.#newAgent(name),
      roles: new Set(input.roles ?? before?.roles),
      tags: new Set(input.tags ?? before?.tags),
      generation: (before?.generation ?? 0) + (isResumed ? 0 : 1),
      session: session ?? (isResumed ? before.session : undefined),
      process: input.process ? 'running' : 'none',
      startedAt: isResumed ? before.startedAt : this.now,
      away: isBack ? { from: before.goneAt, to: this.now } : before?.away,
    }
    this.agents.set(name, agent)
    if (!isResumed) this.#freeClaims(name)
    if (isBack) this.#welcome(before)
    return agent.generation
  }

  #allCopies = (): Copy[] => this.messages.flatMap(({ copies }) => [...copies.values()].sort(byOwner))

  #ownCopies = (name: string): Copy[] => this.messages.flatMap(({ copies }) => copies.get(name) ?? [])

  /** What the run before had claimed is free again. */
  #freeClaims(name: string): void {
    for (const copy of this.#allCopies())
      if (copy.claimedBy === name && isUnfinished(copy)) this.#giveBack(copy)
  }

  /** What was read and asked for nothing is finished with that, and what failed is for whoever asked. */
  #canBeGivenBack = ({ state, claimUntil }: Copy): boolean =>
    isUnfinished({ state }) && state !== 'failed' && (claimUntil !== null || state === 'processing')

  #giveBack(copy: Copy): void {
    if (!this.#canBeGivenBack(copy)) return
    copy.claimedBy = null
    this.#set(copy, 'stored', 'released')
  }

  /** A message's life counts only while its recipient is there, and a dead letter is what it was before. */
  #welcome({ name, goneAt, gone }: PlainAgent): void {
    const waiting = this.#ownCopies(name).filter((copy) => isUnfinished(copy) && copy.state !== 'failed')
    const revived = this.#ownCopies(name).filter(
      (copy) =>
        copy.state === 'dead' &&
        copy.failures < this.settings.maxAttempts &&
        copy.message.generation === null &&
        (copy.before !== 'stored' || !this.#isOver(copy)),
    )
    // What a notice said may not be so any more.
    const moot = new Set(
      this.#told.filter(({ items }) => !items.some(this.#isTrue)).map((notice) => this.#noticeCopy(notice)),
    )
    this.#sayBack(name, goneAt, [...revived, ...waiting])
    // An agent that was taken for dead was not there while it was silent either.
    const notThereSince = gone === 'silent' ? goneAt - this.settings.silentAfterMs : goneAt
    for (const copy of waiting) {
      if (copy.state !== 'stored' || copy.expiresAt === null) continue
      copy.expiresAt += Math.max(0, this.now - Math.max(notThereSince, copy.message.createdAt))
      copy.marks.push('extended')
    }
    for (const copy of revived) {
      if (moot.has(copy)) {
        this.#set(copy, 'withdrawn', 'withdrawn')
        continue
      }
      copy.marks.push('revived')
      this.#set(copy, copy.before, 'revived')
    }
  }

  /** Whoever has read that its mail waits, or that nothing comes of it, is told that its agent is back. */
  #sayBack(name: string, goneAt: number, copies: Copy[]): void {
    const misled = copies.filter(({ message, owner }) =>
      this.#told.some(
        ({ to, items, number }) =>
          to === message.from &&
          items.some(
            (item) =>
              item.message === message &&
              item.owner === owner &&
              ['waiting', 'undelivered', 'ended'].includes(item.kind),
          ) &&
          this.messages[number]!.createdAt >= goneAt &&
          isRead(this.#noticeCopy({ to, number })),
      ),
    )
    const senders = [...new Set(misled.map(({ message }) => message.from))]
    const said = senders.map((to) => {
      const its = misled.filter(({ message }) => message.from === to).map(({ message }) => message)
      const numbers = its.map(({ number }) => number).sort((a, b) => a - b)
      return { to, its, text: `${to}: ${name} is back: ${numbers.join(', ')}` }
    })
    for (const { to, its, text } of this.#inOrder(said)) {
      this.notices.push(text)
      const [about] = its.length === 1 ? its : []
      this.#post(
        { from: 'system', to: [to], rank: normalRank, ttlMs: null, replyTo: about?.number },
        about?.threadOf,
      )
    }
  }

  #inOrder = <T extends { text: string }>(said: T[]): T[] =>
    said.sort((a, b) => this.order.indexOf(a.text) - this.order.indexOf(b.text))

  update(
    name: string,
    change: { addRoles?: string[]; removeRoles?: string[]; addTags?: string[]; removeTags?: string[] },
  ): void {
    const { roles, tags } = this.#sees(name)
    for (const role of change.removeRoles ?? []) roles.delete(role)
    for (const role of change.addRoles ?? []) roles.add(role)
    for (const tag of change.removeTags ?? []) tags.delete(tag)
    for (const tag of change.addTags ?? []) tags.add(tag)
  }

  /** Frozen or for good. Whoever is away already is so since then, and for the same reason. */
  leave(name: string, frozen: boolean): void {
    if (name === 'user') throw new Refused('not_permitted', 'the person does not leave')
    const agent = this.#sees(name)
    if (!frozen || !isExpected(agent)) Object.assign(agent, { goneAt: this.now, gone: 'left' })
    agent.state = frozen ? 'frozen' : 'dead'
  }

  /** The process of an agent ends, whatever it was doing. */
  kill(name: string): void {
    this.agents.get(name)!.process = 'ended'
  }

  /** Another program opens the space: it has made none of the claims. */
  restart(): void {
    for (const { number, claims } of this.messages)
      for (const name of claims.keys()) this.#forgottenBy(name).add(number)
  }

  #forgottenBy(name: string): Set<number> {
    const known = this.#forgotten.get(name) ?? new Set()
    this.#forgotten.set(name, known)
    return known
  }

  /** Whoever says or does something is there. */
  #sees(name: string): PlainAgent {
    const agent = this.agents.get(name)!
    agent.seenAt = this.now
    return agent
  }

  /** An agent that was taken for dead, or is frozen, continues its run as soon as it acts. */
  #acts(name: string): void {
    const agent = this.agents.get(name)!
    const isEnded = agent.process === 'ended'
    if (isExpected(agent)) this.#comeBack(agent)
    else if (isEnded && agent.state === 'alive') Object.assign(this.#sees(name), { process: 'none' })
  }

  #comeBack(agent: PlainAgent): void {
    const before = { ...agent }
    Object.assign(agent, { state: 'alive', seenAt: this.now, away: { from: agent.goneAt, to: this.now } })
    if (agent.process === 'ended') agent.process = 'none'
    this.#welcome(before)
  }

  #isLead = ({ roles }: PlainAgent) => this.settings.leads.some((role) => roles.has(role))

  #holdersHere = (role: string): PlainAgent[] =>
    [...this.agents.values()].filter(({ state, roles }) => state === 'alive' && roles.has(role))

  /** As the roster shows it: whoever has asked a question and has no answer waits. */
  roster(): Record<string, string> {
    const waits = (name: string) =>
      this.messages.some(
        (message) =>
          message.from === name &&
          message.matters.some((one) => one.kind === 'question' && isOpen(one) && this.#isOwed(message, one)),
      )
    return Object.fromEntries(
      [...this.agents.values()].map(({ name, state }) => [
        name,
        state === 'alive' && waits(name) ? 'waiting' : state,
      ]),
    )
  }

  // Sending

  send(from: string, input: PlainSend, replyTo?: number, thread?: number): number {
    this.#acts(from)
    const keyed = input.key === undefined ? undefined : this.#keys.get(`${from} ${input.key}`)
    if (keyed !== undefined) return keyed
    const to = [...new Set(input.to.map((written) => this.#resolve(written, input.hold ?? false)))]
    for (const address of to) this.#mustBeAllowed(from, address)
    const rate = this.settings['limits.ratePerMinute']
    const lately = this.messages.filter((one) => one.from === from && one.createdAt > this.now - minute)
    if (from !== 'user' && rate > 0 && lately.length >= rate)
      throw new Refused('over_limit', 'it has sent too much')
    for (const address of to) this.#mustHaveRoom(from, address)
    const one = to.length === 1 && !to[0]!.includes(':') && to[0] !== 'all'
    if (isBound(input) && !one) throw new Refused('invalid', 'it is for one run of one agent')
    const parent = replyTo === undefined ? undefined : this.messages[replyTo]!
    const reply = { ...input, from, to }
    const reported = this.#planReport(reply)
    if (parent !== undefined) this.#mustBeAnswerable(reply, parent)
    this.#mustBeOnly(reply)
    const isSettled = reported.some(({ message, changes }) => message === parent && changes.length > 0)
    const settle = parent === undefined || isSettled ? () => {} : this.#planSettle(reply, parent)
    const isAwaited =
      reported.some(({ changes }) => changes.length > 0) ||
      (parent !== undefined && this.#moved(reply, parent).length > 0)
    this.#sees(from)
    const number = this.#post({ ...input, from, to, replyTo, isAwaited }, thread ?? parent?.threadOf)
    for (const { apply } of reported) apply()
    settle()
    if (input.key !== undefined) this.#keys.set(`${from} ${input.key}`, number)
    return number
  }

  #mustBeAllowed(from: string, address: string): void {
    if (this.settings.rules === 'open' || from === 'user' || address === 'user') return
    const recipient = this.agents.get(address)
    const leads = this.settings.leads.some((role) => address === `role:${role}`)
    if (this.#isLead(this.agents.get(from)!) || leads) return
    if (recipient === undefined || !this.#isLead(recipient))
      throw new Refused('not_permitted', 'agents write to the lead')
  }

  /** Mail to groups fills nobody's inbox, until somebody who has seen it puts it back among its unread mail. */
  #mustHaveRoom(from: string, address: string): void {
    const most = this.settings['limits.inbox']
    if (most === 0 || from === 'user' || isGroup(address)) return
    const isGroups = ({ viaGroup, state }: Copy) => viaGroup && state !== 'stored'
    const waiting = this.#allCopies().filter(
      (copy) =>
        copy.message.from === from &&
        isUnfinished(copy) &&
        (copy.claimedBy ?? copy.owner) === address &&
        !isGroups(copy),
    )
    if (waiting.length >= most) throw new Refused('over_limit', 'its inbox is full')
  }

  /** An answer of a kind needs a question of that kind, that is open, and is given by whoever was asked. */
  #mustBeAnswerable({ from, type = '', yes }: Posted, parent: PlainMessage): void {
    const isRevision = type === 'plan_submission'
    const kind = answers[type] ?? (isRevision ? 'plan' : undefined)
    if (kind === undefined) return
    const all = parent.matters.filter((one) => one.kind === kind)
    if (all.length === 0) {
      if (isRevision) return
      throw new Refused('conflict', 'it asked for something else')
    }
    const agent = this.agents.get(from)!
    const isAsked = ({ owner }: Matter) => this.#isAddressed(agent, owner)
    const may = from === 'user' || (isRevision ? parent.from === from : parent.matters.some(isAsked))
    if (!may) throw new Refused('not_permitted', 'it is not for this agent to say')
    const named = all.filter(({ owner }) => owner === from)
    const meant = named.length > 0 ? named : all
    const isRepeated = ({ owner, state }: Matter) =>
      kind === 'status' && isGroup(owner) && state === 'answered'
    if (!meant.some((one) => isRepeated(one) || leadsTo(type, yes, one) !== undefined))
      throw new Refused('conflict', 'it is over')
  }

  #isAddressed = ({ name, roles, tags }: PlainAgent, owner: string): boolean =>
    owner === name || owner === 'all' || isHeldBy(owner, roles) || tags.has(owner)

  /** An agent has one open plan for a task at a time. */
  #mustBeOnly({ from, type, task }: Posted): void {
    if (type !== 'plan_submission') return
    const isSame = (one: PlainMessage) =>
      one.type === 'plan_submission' && one.from === from && one.task === task
    if (this.messages.some((one) => isSame(one) && one.matters.some((m) => m.kind === 'plan' && isOpen(m))))
      throw new Refused('conflict', 'there is an open plan already')
  }

  /** Where a reply leads what the message has left open. */
  #moved(reply: Posted, parent: PlainMessage): { matter: Matter; to: Standing; each: boolean }[] {
    const { from, type = 'text', yes } = reply
    const isNamed = parent.matters.some(({ owner }) => owner === from)
    const isAnswer = this.#isAnswer(reply, parent.from)
    return parent.matters.flatMap((matter) => {
      const { owner, kind } = matter
      const each = kind === 'status' || kind === 'shutdown'
      // Each agent that was named answers for itself; the person may answer for anybody.
      const isOthers = isNamed ? owner !== from : isAgent(owner) && from !== 'user'
      if (each && isOthers) return []
      const isPlain = kind === 'question' || kind === 'status'
      if (isPlain && !isAnswer) return []
      const to = leadsTo(type, yes, matter)
      return to === undefined ? [] : [{ matter, to, each }]
    })
  }

  /** Something is said to whoever asked, and it is more than that it was received or passed on. */
  #isAnswer = ({ from, type, status, to }: Posted, asker: string): boolean =>
    from !== asker &&
    from !== 'system' &&
    type !== 'ack' &&
    type !== 'escalation' &&
    !(type === 'status_update' && status === 'closed') &&
    to.includes(asker)

  /** Whether a reply says what became of what was asked: the answer, the verdict, the end of the work, or that there is none. */
  #isOutcome(reply: PlainMessage, parent: PlainMessage): boolean {
    const { type = '', status = '', from } = reply
    const kind = kindOf(parent)
    if (kind === undefined) return false
    if (type === 'status_update' && ['completed', 'failed', 'closed'].includes(status))
      return from !== parent.from
    const isOfKind = answers[type] === kind || (type === 'plan_submission' && kind === 'plan')
    if (kind === 'plan' || kind === 'shutdown') return isOfKind
    const isPlain = answers[type] === undefined && type !== 'plan_submission'
    return kind !== 'task' && (isOfKind || isPlain) && this.#isAnswer(reply, parent.from)
  }

  /** A report that work is done, or has failed, is as good as doing that with what asked for it. */
  #planReport(report: Posted) {
    const step = reportedStep(report)
    if (step === undefined) return []
    const meant = this.messages.filter((one) =>
      one.matters.some((m) => m.kind === 'task' && isOpen(m) && taskOf(one) === report.task),
    )
    return meant.flatMap((message) => {
      const isTold = report.to.includes(message.from)
      const plan = this.#tryPlan(() => this.#planAct(report.from, step, message, { isTold }))
      return plan === undefined ? [] : [plan]
    })
  }

  #tryPlan<T>(plan: () => T): T | undefined {
    try {
      return plan()
    } catch (error) {
      if (error instanceof Refused) return undefined
      throw error
    }
  }

  /** What a reply does to the copies of the message that it answers. */
  #planSettle(reply: Posted, parent: PlainMessage): () => void {
    const { from, type } = reply
    // To add to one's own message is no answer to it.
    if (from === parent.from) return () => {}
    const moved = this.#moved(reply, parent)
    const ends = new Set(moved.filter(({ to }) => !isOpen({ state: to } as Matter)).map((one) => one.matter))
    const isOpenFor = (owner: string) =>
      parent.matters.some((one) => one.owner === owner && one.kind !== 'ack' && isOpen(one) && !ends.has(one))
    const step: Step = type === 'ack' ? 'acked' : this.#isAnswer(reply, parent.from) ? 'completed' : 'shown'
    const plan = (taken: Step) => this.#tryPlan(() => this.#planStep(from, taken, parent)) ?? []
    const asksNothing = parent.matters.every(({ kind }) => kind === 'ack')
    const isAnyOpen = [...parent.copies.keys(), ...parent.groups].some(isOpenFor)
    // Only acknowledged while something is open; whoever has started says itself when it is done.
    const staysOpen = ({ owner, was, viaGroup }: Change) =>
      step === 'completed' &&
      ((asksNothing && was === 'processing') || isOpenFor(owner) || (viaGroup && isAnyOpen))
    const all = plan(step)
    const kept = new Set(all.filter(staysOpen).map(({ owner }) => owner))
    const own = all.filter(({ owner }) => !kept.has(owner))
    const onlyAcked = kept.size === 0 ? [] : plan('acked').filter(({ owner }) => kept.has(owner))
    const owners = moved
      .filter((one) => isForAll(one) && !isOpenFor(one.matter.owner))
      .map(({ matter }) => matter.owner)
    const changed = [...own, ...onlyAcked].map(({ owner }) => owner)
    const others = this.#endedFor(parent, owners, changed)
    return () => {
      this.#carryOut(from, step, parent, own)
      this.#carryOut(from, 'acked', parent, onlyAcked)
      others()
    }
  }

  /** Nobody else is shown as new what is settled for these addresses; in a group, not those who have started on it. */
  #endedFor(message: PlainMessage, owners: string[], changed: string[]): () => void {
    const isForGroup = owners.some(isGroup)
    const ended = [...message.copies.values()].filter(({ owner, viaGroup, state }) => {
      const isMembers = isForGroup && viaGroup && ['stored', 'shown', 'acked'].includes(state)
      return (owners.includes(owner) || isMembers) && !changed.includes(owner) && isUnfinished({ state })
    })
    const endsGroup = isForGroup && message.groupState === 'stored'
    return () => {
      for (const copy of ended) this.#set(copy, 'archived', 'completed')
      if (endsGroup) this.#setGroup(message, 'archived', 'completed')
    }
  }

  #post(input: Posted, thread?: number): number {
    const { from, to, rank, exclude = [], replyTo, isAwaited, ttlMs, key: _, hold: __, ...said } = input
    const lives = to.map(defaultLife)
    const usual = isAwaited || lives.includes(null) ? null : Math.max(...(lives as number[]))
    const life = ttlMs === undefined ? usual : ttlMs
    const number = this.messages.length
    const one = to.length === 1 ? this.agents.get(to[0]!) : undefined
    const message: PlainMessage = {
      ...{ ...said, number, from, to, rank, exclude, replyTo },
      createdAt: this.now,
      expiresAt: life === null ? null : this.now + life,
      groups: new Set(to.filter(isGroup).map((group) => group.replace('broadcast:', 'swarm:'))),
      groupState: 'stored',
      groupMarks: new Map(),
      copies: new Map(),
      claims: new Map(),
      matters: [],
      threadOf: thread ?? number,
      generation: isBound(said) && one !== undefined && one.name !== 'user' ? one.generation : null,
    }
    const kind = kindOf(message)
    const quiet = from === 'system' || rank === 0 || (replyTo !== undefined && kind === undefined)
    for (const address of to) if (!isGroup(address)) this.#copy(message, address, { quiet, viaGroup: false })
    const parent = replyTo === undefined ? undefined : this.messages[replyTo]!
    if (parent !== undefined && from !== 'system')
      for (const { matter, to: state } of this.#moved(input, parent)) matter.state = state
    this.#report(input)
    if (kind === 'task') this.#reassign(message)
    const owners = [...message.copies.keys(), ...message.groups]
    const until = said.withinMs === undefined ? null : this.now + said.withinMs
    for (const owner of owners)
      for (const asks of [kind, said.requiresAck ? ('ack' as const) : undefined])
        if (asks !== undefined) message.matters.push({ owner, kind: asks, state: 'open', until, level: 0 })
    this.messages.push(message)
    return number
  }

  /** A report settles what its sender was asked, or has in hand, whatever became of the message. */
  #report(report: Posted): void {
    const step = reportedStep(report)
    if (step === undefined) return
    for (const message of this.messages) {
      for (const one of message.matters) {
        const copy = message.copies.get(one.owner)
        const isIts = one.owner === report.from || copy?.claimedBy === report.from
        if (one.kind !== 'task' || taskOf(message) !== report.task || !isIts) continue
        if (step === 'completed' && isOpen(one)) one.state = 'done'
        if (step === 'failed' && one.state === 'open') one.state = 'failed'
      }
    }
  }

  /** Work that failed and is given again is owed no more. */
  #reassign(message: PlainMessage): void {
    for (const before of this.messages)
      for (const one of before.matters)
        if (one.kind === 'task' && one.state === 'failed' && before.from === message.from)
          if (taskOf(before) === taskOf(message)) one.state = 'reassigned'
  }

  #copy(message: PlainMessage, owner: string, how: Pick<Copy, 'quiet' | 'viaGroup'>): Copy {
    const copy: Copy = {
      ...{ message, owner, ...how, seen: false, state: 'stored', claimedBy: null, claimUntil: null },
      ...{ expiresAt: message.expiresAt, since: this.now, attempts: 0, failures: 0, lastClaim: 0 },
      ...{ ackBy: null, repeats: 0, level: 0, before: 'stored', marks: [] },
    }
    message.copies.set(owner, copy)
    return copy
  }

  reply(from: string, number: number, said: Said, supersede: boolean): number {
    const original = this.messages[number]!
    if (original.from === 'system') throw new Refused('not_permitted', 'the system reads no mail')
    const to = original.from === from ? original.to : [original.from]
    const last = this.messages.findLast(
      (message) => message.from === from && message.threadOf === original.threadOf,
    )
    const answer = this.send(from, { to, rank: normalRank, ...said }, number)
    if (supersede && last !== undefined && this.#isUnseen(last)) this.#withdraw(last)
    return answer
  }

  /** A dead letter goes to another address, and what was dead is archived. */
  resend(name: string, number: number, to: string[]): number {
    this.#acts(name)
    const message = this.messages[number]!
    if (message.from !== name && name !== 'user') throw new Refused('not_permitted', 'it is not from it')
    const copies = [...message.copies.values()].filter((copy) => lost.includes(this.#stateNow(copy)))
    const group = lost.includes(this.#groupNow(message))
    if (copies.length === 0 && !group) throw new Refused('conflict', 'it is no dead letter')
    const { rank, type, awaiting, requiresAck, task, withinMs, status, yes, about } = message
    const said = { type, awaiting, requiresAck, task, withinMs, status, yes, about }
    const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
    const again = this.send(name, { to, rank, ...given }, undefined, message.threadOf)
    for (const copy of copies) this.#set(copy, 'archived', 'archived')
    if (group) this.#setGroup(message, 'archived', 'archived')
    return again
  }

  #resolve(written: string, hold: boolean): string {
    if (written === '*' || written === 'all') return 'all'
    if (written.includes(':') && !written.startsWith('agent:')) return written
    const name = written.replace('agent:', '')
    if (this.agents.has(name)) return name
    const isRole = [...this.agents.values()].some(({ roles }) => roles.has(name))
    if (isRole && !written.startsWith('agent:')) return `role:${name}`
    if (hold) return name
    throw new Refused('unknown_recipient', `nobody is called ${name}`)
  }

  // What becomes of a copy, and what that settles

  #set(copy: Copy, state: State, step: string): void {
    if (lost.includes(state)) {
      copy.before = copy.state
      copy.marks.push(state as Mark)
    }
    if (state === 'stored' && copy.state !== 'stored') copy.since = this.now
    copy.state = state
    copy.seen ||= [...open, ...finished].includes(state)
    if (!underWay.includes(state)) copy.claimUntil = null
    if (state !== 'shown') copy.ackBy = null
    this.#settles(copy.message, copy.owner, state, step)
  }

  #setGroup(message: PlainMessage, state: State, step: string): void {
    message.groupState = state
    if (lost.includes(state)) for (const group of message.groups) markGroup(message, group, state as Mark)
    for (const group of message.groups) this.#settles(message, group, state, step)
  }

  /** What the new state of a copy means for what was asked of its owner. */
  #settles(message: PlainMessage, owner: string, state: State, step: string): void {
    // What a group was asked is still owed by those who have read it.
    if (state === 'expired' && isGroup(owner) && this.#readers(message).length > 0) return
    const own = message.matters.filter((one) => one.owner === owner)
    for (const one of own) one.state = outcome(one, state, step)
    if (own.length > 0 || isGroup(owner)) return
    for (const one of message.matters.filter((m) => isGroup(m.owner))) {
      const to = outcome(one, state, step)
      const isEnough = to === 'done' || (to === 'acked' && this.#unacked(message, one.owner).length === 0)
      if (isEnough) one.state = to
      const isOverForAll = message.groupState === 'expired' && this.#readers(message).length === 0
      if (isOverForAll && isOpen(one)) one.state = 'void'
    }
  }

  /** The members of its groups that have it and are not done with it. */
  #readers = ({ copies }: PlainMessage): Copy[] =>
    [...copies.values()].filter(({ viaGroup, state }) => viaGroup && open.includes(state))

  /** Each member owes its own ack; the person, who is in every roster, is no member. */
  #unacked = (message: PlainMessage, group: string): string[] =>
    [...this.agents.values()]
      .filter(({ name, state, tags }) => {
        const isMember = group === 'all' || tags.has(group)
        const isLeftOut = name === message.from || name === 'user' || message.exclude.includes(name)
        const own = message.copies.get(name)
        return isMember && state !== 'dead' && !isLeftOut && !(own && acked.includes(own.state))
      })
      .map(({ name }) => name)
      .sort()

  /** Everything that somebody still has to give another, each in a line. */
  owed(): string[] {
    return this.messages.flatMap((message) =>
      message.matters
        .filter((one) => isOpen(one) && this.#isOwed(message, one))
        .flatMap((one) => {
          const { owner, kind, state } = one
          const say = (by: string) => `${kind} ${letterOf(message.number, owner)} by ${by}`
          if (state === 'failed') return say(message.from)
          if (kind === 'ack' && isGroup(owner)) return this.#unacked(message, owner).map(say)
          return say(message.copies.get(owner)?.claimedBy ?? owner)
        }),
    )
  }

  /** Nothing is owed of what has expired for everybody. */
  #isOwed(message: PlainMessage, { owner }: Matter): boolean {
    if (isGroup(owner) && this.#readers(message).length > 0) return true
    const copy = message.copies.get(owner)
    const state = copy === undefined ? this.#groupNow(message) : this.#stateNow(copy)
    return state !== 'expired'
  }

  #groupNow = (message: PlainMessage): State =>
    message.groups.size > 0 && message.groupState === 'stored' && this.#isOver(message)
      ? 'expired'
      : message.groupState

  /** How many messages need something of the person: what it owes, and what it has not read. */
  needsPerson(): number {
    const person = this.agents.get('user')!
    const owed = this.messages.filter((message) =>
      message.matters.some((one) => {
        const { owner, kind, state } = one
        if (!isOpen(one) || !this.#isOwed(message, one)) return false
        if (state === 'failed') return message.from === 'user'
        if (kind === 'ack' && isGroup(owner)) return false
        const by = message.copies.get(owner)?.claimedBy ?? owner
        return by === 'user' || (by === owner && isHeldBy(owner, person.roles))
      }),
    )
    return new Set([
      ...owed.map(({ number }) => number),
      ...this.inbox('user', 'unread').map(({ number }) => number),
    ]).size
  }

  // What reaches whom

  #isOver = ({ expiresAt }: { expiresAt: number | null }) => expiresAt !== null && expiresAt <= this.now

  /** The copy of a role whose claim has run out. */
  #isAbandoned = ({ claimUntil, state }: Copy) =>
    claimUntil !== null && claimUntil <= this.now && underWay.includes(state)

  /** A copy of a role that this agent could take: nobody has it, or the claim of somebody else has run out. */
  #isFree(copy: Copy, agent: PlainAgent): boolean {
    if (!isHeldBy(copy.owner, agent.roles)) return false
    if (copy.message.from === agent.name && this.#isShared(copy.owner, agent)) return false
    if (copy.claimedBy === null) return copy.state === 'stored'
    return copy.claimedBy !== agent.name && this.#isAbandoned(copy)
  }

  /** Mail to a role is not for its sender while another holder is here. */
  #isShared = (owner: string, { name }: PlainAgent): boolean =>
    this.#holdersHere(owner.replace('role:', '')).some((other) => other.name !== name)

  #reachesAsGroup(message: PlainMessage, agent: PlainAgent): boolean {
    if (message.from === agent.name || message.exclude.includes(agent.name)) return false
    return [...message.groups].some((group) => group === 'all' || agent.tags.has(group))
  }

  /** Whoever was away when a group's mail expired has it for as long as it would have had. */
  #livesFor(message: PlainMessage, { away }: PlainAgent): boolean {
    const { groupState, expiresAt } = message
    if (groupState === 'stored') return !this.#isOver(message)
    if (groupState !== 'expired' || away === undefined || expiresAt === null) return false
    const wasMissed = expiresAt > away.from && expiresAt <= away.to
    return wasMissed && this.now < away.to + expiresAt - away.from
  }

  /** Meant for an earlier run of the agent. */
  #isOutdated = ({ generation }: PlainMessage, agent: PlainAgent): boolean =>
    generation !== null && generation < agent.generation

  /** Every way in which an agent has a message, its own copy first. What nobody has touched is `stored`. */
  #ways(message: PlainMessage, agent: PlainAgent): { state: State; copy: Copy | null }[] {
    const own = message.copies.get(agent.name)
    if (own !== undefined && this.#isOutdated(message, agent)) return []
    const others = [...message.copies.values()].filter((copy) => copy !== own)
    const claimed = others.filter(({ claimedBy }) => claimedBy === agent.name).sort(byOwner)
    const free = others.filter((copy) => this.#isFree(copy, agent))
    const ways = [...(own === undefined ? [] : [own]), ...claimed].map((copy) => ({
      state: this.#stateNow(copy),
      copy: copy as Copy | null,
    }))
    for (const copy of free) ways.push({ state: this.#isOver(copy) ? 'expired' : 'stored', copy })
    if (own === undefined && this.#livesFor(message, agent) && this.#reachesAsGroup(message, agent))
      ways.push({ state: 'stored', copy: null })
    return ways
  }

  /** Where a message stands for an agent: unread if any way is, else open if any is, its own copy first. */
  #standing(message: PlainMessage, agent: PlainAgent, rest: State[]): State | undefined {
    const states = this.#ways(message, agent).map(({ state }) => state)
    const first = (among: State[]) => states.find((state) => among.includes(state))
    return first(unread) ?? first(open) ?? first(rest)
  }

  /** Mail that nobody has seen when its life ends has expired; that of an agent that is away waits. */
  #stateNow(copy: Copy): State {
    const agent = this.agents.get(copy.owner)
    const waits = agent !== undefined && isExpected(agent)
    return copy.state === 'stored' && this.#isOver(copy) && !waits ? 'expired' : copy.state
  }

  // Reading

  inbox(name: string, which: 'unread' | 'open' | 'all' = 'open'): Listed[] {
    const agent = this.agents.get(name)!
    const wanted: State[] = {
      unread,
      open: [...unread, ...open],
      all: [...unread, ...open, ...finished],
    }[which]
    return this.messages
      .map((message) => ({
        number: message.number,
        state: this.#standing(message, agent, finished),
        rank: message.rank,
      }))
      .filter(({ state }) => state !== undefined && wanted.includes(state))
      .sort((a, b) => b.rank - a.rank || a.number - b.number)
      .map(({ number, state }) => ({ number, state: state! }))
  }

  count(name: string): number[] {
    const byRank = [0, 0, 0, 0]
    for (const { number } of this.inbox(name, 'unread')) byRank[this.messages[number]!.rank]!++
    return byRank
  }

  /** What the sender sees of each recipient; a group speaks for itself until somebody has touched it. */
  receipts(number: number): object[] {
    const message = this.messages[number]!
    if (message.copies.size === 0) {
      const state = this.#groupNow(message)
      const marksOf = (group: string) =>
        withExpiry(message.groupMarks.get(group) ?? [], message.groupState, state)
      const tries = state === 'stored' ? { attempts: 0, repeats: 0 } : {}
      return [...message.groups].sort().map((recipient) => ({
        ...{ recipient, state, marks: marksOf(recipient), ...tries },
      }))
    }
    return [...message.copies.values()].sort(byOwner).map((copy) => {
      const { owner, claimedBy, attempts, repeats } = copy
      const state = this.#stateNow(copy)
      return {
        ...{ recipient: owner, state, marks: withExpiry(copy.marks, copy.state, state) },
        ...(claimedBy === null ? {} : { claimedBy }),
        ...(isUnfinished({ state }) ? { attempts, repeats } : {}),
      }
    })
  }

  /** A group's mail that somebody has read is none. */
  deadLetters(): string[] {
    return this.messages.flatMap((message) => {
      const { number, copies, groups } = message
      const isUnheard = this.#groupNow(message) === 'expired' && ![...copies.values()].some(hasRead)
      return [
        ...[...copies.values()]
          .filter((copy) => lost.includes(this.#stateNow(copy)))
          .map(({ owner }) => letterOf(number, owner)),
        ...(isUnheard ? [...groups].map((group) => letterOf(number, group)) : []),
      ]
    })
  }

  thread(number: number): number[] {
    const { threadOf } = this.messages[number]!
    return this.messages.filter((message) => message.threadOf === threadOf).map((message) => message.number)
  }

  // Handling

  /** Renews a claim of this program, or makes one. */
  claim(name: string, number: number, ttlMs = claimMs): void {
    this.#comeIn(name)
    const message = this.messages[number]!
    const changes = this.#planStep(name, 'claimed', message, this.#forgottenBy(name).has(number))
    this.#carryOut(name, 'claimed', message, changes, ttlMs)
    this.#remember(name, message)
  }

  step(name: string, step: Step, number: number, note?: string): void {
    this.#acts(name)
    const message = this.messages[number]!
    this.#planAct(name, step, message, note === undefined ? {} : { note }).apply()
    this.#remember(name, message)
  }

  #remember = (name: string, { number }: PlainMessage) => this.#forgottenBy(name).delete(number)

  /** One agent does one thing with one message, and whoever asked is told. */
  #planAct(
    name: string,
    step: Step,
    message: PlainMessage,
    { note, isTold = false }: { note?: string; isTold?: boolean } = {},
  ): { message: PlainMessage; changes: Change[]; apply: () => void } {
    const changes = this.#planStep(name, step, message)
    const told = isTold ? undefined : this.#planTold(name, step, message, changes, note)
    const isDone = step === 'completed' && changes.some(({ viaGroup }) => viaGroup)
    const done = message.matters.filter(
      (one) => isDone && isGroup(one.owner) && one.kind === 'task' && isOpen(one),
    )
    const answered =
      told === undefined
        ? []
        : this.#moved(told, message)
            .filter(isForAll)
            .map(({ matter }) => matter)
    const others = this.#endedFor(
      message,
      [...done, ...answered].map(({ owner }) => owner),
      changes.map(({ owner }) => owner),
    )
    const isRepeated = changes.length === 0
    const apply = () => {
      const dead = changes.filter(({ to }) => to === 'dead')
      const about = dead.map(({ owner }): Told => {
        return { to: message.from, kind: 'undelivered', message, owner }
      })
      this.#say(about)
      if (told !== undefined) this.#post(told, message.threadOf)
      if (!isRepeated) this.#sees(name)
      this.#carryOut(name, step, message, changes)
      others()
    }
    return { message, changes, apply }
  }

  /** What a step changes. Refused when it changes nothing, and there was something left to do. */
  #planStep(name: string, step: Step, message: PlainMessage, isForgotten = false): Change[] {
    const agent = this.agents.get(name)!
    const ways = this.#ways(message, agent)
    if (ways.length === 0) {
      const isRoles = [...message.copies.keys()].some((owner) => isHeldBy(owner, agent.roles))
      const known = isRoles || this.#reachesAsGroup(message, agent) || message.copies.has(name)
      throw new Refused(known ? 'conflict' : 'not_permitted', 'it is not for this agent any more, or at all')
    }
    // Whoever had it finishes or gives back nothing that another has had since.
    const own = message.claims.get(name) ?? Number.POSITIVE_INFINITY
    const isPast = ({ copy }: { copy: Copy | null }) => {
      if (copy === null) return false
      // A claim that another program has made under this name is not renewed.
      if (step === 'claimed') return isForgotten && copy.claimedBy === name && copy.lastClaim > 0
      return ending.includes(step) && copy.lastClaim > own
    }
    if (ways.every(isPast)) throw new Refused('conflict', 'somebody else has had it since')
    const { from, already, to } = ladder[step]
    const allowed = ways
      .filter((way) => !isPast(way))
      .filter(({ state }) => [...from, ...already].includes(state))
    if (allowed.length === 0) throw new Refused('conflict', 'its state does not allow that')
    return allowed.flatMap(({ state, copy }): Change[] => {
      const renews = step === 'claimed' && copy?.claimedBy === name
      if (!from.includes(state) && !renews) return []
      const isLast = step === 'failed' && copy !== null && copy.failures + 1 >= this.settings.maxAttempts
      const end = isLast ? 'dead' : renews && !from.includes(state) ? state : to
      return [{ copy, owner: copy?.owner ?? name, was: state, to: end, viaGroup: copy?.viaGroup ?? true }]
    })
  }

  #carryOut(name: string, step: Step, message: PlainMessage, changes: Change[], ttlMs = claimMs): void {
    for (const change of changes) {
      this.#sees(name)
      const copy = change.copy ?? this.#copy(message, name, { quiet: true, viaGroup: true })
      if (change.was === change.to && step === 'claimed')
        copy.claimUntil = isSteady(copy) ? null : this.now + ttlMs
      else this.#move(copy, name, step, change.to, ttlMs)
    }
  }

  #move(copy: Copy, name: string, step: Step, to: State, ttlMs: number): void {
    const isRole = copy.owner.startsWith('role:')
    const takes = isRole && copy.claimedBy !== name
    const gives = step === 'released' || step === 'retried'
    const again = (step === 'retried' && !isRole) || (step === 'processing' && copy.state === 'failed')
    if (takes || again) copy.attempts++
    if (isRole && (takes || again)) {
      copy.lastClaim = ++this.#claims
      copy.message.claims.set(name, copy.lastClaim)
    }
    if (step === 'failed') copy.failures++
    const until = copy.claimUntil
    const isClaim = step === 'claimed' || until !== null || asksFor(copy.message) !== 'nothing'
    this.#set(copy, to, step)
    copy.ackBy = to === 'shown' ? this.#ackBy(copy) : null
    if (!isRole) return
    copy.claimedBy = gives ? null : name
    if (!underWay.includes(to) || !isClaim || isSteady(copy)) copy.claimUntil = null
    else if (takes || until === null || step === 'claimed')
      copy.claimUntil = this.now + (step === 'claimed' ? ttlMs : readMs)
    else copy.claimUntil = until
  }

  /** Shown for the first time, the chain of those who are told starts again; told to all, it is over. */
  #ackBy(copy: Copy): number | null {
    const { ackTimeoutMs } = this.settings
    if (!copy.message.requiresAck || ackTimeoutMs === 0) return null
    if (copy.repeats === 0) copy.level = 0
    return copy.level === 2 ? null : this.now + ackTimeoutMs
  }

  /** `done`, `fail` and `archive` tell whoever asked, when nothing else has said it. */
  #planTold(
    name: string,
    step: Step,
    message: PlainMessage,
    changes: Change[],
    note: string | undefined,
  ): Posted | undefined {
    if (step !== 'completed' && step !== 'failed' && step !== 'archived') return undefined
    const { from: asker, number } = message
    const kind = kindOf(message)
    const isTask = kind === 'task'
    const isAnswer = step === 'completed' && note !== undefined && (kind === 'question' || kind === 'status')
    const isOfGroup = isAnswer || (isTask && step !== 'archived')
    const ended = changes.filter(({ to }) => to !== 'dead')
    const isNews = message.matters.some(
      (one) =>
        one.kind !== 'ack' &&
        isOpen(one) &&
        ended.some(
          ({ owner, viaGroup }) => owner === one.owner || (isOfGroup && isGroup(one.owner) && viaGroup),
        ),
    )
    if (!isNews || asker === name || asker === 'system') return undefined
    const last = this.messages.findLast((one) => one.from === name && one.threadOf === message.threadOf)
    const hasReplied = last !== undefined && last.number > number && last.to.includes(asker)
    // A reply to work may say anything, so its end is always told.
    if (step === 'completed' && note === undefined && hasReplied && !isTask) return undefined
    const common = { from: name, to: [asker], replyTo: number, ttlMs: null }
    if (isAnswer) return { ...common, rank: normalRank, type: 'response' }
    const status = isTask ? (step === 'completed' ? 'completed' : 'failed') : 'closed'
    const task = message.task === undefined ? {} : { task: message.task }
    const rank = status === 'failed' ? highRank : normalRank
    return { ...common, ...task, rank, type: 'status_update', status, about: number }
  }

  /** Whoever looks for its mail is there, keeps the work it has, and says so if nothing was heard of it for long. */
  #comeIn(name: string): void {
    const agent = this.agents.get(name)!
    this.#acts(name)
    this.#keepWork(name)
    const { silentAfterMs } = this.settings
    const isMissed = silentAfterMs > 0 && this.now - agent.seenAt > silentAfterMs / 4
    if (isMissed && name !== 'user' && agent.process === 'none') this.#sees(name)
    this.runDue(name)
  }

  /** A claim on work that has less than half of its time left is renewed. */
  #keepWork(name: string): void {
    const held = this.#allCopies().filter(
      (copy) =>
        copy.claimedBy === name &&
        copy.claimUntil !== null &&
        isUnfinished(copy) &&
        copy.state !== 'failed' &&
        asksFor(copy.message) === 'work',
    )
    const ends = (copy: Copy) => copy.state !== 'stored' && copy.claimUntil! < this.now + readMs / 2
    if (!held.some(ends)) return
    this.#sees(name)
    for (const copy of held) {
      copy.claimUntil = Math.max(copy.claimUntil!, this.now + readMs)
      copy.marks.push('extended')
    }
  }

  /** Shows the unread, all of it or the first: answers to its own questions, then by urgency and age. */
  check(name: string, all: boolean): number[] {
    this.#comeIn(name)
    const agent = this.agents.get(name)!
    const isAnswer = (message: PlainMessage) => {
      const parent = message.replyTo === undefined ? undefined : this.messages[message.replyTo]!
      return parent?.from === name && this.#isOutcome(message, parent)
    }
    const listed = this.inbox(name, 'unread').map(({ number }) => this.messages[number]!)
    const next = [...listed.filter(isAnswer), ...listed.filter((message) => !isAnswer(message))]
    let isBusy = this.#hasWork(name)
    const forNow = next.filter((message) => {
      const own = message.copies.get(name)
      const isForRole =
        own?.state !== 'stored' && [...message.copies.values()].some((copy) => this.#isFree(copy, agent))
      if (isAnswer(message) || !isForRole || asksFor(message) !== 'work') return true
      const isLater = isBusy
      isBusy = true
      return !isLater
    })
    const shown = all ? forNow : forNow.slice(0, 1)
    for (const message of shown) {
      this.#carryOut(name, 'shown', message, this.#planStep(name, 'shown', message))
      this.#remember(name, message)
    }
    return shown.map(({ number }) => number)
  }

  /** Whether it has work in hand: claimed for a role, or its own and started. */
  #hasWork = (name: string): boolean =>
    this.#allCopies().some(
      ({ message, owner, claimedBy, state }) =>
        asksFor(message) === 'work' &&
        underWay.includes(state) &&
        (claimedBy === name || (owner === name && state === 'processing')),
    )

  read(name: string, number: number): State | undefined {
    const agent = this.agents.get(name)!
    const message = this.messages[number]!
    const over: State[] = [...finished, 'dead', 'expired', 'withdrawn']
    if (message.copies.has(name) && this.#isOutdated(message, agent)) return 'dead'
    if (this.#standing(message, agent, over) === 'stored') {
      this.#acts(name)
      this.step(name, 'shown', number)
    }
    return this.#standing(message, agent, over)
  }

  claimNext(name: string, role: string, ttlMs = claimMs): number | null {
    this.#comeIn(name)
    if (!this.agents.get(name)!.roles.has(role))
      throw new Refused('not_permitted', 'it does not hold the role')
    const next = this.messages
      .filter(({ copies }) => {
        const copy = copies.get(`role:${role}`)
        return copy !== undefined && this.#isFree(copy, this.agents.get(name)!) && !this.#isOver(copy)
      })
      .sort((a, b) => b.rank - a.rank || a.number - b.number)[0]
    if (next === undefined) return null
    this.#carryOut(name, 'claimed', next, this.#planStep(name, 'claimed', next, true), ttlMs)
    this.#remember(name, next)
    return next.number
  }

  withdraw(name: string, number: number): void {
    this.#acts(name)
    const message = this.messages[number]!
    if (message.from !== name) throw new Refused('not_permitted', 'it is not from this agent')
    if (!this.#isUnseen(message)) throw new Refused('conflict', 'somebody has seen it')
    if (this.#withdraw(message)) this.#sees(name)
  }

  #isUnseen = ({ copies, groupState }: PlainMessage): boolean =>
    [...copies.values()].every(({ seen, state }) => !seen || state === 'failed') && groupState !== 'archived'

  #withdraw(message: PlainMessage): boolean {
    const copies = [...message.copies.values()]
    const already = copies.every(({ state }) => state === 'withdrawn')
    if (already && (message.groups.size === 0 || message.groupState === 'withdrawn')) return false
    for (const copy of copies) this.#set(copy, 'withdrawn', 'withdrawn')
    if (message.groups.size > 0) this.#setGroup(message, 'withdrawn', 'withdrawn')
    return true
  }

  // What happens by itself

  /** Does what is due, until nothing is. Whoever comes for its mail is not reported for what it is about to read. */
  runDue(reader?: string): void {
    while (this.#tendOnce(reader)) {
      // What was done may make more become due.
    }
  }

  /** Each copy changes at most once at a time: the first thing that is due with it happens. */
  #tendOnce(reader?: string): boolean {
    const { now, settings } = this
    const touched = new Set<Copy>()
    const held = new Set<Copy>()
    const ended = new Set<PlainMessage>()
    const told: Told[] = []
    const said = this.notices.length
    let changed = false
    const tell = (to: string, kind: Reason, { message, owner }: { message: PlainMessage; owner: string }) => {
      const isSame = (one: Told) =>
        one.to === to && one.message === message && (kind !== 'undelivered' || one.owner === owner)
      if (!told.some(isSame)) told.push({ to, kind, message, owner })
    }
    /** Nobody is told of one message twice. */
    const tellOnce = (to: string, kind: Reason, copy: { message: PlainMessage; owner: string }) => {
      const knows = this.#told.some(
        (notice) =>
          notice.to === to &&
          notice.items.some(({ message }) => message === copy.message) &&
          this.#noticeCopy(notice).state !== 'withdrawn',
      )
      if (!knows) tell(to, kind, copy)
    }
    // Who is here, who was told, and what was read, is asked before anything is found out.
    const before = [...this.agents.values()].map((agent) => ({ ...agent, roles: new Set(agent.roles) }))
    const asBefore = new Map(before.map((agent) => [agent.name, agent]))
    const isAway = (name: string) => {
      const agent = asBefore.get(name)
      return agent !== undefined && agent.state !== 'alive'
    }
    const served = new Set(this.messages.filter(({ copies }) => [...copies.values()].some(hasRead)))
    const moot = this.#told.filter(
      (notice) => this.#noticeCopy(notice).state === 'stored' && !notice.items.some(this.#isTrue),
    )
    const live = this.#told.filter((notice) => this.#noticeCopy(notice).state === 'stored')
    const waited = new Map(this.#allCopies().map((copy) => [copy, this.#isWaitedFor(copy)]))
    const matters = this.messages.flatMap((message) =>
      message.matters
        .toSorted((a, b) => (a.owner < b.owner ? -1 : 1))
        .map((matter) => ({ message, matter, state: matter.state, level: matter.level })),
    )
    const copies = this.#allCopies()
    const each = (isDue: (copy: Copy) => boolean, act: (copy: Copy) => void) => {
      for (const copy of copies) {
        if (touched.has(copy) || held.has(copy) || !isDue(copy)) continue
        touched.add(copy)
        act(copy)
      }
    }
    // At night the person is told of urgent mail only, and of that once, whatever became of the notice.
    const isNight = settings.hours !== '' && !isWorkingHour(now)
    const mayTell = (to: string | undefined, kind: Reason, about?: PlainMessage) => {
      if (to !== 'user' || !isNight) return true
      const knows = this.#told.some(
        (notice) => notice.to === to && notice.items.some(({ message }) => message === about),
      )
      return kind === 'unread' && !knows
    }
    // What was read, if only before it was shown again, was delivered: whoever has read it has stopped.
    const lossOf = ({ state, repeats }: Copy): Reason =>
      state === 'stored' && repeats === 0 ? 'undelivered' : 'ended'
    // What waits for the morning is over all the same: nothing else is done about it.
    const mayLose = (copy: Copy) => {
      const may = mayTell(copy.message.from, lossOf(copy))
      if (!may) held.add(copy)
      return may
    }
    const lose = (state: 'dead' | 'expired') => (copy: Copy) => {
      tell(copy.message.from, lossOf(copy), copy)
      this.#set(copy, state, state)
    }
    const isBeingRead = ({ owner, claimedBy }: Pick<Copy, 'owner' | 'claimedBy'>) => {
      const box = claimedBy ?? owner
      const roles = reader === undefined ? undefined : this.agents.get(reader)?.roles
      return roles !== undefined && (box === reader || isHeldBy(box, roles))
    }

    // Agents whose process has ended, of which nothing was heard, and that are back.
    for (const agent of this.agents.values()) {
      if (agent.name === 'user') continue
      if (agent.state === 'dead' && agent.gone !== 'left' && agent.seenAt > agent.goneAt) {
        this.#comeBack(agent)
        changed = true
        continue
      }
      if (agent.state !== 'alive') continue
      const isSilent =
        agent.process === 'none' && settings.silentAfterMs > 0 && now - agent.seenAt > settings.silentAfterMs
      if (agent.process !== 'ended' && !isSilent) continue
      const gone = agent.process === 'ended' ? 'ended' : 'silent'
      Object.assign(agent, { state: 'dead', gone, goneAt: now })
      changed = true
    }

    // What a dead agent had claimed is free. Work that it died over has failed.
    const holder = ({ claimedBy }: Copy) => (claimedBy === null ? undefined : this.agents.get(claimedBy))
    each(
      (copy) => holder(copy)?.state === 'dead' && this.#canBeGivenBack(copy),
      (copy) => {
        if (holder(copy)!.gone === 'ended' && copy.state === 'processing') copy.failures++
        if (copy.failures < settings.maxAttempts) return this.#giveBack(copy)
        tell(copy.message.from, 'undelivered', copy)
        this.#set(copy, 'dead', 'dead')
      },
    )
    // Its own mail waits for it to come back. What it had read, and nobody waits for, has arrived.
    const isDead = ({ owner }: Copy) => this.agents.get(owner)?.state === 'dead'
    const isGoing = (copy: Copy) => isUnfinished(copy) && copy.state !== 'failed' && isDead(copy)
    const mayReturn = (copy: Copy) => {
      const { gone, goneAt } = this.agents.get(copy.owner)!
      const since = copy.state === 'stored' ? Math.max(goneAt, copy.since) : goneAt
      return gone !== 'left' && now - since < settings.deadLetterAfterMs
    }
    const hasArrived = (copy: Copy) => copy.viaGroup || (copy.state !== 'stored' && !waited.get(copy))
    // Whoever has sent it later was told so when it did.
    const isOlder = ({ message, owner }: Copy) => message.createdAt <= this.agents.get(owner)!.goneAt
    for (const copy of copies) {
      const { from } = copy.message
      if (isGoing(copy) && mayReturn(copy) && isOlder(copy) && waited.get(copy) && mayTell(from, 'waiting'))
        tellOnce(from, 'waiting', copy)
    }
    each(
      (copy) =>
        isGoing(copy) && !mayReturn(copy) && hasArrived(copy) && this.agents.get(copy.owner)!.gone === 'left',
      (copy) => this.#set(copy, 'archived', 'archived'),
    )
    each((copy) => isGoing(copy) && !mayReturn(copy) && !hasArrived(copy) && mayLose(copy), lose('dead'))

    // Claims that ran out; mail for an earlier run; mail that expired.
    each(
      (copy) => copy.claimUntil !== null && copy.claimUntil <= now && this.#canBeGivenBack(copy),
      (copy) => this.#giveBack(copy),
    )
    each(
      (copy) =>
        isUnfinished(copy) &&
        this.#isOutdated(copy.message, this.agents.get(copy.owner)!) &&
        (copy.state !== 'stored' || mayLose(copy)),
      (copy) => {
        if (copy.state === 'stored') return lose('dead')(copy)
        if (waited.get(copy)) tell(copy.message.from, 'ended', copy)
        this.#set(copy, 'archived', 'archived')
      },
    )
    // Nothing expires of whoever is not here, was only just found dead, or is only just back.
    const isWaiting = (name: string) =>
      [asBefore.get(name), this.agents.get(name)].some((agent) => agent !== undefined && isExpected(agent))
    each(
      (copy) => copy.state === 'stored' && this.#isOver(copy) && !isWaiting(copy.owner) && mayLose(copy),
      lose('expired'),
    )
    for (const message of this.messages) {
      if (message.groupState !== 'stored' || message.groups.size === 0 || !this.#isOver(message)) continue
      ended.add(message)
      if (!served.has(message) && !mayTell(message.from, 'undelivered')) continue
      this.#setGroup(message, 'expired', 'expired')
      changed = true
      if (!served.has(message))
        for (const owner of message.groups) tell(message.from, 'undelivered', { message, owner })
    }

    // Acks that did not come.
    const presentSince = ({ startedAt, away }: PlainAgent) => Math.max(startedAt, away?.to ?? 0)
    const escalate = (copy: Copy, kind: Reason, next: Next) => {
      copy.marks.push('escalated')
      copy.level = next.level
      if (next.to !== undefined) tellOnce(next.to, kind, copy)
    }
    const hadTime = (copy: Copy) => {
      const box = copy.claimedBy ?? copy.owner
      const agent = asBefore.get(box)
      const isPersons = agent === undefined || box === 'user'
      return isPersons || (!isAway(box) && now - presentSince(agent) >= settings.ackTimeoutMs)
    }
    each(
      (copy) => {
        if (!isUnfinished(copy) || copy.ackBy === null || copy.ackBy > now || !hadTime(copy)) return false
        if (copy.repeats < settings.ackRepeats) return true
        return !isBeingRead(copy) && mayTell(this.#nextToTell(copy, asBefore, copy.level).to, 'ack')
      },
      (copy) => {
        const until = copy.claimUntil
        if (copy.repeats < settings.ackRepeats) {
          this.#set(copy, 'stored', 'repeated')
          Object.assign(copy, { repeats: copy.repeats + 1, expiresAt: null, claimUntil: until })
          copy.ackBy = now + settings.ackTimeoutMs
          copy.marks.push('repeated')
        } else {
          escalate(copy, 'ack', this.#nextToTell(copy, asBefore, copy.level))
          copy.ackBy = copy.level === 2 ? null : now + settings.ackTimeoutMs
        }
      },
    )

    // Urgent mail that nobody reads; other mail is only marked.
    const isIgnored = (copy: Copy) =>
      copy.state === 'stored' && copy.repeats === 0 && !copy.quiet && !isAway(copy.owner)
    const isUrgent = ({ message }: Copy) => message.rank === urgentRank && settings.urgentAfterMs > 0
    for (const level of [0, 1])
      each(
        (copy) =>
          isIgnored(copy) &&
          isUrgent(copy) &&
          copy.level === level &&
          now - this.#countedSince(copy.owner, copy.since, before) >= settings.urgentAfterMs * (level + 1) &&
          !isBeingRead(copy) &&
          mayTell(this.#nextToTell(copy, asBefore, copy.level).to, 'unread', copy.message),
        (copy) => escalate(copy, 'unread', this.#nextToTell(copy, asBefore, copy.level)),
      )
    each(
      (copy) =>
        isIgnored(copy) &&
        !isUrgent(copy) &&
        copy.level === 0 &&
        settings.staleAfterMs > 0 &&
        now - copy.since >= settings.staleAfterMs,
      (copy) => {
        copy.quiet = true
        copy.marks.push('stale')
      },
    )

    // Deadlines, and answers that did not come.
    const overdue = new Set<string>()
    for (const { message, matter, state, level } of matters) {
      const { owner, kind, until } = matter
      if (state !== 'open') continue
      const copy = message.copies.get(owner)
      const address = copy ?? { message, owner, claimedBy: null, level: 0 }
      const isTouched =
        (copy === undefined ? ended.has(message) : touched.has(copy) || held.has(copy)) ||
        overdue.has(`${message.number} ${owner}`)
      const note = () => {
        overdue.add(`${message.number} ${owner}`)
        if (copy === undefined) markGroup(message, owner, 'overdue')
        else {
          copy.marks.push('overdue')
          touched.add(copy)
        }
        for (const one of message.matters) if (one.owner === owner && isOpen(one)) one.level++
        changed = true
      }
      if (until !== null && level === 0) {
        const to = message.from
        if (until > now || !mayTell(to, 'deadline') || isTouched) continue
        note()
        tell(to, 'deadline', address)
        continue
      }
      const patience = settings.answerAfterMs
      const times = until === null ? level : level - 1
      if (patience === 0 || kind === 'ack' || kind === 'task' || times >= 2 || isTouched) continue
      const box = address.claimedBy ?? owner
      if (isAway(box) || isBeingRead(address)) continue
      const since = this.#countedSince(box, until ?? message.createdAt, before)
      if ((until ?? message.createdAt) > now - patience || now - since < patience * (times + 1)) continue
      const next = this.#nextToTell({ ...address, message, owner }, asBefore, times)
      if (!mayTell(next.to, 'answer')) continue
      note()
      if (next.to !== undefined) tellOnce(next.to, 'answer', address)
    }

    const replaced = this.#say(
      told,
      live.filter((notice) => !touched.has(this.#noticeCopy(notice))),
    )
    for (const notice of moot) {
      const copy = this.#noticeCopy(notice)
      if (copy.state !== 'stored' || touched.has(copy) || replaced.has(notice)) continue
      this.#set(copy, 'withdrawn', 'withdrawn')
      changed = true
    }
    return changed || touched.size > 0 || this.notices.length > said
  }

  #noticeCopy = ({ to, number }: Pick<Notice, 'to' | 'number'>): Copy =>
    this.messages[number]!.copies.get(to)!

  /** Whether this recipient owes something. */
  #isWaitedFor = ({ message, owner }: Copy): boolean =>
    message.matters.some((one) => one.owner === owner && isOpen(one))

  /** Whether what a notice says of a message is still so. */
  #isTrue = ({ message, owner, kind }: Item): boolean => {
    const state = message.copies.get(owner)?.state ?? message.groupState
    const owes = message.matters.filter((one) => one.owner === owner)
    switch (kind) {
      case 'unread':
        return state === 'stored' || lost.includes(state)
      case 'ack':
        return ['stored', 'shown'].includes(state)
      case 'answer':
        return owes.some((one) => one.kind !== 'ack' && one.state === 'open')
      case 'deadline':
        return owes.some((one) => one.state === 'open')
      case 'ended':
        return lost.includes(state) || owes.some((one) => one.state === 'closed')
      case 'undelivered':
        return lost.includes(state)
      case 'waiting': {
        const agent = this.agents.get(owner)
        return agent !== undefined && isExpected(agent) && (state === 'stored' || owes.some(isOpen))
      }
    }
  }

  /** Clocks count while the recipient is there; a role is there with the first of its holders, or counts anyway. */
  #countedSince(owner: string, since: number, agents: PlainAgent[]): number {
    const role = owner.replace('role:', '')
    const names = owner.startsWith('role:')
      ? agents.filter(({ state, roles }) => state === 'alive' && roles.has(role))
      : agents.filter(({ name }) => name === owner)
    const present = names
      .filter(({ name }) => name !== 'user')
      .map(({ startedAt, away }) => Math.max(startedAt, away?.to ?? 0))
    return present.length === 0 ? since : Math.max(since, Math.min(...present))
  }

  /** Agent, lead, person: who is told next. Nobody is told of its own mail, and behind the person there is nobody. */
  #nextToTell(
    { message, owner, claimedBy }: Pick<Copy, 'message' | 'owner' | 'claimedBy'>,
    agents: Map<string, PlainAgent>,
    level: number,
  ): Next {
    if (owner === 'user') return { to: undefined, level: 2 }
    const { leads } = this.settings
    const agent = agents.get(owner)
    const isLeads = agent === undefined ? leads.some((role) => owner === `role:${role}`) : this.#isLead(agent)
    const isOther = (name: string) => name !== message.from && name !== (claimedBy ?? owner)
    const lead = leads.find((role) =>
      [...agents.values()].some(
        ({ name, state, roles }) => state === 'alive' && roles.has(role) && isOther(name),
      ),
    )
    if (level === 0 && lead !== undefined && !isLeads) return { to: `role:${lead}`, level: 1 }
    return { to: message.from === 'user' ? undefined : 'user', level: 2 }
  }

  /**
   * Each addressee is told at once of all that is said for one reason about one recipient, the person of everything,
   * and a sender of all that was not delivered. What it has not read yet about the same recipient is replaced.
   */
  #say(told: Told[], live: Notice[] = []): Set<Notice> {
    const groups = new Map<string, Told[]>()
    for (const one of told) {
      const { to, kind, owner, message } = one
      const isOld = this.now - message.createdAt > oldNewsMs
      if (to === 'system' || isOld || (kind === 'undelivered' && message.from === 'system')) continue
      const key = to === 'user' || kind === 'undelivered' ? to : `${to} ${kind} ${owner}`
      groups.set(key, [...(groups.get(key) ?? []), one])
    }
    const replaced = new Set<Notice>()
    const said = [...groups.values()].map((added) => {
      const [{ to, owner }] = added as [Told]
      const isLike = (item: Item) => item.kind === 'unread' && item.owner === owner
      const earlier = added.every(isLike)
        ? live.find((notice) => notice.to === to && notice.items.every(isLike))
        : undefined
      const kept = (earlier?.items ?? []).filter(
        (item) => this.#isTrue(item) && !added.some(({ message }) => message === item.message),
      )
      if (earlier !== undefined) replaced.add(earlier)
      const items: Item[] = [...kept, ...added]
      return { to, items, earlier, text: sayItems(to, items) }
    })
    for (const { to, items, earlier, text } of this.#inOrder(said)) {
      this.notices.push(text)
      const [{ kind, owner, message }] = items as [Item]
      const isUniform = items.every(
        (item) => item.kind === kind && (kind === 'undelivered' || item.owner === owner),
      )
      const about = items.length === 1 ? message : undefined
      const number = this.#post(
        {
          ...{ from: 'system', to: [to], ttlMs: null, replyTo: about?.number },
          rank: isUniform ? ranks[kind] : severalRank,
        },
        about?.threadOf,
      )
      this.#told.push({ to, items, number })
      if (earlier !== undefined) this.#set(this.#noticeCopy(earlier), 'withdrawn', 'withdrawn')
    }
    return replaced
  }
}

interface Next {
  to: string | undefined
  level: number
}

/** A letter, as whoever is told of it sees it. */
const letterOf = (number: number, owner: string) => `${number} to ${owner}`

/** Mail has expired when its life ends, although that may be recorded later. */
const withExpiry = (marks: Mark[], recorded: State, now: State): Mark[] =>
  now === recorded ? marks : [...marks, 'expired']

const markGroup = ({ groupMarks }: PlainMessage, group: string, mark: Mark) =>
  groupMarks.set(group, [...(groupMarks.get(group) ?? []), mark])

/** A notice in a line. */
const sayItems = (to: string, items: Item[]): string =>
  `${to}: ${items
    .map(({ kind, message, owner }) => `${kind} ${letterOf(message.number, owner)}`)
    .sort()
    .join(', ')}`

/** Not here, and expected back. */
const isExpected = ({ state, gone }: PlainAgent): boolean =>
  state === 'frozen' || (state === 'dead' && gone !== 'left')

const isUnfinished = ({ state }: Pick<Copy, 'state'>) => unread.includes(state) || open.includes(state)

const hasRead = ({ state }: Copy) => state !== 'stored' && !lost.includes(state)

/** Somebody has read a notice. */
const isRead = (copy: Copy): boolean => hasRead(copy) && copy.state !== 'withdrawn'

const byOwner = (a: Copy, b: Copy) => (a.owner < b.owner ? -1 : 1)

const isGroup = (address: string) =>
  address === 'all' || (address.includes(':') && !address.startsWith('role:'))

const isHeldBy = (address: string, roles: Set<string>): boolean =>
  address.startsWith('role:') && roles.has(address.replace('role:', ''))

const isAgent = (address: string) => address !== 'all' && !address.includes(':')

/** Only for the run that is there when it is sent. */
const isBound = ({ type }: Said): boolean => type === 'shutdown_request' || type === 'plan_approval'

/** What a message asks for besides an ack. */
const kindOf = ({ type = '', awaiting }: Said): Kind | undefined =>
  asked[type] ?? (awaiting ? 'question' : undefined)

function asksFor(message: PlainMessage): 'work' | 'answer' | 'ack' | 'nothing' {
  const kind = kindOf(message)
  if (kind === 'task') return 'work'
  if (kind !== undefined || message.type === 'request') return 'answer'
  return message.requiresAck ? 'ack' : 'nothing'
}

/** A task has the id that was given to it, or that of its message. */
const taskOf = ({ task, number }: PlainMessage): string => task ?? `message ${number}`

function reportedStep({ type, task, status, about }: Posted): 'completed' | 'failed' | undefined {
  if (type !== 'status_update' || task === undefined || about !== undefined) return undefined
  return status === 'completed' || status === 'failed' ? status : undefined
}

/** Where a message of a type leads a matter; undefined where it does not. */
function leadsTo(type: string, yes: boolean | undefined, { kind, state }: Matter): Standing | undefined {
  switch (kind) {
    case 'question':
      return state === 'open' && answers[type] === undefined && type !== 'plan_submission'
        ? 'answered'
        : undefined
    case 'status': {
      const isOther = type === 'plan_approval' || type === 'shutdown_response' || type === 'plan_submission'
      return state === 'open' && !isOther ? 'answered' : undefined
    }
    case 'plan':
      if (type === 'plan_submission') return state === 'rejected' ? 'revised' : undefined
      return type === 'plan_approval' && state === 'open' ? (yes ? 'approved' : 'rejected') : undefined
    case 'shutdown':
      return type === 'shutdown_response' && (state === 'open' || state === 'deferred')
        ? yes
          ? 'accepted'
          : 'deferred'
        : undefined
    default:
      return undefined
  }
}

/** Whether nobody else has to do anything. */
const isForAll = ({ matter, to, each }: { matter: Matter; to: Standing; each: boolean }): boolean =>
  to !== 'deferred' && !(each && isGroup(matter.owner))

/** What the new state of a copy makes of a matter. */
function outcome({ kind, state: now }: Matter, state: State, step: string): Standing {
  const isStillOpen = now === 'open' || now === 'deferred' || now === 'failed'
  if (lost.includes(state) || state === 'withdrawn') return isStillOpen ? 'void' : now
  if (now === 'void' && (state === 'stored' || step === 'revived')) return 'open'
  if (now === 'failed' && (state === 'stored' || state === 'processing')) return 'open'
  if (kind === 'ack') return acked.includes(state) ? 'acked' : now
  if (!isStillOpen) return now
  const isDone = finished.includes(state)
  if (!isDone && state !== 'failed') return now
  if (kind !== 'task') return 'closed'
  if (state === 'failed' || step === 'archived') return now === 'open' ? 'failed' : now
  return 'done'
}

/** Started work lasts, and what only wanted an ack is finished with it. */
const isSteady = ({ state, message }: Copy): boolean =>
  state === 'processing' || (state === 'acked' && asksFor(message) === 'ack')

/** Monday to Friday from 9 to 18, as in {@link PlainSettings.hours}. */
function isWorkingHour(now: number): boolean {
  const date = new Date(now)
  const isWeekday = date.getUTCDay() >= 1 && date.getUTCDay() <= 5
  return isWeekday && date.getUTCHours() >= 9 && date.getUTCHours() < 18
}

function defaultLife(address: string): number | null {
  if (address.startsWith('role:') || address === 'user') return null
  return address === 'all' || address.startsWith('broadcast:') ? 4 * hour : 24 * hour
}
