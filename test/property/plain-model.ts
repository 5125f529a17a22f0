/**
 * The specification once more, as plainly as it can be said: everything in memory, nothing indexed,
 * nothing clever, and nothing taken from src. Messages are known by their number in the order they were
 * sent; times are in ms.
 *
 * An agent has a message in up to four ways, and all of them together are one piece of mail to it:
 * a copy of its own (it was named, or it is in a group and has touched the message), a copy of a role
 * that it has claimed, a copy of a role it holds that nobody has, and a group's message it has not touched.
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
type Mark = 'repeated' | 'escalated' | 'stale' | 'revived' | 'extended' | 'expired' | 'dead'

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
  'limits.ratePerMinute': number
  'limits.inbox': number
}

export interface PlainAgent {
  name: string
  state: 'alive' | 'frozen' | 'dead'
  roles: Set<string>
  tags: Set<string>
  generation: number
  /** When it last said or did something. */
  seenAt: number
  /** Since when it is frozen or dead, and whether it said so itself or nothing was heard of it. */
  goneAt: number
  gone: 'left' | 'silent'
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
  attempts: number
  /** How often work on it has failed. */
  failures: number
  /** Which of all claims was the last on it; 0 when there was none. */
  lastClaim: number
  /** A dead letter because it was taken up too often. */
  wornOut: boolean
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
  marks: Mark[]
}

interface PlainMessage {
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
  groupMarks: Mark[]
  copies: Map<string, Copy>
  threadOf: number
  requiresAck: boolean
  bound: boolean
  /** The only run it is for. */
  generation: number | null
  /** The last claim of each agent on any copy. */
  claims: Map<string, number>
}

export interface PlainSend {
  to: string[]
  rank: number
  /** Undefined: by kind of address. Null: for ever. */
  ttlMs?: number | null
  key?: string
  exclude?: string[]
  hold?: boolean
  requiresAck?: boolean
  /** Only for the run that is there, if it goes to one agent. */
  bound?: boolean
}

/** A letter that will reach nobody any more, as its sender is told. */
const letterOf = (number: number, owner: string) => `${number} to ${owner}`

export interface Listed {
  number: number
  state: State
}

const minute = 60_000
const hour = 60 * minute
const claimMs = 15 * minute
/** What was only read for a role, and asks for something. */
const readMs = 4 * hour
const normalRank = 1
const urgentRank = 3

const unread: State[] = ['stored']
const open: State[] = ['shown', 'acked', 'processing', 'failed']
const finished: State[] = ['completed', 'archived']
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
  /** What each notice is about, by its number. */
  readonly #told = new Map<number, Lost[]>()
  /** How many claims were made. */
  #claims = 0

  constructor(now: number, settings: PlainSettings) {
    this.now = now
    this.settings = settings
    this.agents.set('user', { ...this.#newAgent('user'), generation: 0 })
  }

  // The roster

  #newAgent(name: string): PlainAgent {
    const { now } = this
    return {
      ...{ name, state: 'alive', roles: new Set(), tags: new Set(), generation: 1 },
      ...{ seenAt: now, goneAt: now, gone: 'left' },
    }
  }

  join(name: string, roles?: string[], tags?: string[]): number {
    const before = this.agents.get(name)
    const agent: PlainAgent = {
      ...this.#newAgent(name),
      roles: new Set(roles ?? before?.roles),
      tags: new Set(tags ?? before?.tags),
      generation: (before?.generation ?? 0) + 1,
    }
    this.agents.set(name, agent)
    if (before?.state === 'frozen') this.#extend(before)
    else this.#freeClaims(name)
    // Whoever was taken for dead may have said since that it is only frozen.
    if (before !== undefined && before.state !== 'alive') this.#revive(name)
    return agent.generation
  }

  #allCopies = (): Copy[] => this.messages.flatMap(({ copies }) => [...copies.values()])

  #ownCopies = (name: string): Copy[] => this.messages.flatMap(({ copies }) => copies.get(name) ?? [])

  /** The time an agent was frozen does not count for the mail that waited for it. */
  #extend({ name, goneAt }: PlainAgent): void {
    for (const copy of this.#ownCopies(name)) {
      if (copy.state !== 'stored' || copy.expiresAt === null) continue
      copy.expiresAt += this.now - Math.max(goneAt, copy.message.createdAt)
      copy.marks.push('extended')
    }
  }

  /** What the run before had claimed is free again; one that was only frozen goes on with it. */
  #freeClaims(name: string): void {
    for (const copy of this.#allCopies())
      if (copy.claimedBy === name && isUnfinished(copy)) this.#giveBack(copy)
  }

  /** What was read and asked for nothing is finished with that, and what failed is for whoever asked. */
  #giveBack(copy: Copy): void {
    if (copy.state === 'failed' || (copy.claimUntil === null && copy.state !== 'processing')) return
    Object.assign(copy, { claimUntil: null, ackBy: null, state: 'stored', claimedBy: null })
  }

  /** A successor inherits what nobody was there for; not what was for one run only, or tried too often. */
  #revive(name: string): void {
    for (const copy of this.#ownCopies(name)) {
      if (copy.state !== 'dead' || copy.wornOut || copy.message.generation !== null) continue
      if (this.#isOver(copy)) continue
      copy.state = 'stored'
      copy.ackBy = null
      copy.marks.push('revived')
    }
  }

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

  /** Frozen or for good. Whoever is frozen already is so since then. */
  leave(name: string, frozen: boolean): void {
    if (name === 'user') throw new Refused('not_permitted', 'the person does not leave')
    const agent = this.#sees(name)
    if (agent.state !== 'frozen' || !frozen) agent.goneAt = this.now
    agent.state = frozen ? 'frozen' : 'dead'
    agent.gone = 'left'
  }

  /** Whoever says or does something is there. */
  #sees(name: string): PlainAgent {
    const agent = this.agents.get(name)!
    agent.seenAt = this.now
    return agent
  }

  #isLead = ({ roles }: PlainAgent) => this.settings.leads.some((role) => roles.has(role))

  // Sending

  send(from: string, input: PlainSend, threadOf?: number): number {
    const keyed = input.key === undefined ? undefined : this.#keys.get(`${from} ${input.key}`)
    if (keyed !== undefined) return keyed
    const to = [...new Set(input.to.map((written) => this.#resolve(written, input.hold ?? false)))]
    for (const address of to) this.#mustBeAllowed(from, address)
    const rate = this.settings['limits.ratePerMinute']
    const lately = this.messages.filter((one) => one.from === from && one.createdAt > this.now - minute)
    if (rate > 0 && lately.length >= rate) throw new Refused('over_limit', 'it has sent too much')
    for (const address of to) this.#mustHaveRoom(address)
    const one = to.length === 1 && !to[0]!.includes(':') && to[0] !== 'all'
    if (input.bound && !one) throw new Refused('invalid', 'it is for one run of one agent')
    this.#sees(from)
    const number = this.#post({ ...input, from, to }, threadOf)
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
  #mustHaveRoom(address: string): void {
    const most = this.settings['limits.inbox']
    if (most === 0 || isGroup(address)) return
    const isGroups = ({ viaGroup, state }: Copy) => viaGroup && state !== 'stored'
    const waiting = this.#allCopies().filter(
      (copy) => isUnfinished(copy) && (copy.claimedBy ?? copy.owner) === address && !isGroups(copy),
    )
    if (waiting.length >= most) throw new Refused('over_limit', 'its inbox is full')
  }

  #post(input: PlainSend & { from: string }, threadOf?: number): number {
    const { from, to, rank, exclude = [], requiresAck = false, bound = false } = input
    const lives = to.map(defaultLife)
    const life =
      input.ttlMs !== undefined ? input.ttlMs : lives.includes(null) ? null : Math.max(...(lives as number[]))
    const number = this.messages.length
    const one = to.length === 1 ? this.agents.get(to[0]!) : undefined
    const message: PlainMessage = {
      ...{ number, from, to, rank, exclude, requiresAck, bound },
      createdAt: this.now,
      expiresAt: life === null ? null : this.now + life,
      groups: new Set(),
      groupState: 'stored',
      groupMarks: [],
      copies: new Map(),
      claims: new Map(),
      threadOf: threadOf ?? number,
      generation: bound ? (one?.generation ?? null) : null,
    }
    for (const address of to) {
      if (address.startsWith('broadcast:')) message.groups.add(address.replace('broadcast:', 'swarm:'))
      else if (isGroup(address)) message.groups.add(address)
      else this.#copy(message, address, { quiet: from === 'system' || rank === 0, viaGroup: false })
    }
    this.messages.push(message)
    return number
  }

  #copy(message: PlainMessage, owner: string, how: Pick<Copy, 'quiet' | 'viaGroup'>): Copy {
    const copy: Copy = {
      ...{ message, owner, ...how, seen: false, state: 'stored', claimedBy: null, claimUntil: null },
      ...{
        expiresAt: message.expiresAt,
        attempts: 0,
        failures: 0,
        lastClaim: 0,
        wornOut: false,
        ackBy: null,
        repeats: 0,
        level: 0,
      },
      marks: [],
    }
    message.copies.set(owner, copy)
    return copy
  }

  reply(from: string, number: number, supersede: boolean): number {
    const original = this.messages[number]!
    if (original.from === 'system') throw new Refused('not_permitted', 'the system reads no mail')
    const to = original.from === from ? original.to : [original.from]
    const last = this.messages.findLast(
      (message) => message.from === from && message.threadOf === original.threadOf,
    )
    const answer = this.send(from, { to, rank: normalRank }, original.threadOf)
    if (original.from !== from) this.#settle(from, number)
    if (supersede && last !== undefined && this.#isUnseen(last)) this.#withdraw(last)
    return answer
  }

  /** Whoever replies has read what it replies to, and is done with it, if it has it and has not started on it. */
  #settle(name: string, number: number): void {
    try {
      this.step(name, 'completed', number, claimMs, ({ copy }) => copy?.state !== 'processing')
    } catch (error) {
      if (!(error instanceof Refused)) throw error
    }
  }

  /** A dead letter goes to another address, and what was dead is put away. */
  resend(name: string, number: number, to: string[]): number {
    const message = this.messages[number]!
    if (message.from !== name && name !== 'user') throw new Refused('not_permitted', 'it is not from it')
    const isDead = (state: State) => state === 'dead' || state === 'expired'
    const copies = [...message.copies.values()].filter(({ state }) => isDead(state))
    const group = isDead(message.groupState)
    if (copies.length === 0 && !group) throw new Refused('conflict', 'it is no dead letter')
    const { rank, requiresAck, bound } = message
    const again = this.send(name, { to, rank, requiresAck, bound }, message.threadOf)
    for (const copy of copies) Object.assign(copy, { state: 'archived', seen: true })
    if (group) message.groupState = 'archived'
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

  // What reaches whom

  #isOver = ({ expiresAt }: { expiresAt: number | null }) => expiresAt !== null && expiresAt <= this.now

  /** The copy of a role whose claim has run out. */
  #isAbandoned = ({ claimUntil, state }: Copy) =>
    claimUntil !== null && claimUntil <= this.now && underWay.includes(state)

  /** A copy of a role that this agent could take: nobody has it, or the claim of somebody else has run out. */
  #isFree(copy: Copy, agent: PlainAgent): boolean {
    if (!copy.owner.startsWith('role:') || !agent.roles.has(copy.owner.replace('role:', ''))) return false
    if (copy.message.from === agent.name && this.#isShared(copy.owner, agent)) return false
    if (copy.claimedBy === null) return copy.state === 'stored'
    return copy.claimedBy !== agent.name && this.#isAbandoned(copy)
  }

  /** Mail to a role is not for its sender while another holder is here. */
  #isShared = (owner: string, { name }: PlainAgent): boolean =>
    [...this.agents.values()].some(
      (other) =>
        other.name !== name && other.state === 'alive' && other.roles.has(owner.replace('role:', '')),
    )

  #reachesAsGroup(message: PlainMessage, agent: PlainAgent): boolean {
    if (message.from === agent.name || message.exclude.includes(agent.name)) return false
    return [...message.groups].some((group) => group === 'all' || agent.tags.has(group))
  }

  /** Every way in which an agent has a message, its own copy first. What nobody has touched is `stored`. */
  #ways(message: PlainMessage, agent: PlainAgent): { state: State; copy: Copy | null }[] {
    const own = message.copies.get(agent.name)
    const others = [...message.copies.values()].filter((copy) => copy !== own)
    const claimed = others.filter(({ claimedBy }) => claimedBy === agent.name).sort(byOwner)
    const free = others.filter((copy) => this.#isFree(copy, agent))
    const ways = [...(own === undefined ? [] : [own]), ...claimed].map((copy) => ({
      state: this.#stateNow(copy),
      copy: copy as Copy | null,
    }))
    for (const copy of free) ways.push({ state: this.#isOver(copy) ? 'expired' : 'stored', copy })
    const lives = message.groupState === 'stored' && !this.#isOver(message)
    if (own === undefined && lives && this.#reachesAsGroup(message, agent))
      ways.push({ state: 'stored', copy: null })
    return ways
  }

  /** Where a message stands for an agent: unread if any way is, else open if any is, its own copy first. */
  #standing(message: PlainMessage, agent: PlainAgent, rest: State[]): State | undefined {
    const states = this.#ways(message, agent).map(({ state }) => state)
    const first = (among: State[]) => states.find((state) => among.includes(state))
    return first(unread) ?? first(open) ?? first(rest)
  }

  /** Mail that nobody has seen when its life ends has expired; that of a frozen agent waits. */
  #stateNow(copy: Copy): State {
    const waits = this.agents.get(copy.owner)?.state === 'frozen'
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
      const { groupState: state, groupMarks: marks } = message
      const tries = state === 'stored' ? { attempts: 0, repeats: 0 } : {}
      return [...message.groups].sort().map((recipient) => ({ recipient, state, marks, ...tries }))
    }
    return [...message.copies.values()].sort(byOwner).map(({ owner, state, claimedBy, ...copy }) => ({
      ...{ recipient: owner, state, marks: copy.marks },
      ...(claimedBy === null ? {} : { claimedBy }),
      ...(unread.includes(state) || open.includes(state)
        ? { attempts: copy.attempts, repeats: copy.repeats }
        : {}),
    }))
  }

  /** A group's mail that somebody has read is none. */
  deadLetters(): string[] {
    return this.messages.flatMap(({ number, copies, groups, groupState }) => [
      ...[...copies.values()]
        .filter(({ state }) => state === 'dead' || state === 'expired')
        .map(({ owner }) => letterOf(number, owner)),
      ...(groupState === 'expired' && ![...copies.values()].some(hasRead)
        ? [...groups].map((group) => letterOf(number, group))
        : []),
    ])
  }

  thread(number: number): number[] {
    const { threadOf } = this.messages[number]!
    return this.messages.filter((message) => message.threadOf === threadOf).map((message) => message.number)
  }

  // Handling

  claim(name: string, number: number, ttlMs = claimMs): void {
    this.#comeIn(name)
    this.step(name, 'claimed', number, ttlMs)
  }

  step(
    name: string,
    step: Step,
    number: number,
    ttlMs = claimMs,
    isMeant: (way: { copy: Copy | null }) => boolean = () => true,
  ): void {
    const agent = this.agents.get(name)!
    const message = this.messages[number]!
    const ways = this.#ways(message, agent).filter(isMeant)
    if (ways.length === 0) {
      const isRoles = [...message.copies.keys()].some(
        (owner) => agent.roles.has(owner.replace('role:', '')) && owner.startsWith('role:'),
      )
      const known = isRoles || this.#reachesAsGroup(message, agent)
      throw new Refused(known ? 'conflict' : 'not_permitted', 'it is not for this agent any more, or at all')
    }
    // Whoever had it finishes or gives back nothing that another has had since.
    const own = message.claims.get(name) ?? Number.POSITIVE_INFINITY
    const isPast = (copy: Copy | null) => copy !== null && copy.lastClaim > own
    if (ending.includes(step) && ways.every(({ copy }) => isPast(copy)))
      throw new Refused('conflict', 'somebody else has had it since')
    const { from, already } = ladder[step]
    const allowed = ways
      .filter(({ copy }) => !ending.includes(step) || !isPast(copy))
      .filter(({ state }) => [...from, ...already].includes(state))
    if (allowed.length === 0) throw new Refused('conflict', 'its state does not allow that')
    const lost: Copy[] = []
    for (const { state, copy } of allowed) {
      const renews = step === 'claimed' && copy?.claimedBy === name
      if (renews) copy.claimUntil = isSteady(copy) ? null : this.now + ttlMs
      const moves = from.includes(state)
      if (
        moves &&
        this.#move(copy ?? this.#copy(message, name, { quiet: true, viaGroup: true }), name, step, ttlMs)
      )
        lost.push(copy!)
      if (moves || renews) this.#sees(name)
    }
    this.#bounce(lost.map((copy) => ({ message, owner: copy.owner })))
  }

  /** True when that was one attempt too many. */
  #move(copy: Copy, name: string, step: Step, ttlMs: number): boolean {
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
    const isClaim = step === 'claimed' || copy.claimUntil !== null || copy.message.requiresAck
    copy.state = ladder[step].to
    copy.seen ||= copy.state !== 'stored'
    copy.ackBy = copy.state === 'shown' ? this.#ackBy(copy) : null
    if (isRole) {
      copy.claimedBy = gives ? null : name
      if (!underWay.includes(copy.state) || !isClaim || isSteady(copy)) copy.claimUntil = null
      else if (takes || copy.claimUntil === null || step === 'claimed')
        copy.claimUntil = this.now + (step === 'claimed' ? ttlMs : readMs)
    }
    if (step !== 'failed' || copy.failures < this.settings.maxAttempts) return false
    copy.state = 'dead'
    copy.wornOut = true
    copy.marks.push('dead')
    return true
  }

  /** Shown for the first time, the chain of those who are told begins anew; told to all, it is over. */
  #ackBy(copy: Copy): number | null {
    const { ackTimeoutMs } = this.settings
    if (!copy.message.requiresAck || ackTimeoutMs === 0) return null
    if (copy.repeats === 0) copy.level = 0
    return copy.level === 2 ? null : this.now + ackTimeoutMs
  }

  /** Whoever looks for its mail is there, and says so if nothing was heard of it for long. */
  #comeIn(name: string): void {
    const agent = this.agents.get(name)!
    const { silentAfterMs } = this.settings
    const isMissed = agent.state === 'dead' || this.now - agent.seenAt > silentAfterMs / 4
    if (silentAfterMs === 0 || name === 'user' || agent.state === 'frozen' || !isMissed) return
    this.#sees(name)
    this.runDue()
  }

  /** Shows the unread, all of it or the first. */
  check(name: string, all: boolean): number[] {
    this.#comeIn(name)
    const shown = this.inbox(name, 'unread')
      .slice(0, all ? undefined : 1)
      .map(({ number }) => number)
    for (const number of shown) this.step(name, 'shown', number)
    return shown
  }

  read(name: string, number: number): State | undefined {
    const agent = this.agents.get(name)!
    const message = this.messages[number]!
    const over: State[] = [...finished, 'dead', 'expired', 'withdrawn']
    if (this.#standing(message, agent, over) === 'stored') this.step(name, 'shown', number)
    return this.#standing(message, agent, over)
  }

  claimNext(name: string, role: string, ttlMs = claimMs): number | null {
    this.#comeIn(name)
    if (!this.agents.get(name)!.roles.has(role))
      throw new Refused('not_permitted', 'it does not hold the role')
    const next = this.messages
      .filter(({ copies }) => {
        const copy = copies.get(`role:${role}`)
        return copy !== undefined && this.#isFree(copy, this.agents.get(name)!)
      })
      .sort((a, b) => b.rank - a.rank || a.number - b.number)[0]
    if (next === undefined) return null
    this.step(name, 'claimed', next.number, ttlMs)
    return next.number
  }

  withdraw(name: string, number: number): void {
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
    for (const copy of copies) {
      copy.state = 'withdrawn'
      copy.ackBy = null
    }
    message.groupState = 'withdrawn'
    return true
  }

  // What happens by itself

  /** Does what is due, until nothing is. */
  runDue(): void {
    const { order } = this
    let done: { changed: boolean; notices: Notice[] }
    do {
      done = this.#tendOnce()
      for (const notice of done.notices.sort((a, b) => order.indexOf(a.text) - order.indexOf(b.text)))
        this.#tell(notice)
    } while (done.changed)
  }

  /** Each copy changes at most once at a time: the first thing that is due with it happens. */
  #tendOnce(): { changed: boolean; notices: Notice[] } {
    const { now, settings } = this
    const touched = new Set<Copy>()
    // Who leads, and what was read, is asked before anything is found out.
    const lead = settings.leads.find((role) =>
      [...this.agents.values()].some(({ state, roles }) => state !== 'dead' && roles.has(role)),
    )
    const served = new Set(this.messages.filter(({ copies }) => [...copies.values()].some(hasRead)))
    const lost: Lost[] = []
    const notices: Notice[] = []
    let changed = false
    const copies = this.#allCopies()
    const each = (isDue: (copy: Copy) => boolean, act: (copy: Copy) => void) => {
      for (const copy of copies) {
        if (touched.has(copy) || !isDue(copy)) continue
        touched.add(copy)
        act(copy)
      }
    }
    const lose = (state: 'dead' | 'expired') => (copy: Copy) => {
      copy.state = state
      copy.claimUntil = copy.ackBy = null
      copy.marks.push(state)
      lost.push(copy)
    }
    const giveBack = (copy: Copy) => this.#giveBack(copy)
    const escalate = (copy: Copy, why: string) => {
      const notice = this.#escalation(copy, lead, why)
      copy.marks.push('escalated')
      copy.level = notice?.to === 'user' || notice === null ? 2 : 1
      if (notice !== null) notices.push(notice)
    }
    for (const agent of this.agents.values()) {
      if (agent.state === 'dead' && agent.gone === 'silent' && agent.seenAt > agent.goneAt) {
        agent.state = 'alive'
        this.#revive(agent.name)
        changed = true
        continue
      }
      const isSilent = settings.silentAfterMs > 0 && now - agent.seenAt > settings.silentAfterMs
      if (agent.state !== 'alive' || agent.name === 'user' || !isSilent) continue
      Object.assign(agent, { state: 'dead', gone: 'silent', goneAt: now })
      changed = true
    }
    const isDead = (name: string | null) => name !== null && this.agents.get(name)?.state === 'dead'
    each((copy) => isUnfinished(copy) && isDead(copy.claimedBy) && copy.state !== 'failed', giveBack)
    const isMissed = (name: string) => {
      const { gone, goneAt } = this.agents.get(name)!
      return gone === 'left' || now - goneAt >= settings.deadLetterAfterMs
    }
    const isOrphan = (copy: Copy) => isGoing(copy) && isDead(copy.owner) && isMissed(copy.owner)
    // What was read and asked for nothing has arrived; what went to a group has reached others. A request
    // to shut down (`bound`) asks for an answer, and nobody answers here.
    const hasArrived = ({ viaGroup, state, message }: Copy) =>
      viaGroup || (state === 'shown' && !message.requiresAck && !message.bound)
    each(
      (copy) => isOrphan(copy) && hasArrived(copy),
      (copy) => Object.assign(copy, { state: 'archived', ackBy: null, seen: true }),
    )
    each(isOrphan, lose('dead'))
    each((copy) => isGoing(copy) && copy.claimUntil !== null && copy.claimUntil <= now, giveBack)
    each(
      (copy) =>
        isUnfinished(copy) &&
        copy.message.generation !== null &&
        copy.message.generation < this.agents.get(copy.owner)!.generation,
      lose('dead'),
    )
    each((copy) => copy.state === 'stored' && this.#stateNow(copy) === 'expired', lose('expired'))
    for (const message of this.messages) {
      if (message.groupState !== 'stored' || message.groups.size === 0 || !this.#isOver(message)) continue
      message.groupState = 'expired'
      message.groupMarks.push('expired')
      changed = true
      if (!served.has(message)) for (const owner of message.groups) lost.push({ message, owner })
    }
    each(
      (copy) => isUnfinished(copy) && copy.ackBy !== null && copy.ackBy <= now,
      (copy) => {
        if (copy.repeats < settings.ackRepeats) {
          copy.state = 'stored'
          copy.ackBy = now + settings.ackTimeoutMs
          copy.repeats++
          copy.marks.push('repeated')
        } else {
          escalate(copy, 'no ack came')
          copy.ackBy = copy.level === 2 ? null : now + settings.ackTimeoutMs
        }
      },
    )
    const isIgnored = (copy: Copy) => copy.state === 'stored' && copy.repeats === 0 && !copy.quiet
    const isOld = ({ message }: Copy, ms: number) => ms > 0 && message.createdAt + ms <= now
    const isUrgent = ({ message }: Copy) => message.rank === urgentRank && settings.urgentAfterMs > 0
    each(
      (copy) =>
        isIgnored(copy) &&
        isUrgent(copy) &&
        copy.level < 2 &&
        isOld(copy, settings.urgentAfterMs * (copy.level + 1)),
      (copy) => escalate(copy, 'urgent and unread'),
    )
    each(
      (copy) => isIgnored(copy) && !isUrgent(copy) && copy.level === 0 && isOld(copy, settings.staleAfterMs),
      (copy) => {
        copy.quiet = true
        copy.marks.push('stale')
      },
    )
    // Nobody is told any more of what was sent to somebody else.
    each(
      (copy) => copy.state === 'stored' && this.#isMoot(copy.message),
      (copy) => {
        copy.state = 'withdrawn'
      },
    )
    return {
      changed: changed || touched.size > 0,
      notices: [...this.#bounces(lost), ...notices],
    }
  }

  #isMoot = ({ number }: PlainMessage): boolean =>
    this.#told.get(number)?.every(({ message, owner }) => {
      const state = message.copies.get(owner)?.state ?? message.groupState
      return state !== 'dead' && state !== 'expired'
    }) ?? false

  /** Agent, lead, person: who is told next. Behind the person there is nobody. */
  #escalation({ message, owner, level }: Copy, lead: string | undefined, why: string): Notice | null {
    if (owner === 'user') return null
    const { leads } = this.settings
    const agent = this.agents.get(owner)
    const isLeads = agent === undefined ? leads.some((role) => owner === `role:${role}`) : this.#isLead(agent)
    const to = level === 0 && lead !== undefined && !isLeads ? `role:${lead}` : 'user'
    return { to, rank: urgentRank, about: message, text: `${to}: ${why}: ${letterOf(message.number, owner)}` }
  }

  /** Each sender is told once of all its letters that will not arrive; the system is told nothing. */
  #bounces(lost: Lost[]): Notice[] {
    const senders = new Set(lost.map(({ message }) => message.from).filter((from) => from !== 'system'))
    return [...senders].map((to) => {
      const its = lost.filter(({ message }) => message.from === to)
      const letters = its.map(({ message, owner }) => letterOf(message.number, owner)).sort()
      const about = its.length === 1 ? its[0]!.message : undefined
      return { to, rank: 1, about, letters: its, text: `${to}: not delivered: ${letters.join(', ')}` }
    })
  }

  #bounce(lost: Lost[]): void {
    for (const notice of this.#bounces(lost)) this.#tell(notice)
  }

  #tell({ to, rank, about, text, letters = [] }: Notice): void {
    this.notices.push(text)
    const number = this.#post({ from: 'system', to: [to], rank, ttlMs: null }, about?.threadOf)
    this.#told.set(number, letters)
  }
}

type Lost = Pick<Copy, 'message' | 'owner'>

interface Notice {
  to: string
  rank: number
  about: PlainMessage | undefined
  /** What it is about, if it says that mail was not delivered. */
  letters?: Lost[]
  text: string
}

const isUnfinished = ({ state }: Copy) => unread.includes(state) || open.includes(state)

/** What has failed waits for whoever tried, or to be given back. */
const isGoing = ({ state }: Copy) => state === 'stored' || underWay.includes(state)

const hasRead = ({ state }: Copy) => state !== 'stored' && state !== 'dead' && state !== 'expired'

const byOwner = (a: Copy, b: Copy) => (a.owner < b.owner ? -1 : 1)

const isGroup = (address: string) =>
  address === 'all' || (address.includes(':') && !address.startsWith('role:'))

/** Started work lasts, and what only wanted an ack is finished with it. */
const isSteady = ({ state, message }: Copy): boolean =>
  state === 'processing' || (state === 'acked' && message.requiresAck)

function defaultLife(address: string): number | null {
  if (address.startsWith('role:') || address === 'user') return null
  return address === 'all' || address.startsWith('broadcast:') ? 4 * hour : 24 * hour
}
