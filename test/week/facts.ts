import type { StoredMessage } from '../../src/mod.ts'
import type { Team } from './presence.ts'

/**
 * What has really happened to every piece of mail, kept by those who did it: who was shown its text, who answered,
 * who did the work. Nothing here is taken from the library but the messages themselves; the rules are those of the
 * table of settling (docs/settling.md), written down once more.
 */

type Kind = 'question' | 'status' | 'plan' | 'shutdown' | 'task'

const kinds: Readonly<Record<string, Kind>> = {
  help_request: 'question',
  status_request: 'status',
  plan_submission: 'plan',
  shutdown_request: 'shutdown',
  task_assignment: 'task',
  handoff: 'task',
  fix_ci_failure: 'task',
  fix_review_comments: 'task',
}

/** Whoever reads it may have it only for one run of its recipient. */
const boundTypes = ['shutdown_request', 'plan_approval']

type Outcome = 'answered' | 'approved' | 'rejected' | 'accepted' | 'done' | 'failed' | 'closed' | 'void'

/** What somebody waits for. */
export interface Matter {
  kind: Kind
  asker: string
  state: 'open' | 'deferred' | Outcome
  settledAt?: number
  by?: string
  /** The message that said so, if it was one. */
  via?: string
  /** Whoever settled it by handling it said something about it. */
  hasNote?: boolean
  /** What those who waited were shown about it, from others than the system. */
  told: { id: string; from: string; at: number }[]
}

/** The letter of one agent, or of a role. */
export interface Copy {
  owner: string
  /** Since when it is there to be read. */
  freeSince: number
  readers: { by: string; at: number; run: number }[]
  /** Who has it in hand, of those who hold the role. */
  holder?: { name: string; since: number; isStarted: boolean } | undefined
  /** Its owner, or whoever has it in hand, has begun to work on it. */
  isStarted: boolean
  /** How often somebody said that it failed. */
  failures: number
  isAcked: boolean
  /** Nothing more is asked of its owner. */
  isSettled: boolean
}

export interface Letter {
  id: string
  /** Its name in the trace. */
  label: string
  message: StoredMessage
  from: string
  at: number
  kind: Kind | undefined
  /** Urgent by its sender's own word, and no answer. */
  isUrgent: boolean
  requiresAck: boolean
  deadline: number | undefined
  taskId: string | undefined
  /** The run of the recipient that it is for, where it is for one only. */
  run: number | undefined
  role: string | undefined
  /** Whom a group reached when it was sent. */
  members: string[]
  copies: Map<string, Copy>
  matter: Matter | undefined
  isWithdrawn: boolean
  /** Notices about it that were read, and by whom. */
  noticed: { by: string; claim: string; at: number }[]
}

const payloadOf = ({ payload }: StoredMessage): Record<string, unknown> =>
  typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>) : {}
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

export const isGroup = (address: string): boolean =>
  address === 'all' || (address.includes(':') && !address.startsWith('role:'))

export type Act = 'ack' | 'start' | 'done' | 'fail' | 'release' | 'archive'

export class Facts {
  readonly letters = new Map<string, Letter>()
  readonly team: Team
  readonly #now: () => number

  constructor(team: Team, now: () => number) {
    this.team = team
    this.#now = now
  }

  /** A message of an agent or the person, as it stands in the journal. What it settles is settled with it. */
  sent(message: StoredMessage): Letter {
    const { id, from, to, type, awaitingResponse, requiresAck, priority, replyTo } = message
    const payload = payloadOf(message)
    const now = this.#now()
    const kind = kinds[type] ?? (awaitingResponse ? 'question' : undefined)
    const within = payload['withinMs']
    const groups = to.filter(isGroup)
    const [only] = to
    const letter: Letter = {
      ...{ id, message, from, at: now, kind, requiresAck },
      label: `#${this.letters.size + 1}`,
      isUrgent: priority === 'urgent' && replyTo === undefined,
      deadline: typeof within === 'number' ? now + within : undefined,
      taskId: kind === 'task' ? (textOf(payload['taskId']) ?? id) : undefined,
      run: boundTypes.includes(type) && only !== undefined ? this.team.of(only)?.run : undefined,
      role: to.find((one) => one.startsWith('role:')),
      members: groups.flatMap((group) => this.team.membersOf(group)).filter((name) => name !== from),
      copies: new Map(),
      matter: kind === undefined ? undefined : { kind, asker: from, state: 'open', told: [] },
      isWithdrawn: false,
      noticed: [],
    }
    this.letters.set(id, letter)
    for (const address of to) if (!isGroup(address)) this.#copy(letter, address)
    for (const name of letter.members) this.#copy(letter, name)
    this.#settleBy(letter)
    return letter
  }

  #copy(letter: Letter, owner: string): Copy {
    const copy: Copy = {
      ...{ owner, freeSince: letter.at, readers: [], failures: 0 },
      ...{ isStarted: false, isAcked: false, isSettled: false },
    }
    letter.copies.set(owner, copy)
    return copy
  }

  /** The copy that an agent can read: its own, or that of a role it holds. */
  copyOf({ copies, role }: Letter, name: string): Copy | undefined {
    const isHeld = role !== undefined && this.team.holds(name, role)
    return copies.get(name) ?? (isHeld ? copies.get(role) : undefined)
  }

  /** The copy with which somebody acts. The person may act for anybody. */
  copyFor(letter: Letter, name: string): Copy | undefined {
    const own = this.copyOf(letter, name)
    return own ?? (name === 'user' ? [...letter.copies.values()][0] : undefined)
  }

  #settleBy(reply: Letter): void {
    const { message, from } = reply
    const payload = payloadOf(message)
    const request = message.replyTo === undefined ? undefined : this.letters.get(message.replyTo)
    if (request !== undefined && request.from !== from) {
      const copy = this.copyFor(request, from)
      if (copy !== undefined && message.to.includes(request.from)) this.#answer(request, copy, reply)
    }
    const key = textOf(payload['taskId'])
    const word = payload['status']
    if (message.type !== 'status_update' || key === undefined) return
    for (const task of this.letters.values()) {
      if (task.taskId !== key || task.matter?.state !== 'open') continue
      const copy = this.copyFor(task, from)
      if (copy === undefined || (copy.holder !== undefined && copy.holder.name !== from)) continue
      if (word === 'completed' || word === 'failed')
        this.#settle(task, copy, word === 'completed' ? 'done' : 'failed', from, message.id)
    }
  }

  /** A reply counts as read and as an ack; it answers a question; a verdict needs its own type. */
  #answer(request: Letter, copy: Copy, reply: Letter): void {
    const { message, from } = reply
    const payload = payloadOf(message)
    if (copy.readers.length === 0) this.#reads(copy, from)
    copy.isAcked = true
    const { kind, matter } = request
    const isOpen = matter?.state === 'open' || matter?.state === 'deferred'
    const settle = (outcome: Outcome) => this.#settle(request, copy, outcome, from, message.id)
    if (isOpen && message.type !== 'ack' && (kind === 'question' || kind === 'status')) settle('answered')
    if (isOpen && message.type === 'plan_approval')
      settle(payload['approved'] === true ? 'approved' : 'rejected')
    if (isOpen && message.type === 'shutdown_response') {
      if (payload['accepted'] === true) settle('accepted')
      else matter.state = 'deferred'
    }
    if (matter === undefined) this.#finish(request, copy, from)
  }

  #settle({ matter, copies, members }: Letter, copy: Copy, state: Outcome, by: string, via?: string): void {
    if (matter === undefined) return
    Object.assign(matter, { state, settledAt: this.#now(), by }, via === undefined ? {} : { via })
    copy.isAcked = true
    copy.isSettled = true
    // One answer is enough, so nobody else is shown it as new; but in a group each member has to ack it.
    for (const each of copies.values()) each.isSettled = true
    if (members.length > 0) return
    for (const each of copies.values()) each.isAcked = true
  }

  /** Nothing more is asked of this copy; what the person does counts for its owner. */
  #finish(letter: Letter, copy: Copy, by: string): void {
    const all = by === 'user' && letter.copies.get('user') === undefined ? letter.copies.values() : [copy]
    for (const each of all) each.isSettled = true
  }

  #reads(copy: Copy, by: string): void {
    copy.readers.push({ by, at: this.#now(), run: this.team.of(by)?.run ?? 0 })
  }

  /** The text was put into somebody's context. */
  shown(letter: Letter, by: string): void {
    const now = this.#now()
    const copy = this.copyOf(letter, by) ?? this.#copy(letter, by)
    this.#reads(copy, by)
    const asksNothing = letter.kind === undefined && !letter.requiresAck
    if (asksNothing) copy.isSettled = true
    else if (copy.owner !== by && !copy.isSettled)
      copy.holder = { name: by, since: now, isStarted: copy.holder?.name === by && copy.holder.isStarted }
    this.#tell(letter, by)
  }

  /** Whoever asked has now been told something about it. */
  #tell({ message, from, id }: Letter, by: string): void {
    const told = { id, from, at: this.#now() }
    const asked = message.replyTo === undefined ? undefined : this.letters.get(message.replyTo)
    if (asked?.matter?.asker === by && from !== by) asked.matter.told.push(told)
    const key = message.type === 'status_update' ? textOf(payloadOf(message)['taskId']) : undefined
    if (key === undefined) return
    for (const task of this.letters.values())
      if (task !== asked && task.taskId === key && task.matter?.asker === by) task.matter.told.push(told)
  }

  acted(act: Act, letter: Letter, by: string, hasNote = false): void {
    const copy = this.copyFor(letter, by)
    if (copy === undefined) return
    const now = this.#now()
    if (act === 'release') {
      this.#giveBack(copy, now)
      return
    }
    if (copy.readers.length === 0) this.#reads(copy, by)
    copy.isAcked = true
    if (act === 'start') {
      copy.isStarted = true
      if (copy.owner !== by) copy.holder = { name: by, since: now, isStarted: true }
      return
    }
    if (act === 'ack') {
      if (letter.matter === undefined) this.#finish(letter, copy, by)
      return
    }
    if (act === 'fail') copy.failures++
    const isTask = letter.kind === 'task'
    const outcome: Outcome =
      act === 'done' ? (isTask ? 'done' : 'closed') : isTask || act === 'fail' ? 'failed' : 'closed'
    const { matter } = letter
    // That one of a group does not know leaves the question to the others.
    const isOthers = letter.members.length > 0 && act !== 'done'
    if (!isOthers && (matter?.state === 'open' || matter?.state === 'deferred')) {
      this.#settle(letter, copy, outcome, by)
      matter.hasNote = hasNote
    }
    this.#finish(letter, copy, by)
  }

  /** It waits for somebody again, who then has to ack it anew. */
  #giveBack(copy: Copy, since: number): void {
    copy.holder = undefined
    copy.isStarted = false
    copy.isAcked = false
    copy.freeSince = since
  }

  withdrawn(letter: Letter): void {
    letter.isWithdrawn = true
    for (const copy of letter.copies.values()) copy.isSettled = true
    if (letter.matter !== undefined) letter.matter.state = 'void'
  }

  /**
   * Whether somebody who is there has it, and nothing but time has passed: a claim that was started lasts while its
   * holder works, another one for its lease.
   */
  isInHand({ holder }: Copy, leaseMs: number): boolean {
    if (holder === undefined || !this.team.isPresent(holder.name)) return false
    const { hasProcess, lastActive } = this.team.get(holder.name)
    const now = this.#now()
    if (!holder.isStarted) return now - holder.since < leaseMs
    return hasProcess || now - lastActive < leaseMs
  }

  /**
   * Somebody whose process nobody can see did nothing for longer than a lease: what it had begun for a role may be
   * with others by now, or not.
   */
  mayHaveLapsed(name: string, leaseMs: number): void {
    const { hasProcess, lastActive } = this.team.get(name)
    if (hasProcess || this.#now() - lastActive < leaseMs) return
    for (const { copies } of this.letters.values())
      for (const copy of copies.values())
        if (copy.holder?.name === name && !copy.isSettled) {
          this.#giveBack(copy, lastActive + leaseMs)
        }
  }

  /** Whoever ends its session, or loses its process, gives back what it had taken for a role. */
  gone(name: string): void {
    for (const { copies } of this.letters.values()) {
      for (const copy of copies.values()) {
        if (copy.holder?.name !== name || copy.isSettled) continue
        if (copy.holder.isStarted) copy.failures++
        this.#giveBack(copy, this.#now())
      }
    }
  }
}
