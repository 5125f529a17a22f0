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

export type Refusal = 'unknown_recipient' | 'not_permitted' | 'conflict'

/** What the specification refuses, with the code it gives. */
export class Refused extends Error {
  readonly code: Refusal
  constructor(code: Refusal, why: string) {
    super(why)
    this.code = code
  }
}

export interface PlainAgent {
  name: string
  state: 'alive' | 'frozen' | 'dead'
  roles: Set<string>
  tags: Set<string>
  generation: number
}

/** One recipient's copy: an agent's, or a role's. */
interface Copy {
  owner: string
  state: State
  /** Who has claimed the copy of a role. */
  claimedBy: string | null
  claimUntil: number
}

interface PlainMessage {
  number: number
  from: string
  to: string[]
  rank: number
  expiresAt: number | null
  exclude: string[]
  groups: Set<string>
  copies: Map<string, Copy>
  withdrawn: boolean
  threadOf: number
}

export interface PlainSend {
  to: string[]
  rank: number
  /** Undefined: by kind of address. Null: for ever. */
  ttlMs?: number | null
  key?: string
  exclude?: string[]
  hold?: boolean
}

export interface Listed {
  number: number
  state: State
}

const minute = 60_000
const hour = 60 * minute
const claimMs = 15 * minute

const unread: State[] = ['stored']
const open: State[] = ['shown', 'acked', 'processing', 'failed']
const finished: State[] = ['completed', 'archived']

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

export class PlainSpace {
  now: number
  readonly agents = new Map<string, PlainAgent>()
  readonly messages: PlainMessage[] = []
  readonly #keys = new Map<string, number>()

  constructor(now: number) {
    this.now = now
    this.agents.set('user', {
      name: 'user',
      state: 'alive',
      roles: new Set(),
      tags: new Set(),
      generation: 0,
    })
  }

  // The roster

  join(name: string, roles?: string[], tags?: string[]): number {
    const before = this.agents.get(name)
    const agent: PlainAgent = {
      name,
      state: 'alive',
      roles: new Set(roles ?? before?.roles),
      tags: new Set(tags ?? before?.tags),
      generation: (before?.generation ?? 0) + 1,
    }
    this.agents.set(name, agent)
    return agent.generation
  }

  update(
    name: string,
    change: { addRoles?: string[]; removeRoles?: string[]; addTags?: string[]; removeTags?: string[] },
  ): void {
    const { roles, tags } = this.agents.get(name)!
    for (const role of change.removeRoles ?? []) roles.delete(role)
    for (const role of change.addRoles ?? []) roles.add(role)
    for (const tag of change.removeTags ?? []) tags.delete(tag)
    for (const tag of change.addTags ?? []) tags.add(tag)
  }

  leave(name: string, frozen: boolean): void {
    if (name === 'user') throw new Refused('not_permitted', 'the person does not leave')
    this.agents.get(name)!.state = frozen ? 'frozen' : 'dead'
  }

  // Sending

  send(from: string, input: PlainSend, threadOf?: number): number {
    const keyed = input.key === undefined ? undefined : this.#keys.get(`${from} ${input.key}`)
    if (keyed !== undefined) return keyed
    const to = [...new Set(input.to.map((written) => this.#resolve(written, input.hold ?? false)))]
    const lives = to.map(defaultLife)
    const life =
      input.ttlMs !== undefined ? input.ttlMs : lives.includes(null) ? null : Math.max(...(lives as number[]))
    const number = this.messages.length
    const message: PlainMessage = {
      number,
      from,
      to,
      rank: input.rank,
      expiresAt: life === null ? null : this.now + life,
      exclude: input.exclude ?? [],
      groups: new Set(),
      copies: new Map(),
      withdrawn: false,
      threadOf: threadOf ?? number,
    }
    for (const address of to) {
      if (address.startsWith('broadcast:')) message.groups.add(address.replace('broadcast:', 'swarm:'))
      else if (isGroup(address)) message.groups.add(address)
      else message.copies.set(address, { owner: address, state: 'stored', claimedBy: null, claimUntil: 0 })
    }
    this.messages.push(message)
    if (input.key !== undefined) this.#keys.set(`${from} ${input.key}`, number)
    return number
  }

  reply(from: string, number: number): number {
    const original = this.messages[number]!
    const to = original.from === from ? original.to : [original.from]
    return this.send(from, { to, rank: original.rank }, original.threadOf)
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

  #isOver = ({ expiresAt }: PlainMessage) => expiresAt !== null && expiresAt <= this.now

  /** The copy of a role whose claim has run out. What has failed stays with whoever tried. */
  #isAbandoned(copy: Copy): boolean {
    const underWay = ['shown', 'acked', 'processing'].includes(copy.state)
    return copy.claimedBy !== null && copy.claimUntil <= this.now && underWay
  }

  /** A copy of a role that this agent could take: nobody has it, or the claim of somebody else has run out. */
  #isFree(copy: Copy, agent: PlainAgent): boolean {
    if (!copy.owner.startsWith('role:') || !agent.roles.has(copy.owner.replace('role:', ''))) return false
    return copy.claimedBy === null || (copy.claimedBy !== agent.name && this.#isAbandoned(copy))
  }

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
      state: copy.state,
      copy: copy as Copy | null,
    }))
    for (const copy of free) ways.push({ state: copy.state === 'withdrawn' ? 'withdrawn' : 'stored', copy })
    if (own === undefined && this.#reachesAsGroup(message, agent)) {
      ways.push({ state: message.withdrawn ? 'withdrawn' : 'stored', copy: null })
    }
    return ways
  }

  /** Where a message stands for an agent: unread if any way is, else open if any is, its own copy first. */
  #standing(message: PlainMessage, agent: PlainAgent): State | undefined {
    const states = this.#ways(message, agent).map(({ state }) => this.#stateNow(message, state))
    const first = (among: State[]) => states.find((state) => among.includes(state))
    return first(unread) ?? first(open) ?? first(finished) ?? states[0]
  }

  /** Mail that nobody has seen when its life ends has expired. */
  #stateNow = (message: PlainMessage, state: State): State =>
    state === 'stored' && this.#isOver(message) ? 'expired' : state

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
        state: this.#standing(message, agent),
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
  receipts(number: number): { recipient: string; state: State; claimedBy?: string }[] {
    const message = this.messages[number]!
    const stateOf = (state: State) => this.#stateNow(message, state)
    const copies = [...message.copies.values()].sort(byOwner)
    if (copies.length === 0) {
      const state = stateOf(message.withdrawn ? 'withdrawn' : 'stored')
      return [...message.groups].sort().map((recipient) => ({ recipient, state }))
    }
    return copies.map(({ owner, state, claimedBy }) => ({
      recipient: owner,
      state: stateOf(state),
      ...(claimedBy === null ? {} : { claimedBy }),
    }))
  }

  thread(number: number): number[] {
    const { threadOf } = this.messages[number]!
    return this.messages.filter((message) => message.threadOf === threadOf).map((message) => message.number)
  }

  // Handling

  step(name: string, step: Step, number: number, ttlMs = claimMs): void {
    const agent = this.agents.get(name)!
    const message = this.messages[number]!
    const ways = this.#ways(message, agent)
    if (ways.length === 0) {
      const taken = [...message.copies.keys()].some(
        (owner) => agent.roles.has(owner.replace('role:', '')) && owner.startsWith('role:'),
      )
      throw new Refused(taken ? 'conflict' : 'not_permitted', 'it is not for this agent')
    }
    const { from, already, to } = ladder[step]
    const allowed = ways.filter(({ state }) => [...from, ...already].includes(this.#stateNow(message, state)))
    if (allowed.length === 0) throw new Refused('conflict', 'its state does not allow that')
    for (const { state, copy } of allowed) {
      if (step === 'claimed' && copy?.claimedBy === name) copy.claimUntil = this.now + ttlMs
      if (from.includes(state)) this.#move(copy ?? this.#ownCopy(message, name), name, to, ttlMs)
    }
  }

  #ownCopy(message: PlainMessage, name: string): Copy {
    const copy: Copy = { owner: name, state: 'stored', claimedBy: null, claimUntil: 0 }
    message.copies.set(name, copy)
    return copy
  }

  #move(copy: Copy, name: string, to: State, ttlMs: number): void {
    // A claim ends with a failure; whoever starts again takes a new one.
    const takes = copy.claimedBy !== name || copy.state === 'failed'
    copy.state = to
    if (!copy.owner.startsWith('role:')) return
    copy.claimedBy = to === 'stored' ? null : name
    if (takes) copy.claimUntil = this.now + ttlMs
  }

  /** Shows the unread, all of it or the first. */
  check(name: string, all: boolean): number[] {
    const shown = this.inbox(name, 'unread')
      .slice(0, all ? undefined : 1)
      .map(({ number }) => number)
    for (const number of shown) this.step(name, 'shown', number)
    return shown
  }

  read(name: string, number: number): State | undefined {
    const agent = this.agents.get(name)!
    const message = this.messages[number]!
    if (this.#standing(message, agent) === 'stored') this.step(name, 'shown', number)
    return this.#standing(message, agent)
  }

  /** Whoever lets a claim run out may be the one who takes it up again. */
  claimNext(name: string, role: string, ttlMs = claimMs): number | null {
    if (!this.agents.get(name)!.roles.has(role))
      throw new Refused('not_permitted', 'it does not hold the role')
    const next = this.messages
      .filter((message) => {
        const copy = message.copies.get(`role:${role}`)
        if (copy === undefined || copy.state === 'withdrawn' || this.#isOver(message)) return false
        return copy.claimedBy === null || this.#isAbandoned(copy)
      })
      .sort((a, b) => b.rank - a.rank || a.number - b.number)[0]
    if (next === undefined) return null
    this.step(name, 'claimed', next.number, ttlMs)
    return next.number
  }

  withdraw(name: string, number: number): void {
    const message = this.messages[number]!
    if (message.from !== name) throw new Refused('not_permitted', 'it is not from this agent')
    const copies = [...message.copies.values()]
    if (message.withdrawn) return
    if (copies.some(({ state }) => state !== 'stored')) throw new Refused('conflict', 'somebody has seen it')
    for (const copy of copies) copy.state = 'withdrawn'
    message.withdrawn = true
  }
}

const byOwner = (a: Copy, b: Copy) => (a.owner < b.owner ? -1 : 1)

const isGroup = (address: string) =>
  address === 'all' || (address.includes(':') && !address.startsWith('role:'))

function defaultLife(address: string): number | null {
  if (address.startsWith('role:')) return null
  return address === 'all' || address.startsWith('broadcast:') ? 4 * hour : 24 * hour
}
