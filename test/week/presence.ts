import { hour } from './calendar.ts'

/** Where an agent is, as everybody who could see it would say. */
type State = 'away' | 'present' | 'frozen' | 'crashed' | 'left'

export interface Member {
  readonly name: string
  readonly roles: readonly string[]
  readonly tags: readonly string[]
  state: State
  since: number
  /** Rises with every new run; a session that is resumed goes on. */
  run: number
  /** Its process can be seen. */
  hasProcess: boolean
  lastActive: number
  /** When its process was last killed: what it had read before is forgotten. */
  crashedAt: number
  /** From when until when it was there. */
  readonly times: { from: number; to: number }[]
}

/** Who is in the team, and when each was there. */
export class Team {
  readonly members: readonly Member[]
  /** An agent whose process nobody can see counts as there for so long after it last did something. */
  silentAfterMs = 24 * hour
  readonly #now: () => number

  constructor(members: readonly Pick<Member, 'name' | 'roles' | 'tags'>[], now: () => number) {
    this.#now = now
    this.members = members.map((member) => ({
      ...member,
      ...{ state: 'away', since: now(), run: 0, hasProcess: false, lastActive: now(), times: [] },
      crashedAt: Number.NEGATIVE_INFINITY,
    }))
  }

  of = (name: string): Member | undefined => this.members.find((member) => member.name === name)
  get = (name: string): Member => this.of(name)!

  holds = (name: string, address: string): boolean =>
    this.of(name)?.roles.includes(address.replace('role:', '')) ?? false

  holdersOf = (address: string): Member[] => this.members.filter(({ name }) => this.holds(name, address))

  /** Those in a group who have not left for good. */
  membersOf = (group: string): string[] =>
    this.members
      .filter(({ run, state }) => run > 0 && state !== 'left')
      .filter(({ tags }) => group === 'all' || tags.includes(group.replace('broadcast:', 'swarm:')))
      .map(({ name }) => name)

  isPresent = (name: string): boolean => this.#isThere(name, this.silentAfterMs)

  /** Not even close to being taken for silent: when somebody was last seen is recorded four times in that time. */
  isSurelyPresent = (name: string): boolean => this.#isThere(name, this.silentAfterMs * 0.7)

  #isThere(name: string, silentMs: number): boolean {
    if (name === 'user') return true
    const member = this.of(name)
    if (member?.state !== 'present') return false
    return member.hasProcess || this.#now() - member.lastActive < silentMs
  }

  /** Whether somebody is surely there to whom it is addressed. */
  isAnybodyThere = (address: string): boolean =>
    address.startsWith('role:')
      ? this.holdersOf(address).some(({ name }) => this.isSurelyPresent(name))
      : this.isSurelyPresent(address)

  /** How long an agent, or anybody who holds a role, was there between two times. */
  presentMs(address: string, from: number, to: number): number {
    if (!address.startsWith('role:'))
      return this.#timesOf(address, from, to).reduce((sum, [a, b]) => sum + b - a, 0)
    const spans = this.holdersOf(address)
      .flatMap(({ name }) => this.#timesOf(address === name ? address : name, from, to))
      .sort((a, b) => a[0] - b[0])
    let sum = 0
    let reached = from
    for (const [begin, end] of spans) {
      sum += Math.max(0, end - Math.max(begin, reached))
      reached = Math.max(reached, end)
    }
    return sum
  }

  #timesOf(name: string, from: number, to: number): [number, number][] {
    const member = this.of(name)
    if (member === undefined) return [[from, to]]
    const open = member.state === 'present' ? [{ from: member.since, to: this.#endOf(member) }] : []
    return [...member.times, ...open]
      .map((time): [number, number] => [Math.max(from, time.from), Math.min(to, time.to)])
      .filter(([begin, end]) => end > begin)
  }

  #endOf = ({ hasProcess, lastActive }: Member): number =>
    hasProcess ? Number.POSITIVE_INFINITY : lastActive + this.silentAfterMs

  /** It did something, so it is there. */
  active(name: string): void {
    const member = this.of(name)
    if (member === undefined) return
    const wasThere = this.isPresent(name)
    if (!wasThere) this.#become(member, 'present')
    member.lastActive = this.#now()
  }

  /** A session begins: a new run, or one that was frozen goes on. */
  came(name: string, hasProcess: boolean): void {
    const member = this.get(name)
    if (member.state !== 'frozen') member.run++
    this.#become(member, 'present')
    member.hasProcess = hasProcess
    member.lastActive = this.#now()
  }

  went(name: string, state: 'frozen' | 'crashed' | 'left'): void {
    const member = this.get(name)
    this.#become(member, state)
    member.hasProcess = false
    if (state === 'crashed') member.crashedAt = this.#now()
  }

  #become(member: Member, state: State): void {
    const now = this.#now()
    if (member.state === 'present')
      member.times.push({ from: member.since, to: Math.min(now, this.#endOf(member)) })
    member.state = state
    member.since = now
  }
}
