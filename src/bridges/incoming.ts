import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { parseAddress } from '../model/address.ts'
import { person } from '../model/agent.ts'
import type { SendInput } from '../model/fields.ts'
import type { Origin } from '../model/origin.ts'
import type { AgentFact, CopyFact, Fact, Link } from './format.ts'
import { History } from './history.ts'
import { inputOf, keyOf, originOf, senderName, threadWord } from './letters.ts'
import type { Parts } from './parts.ts'
import { settleTheirs } from './states.ts'

/** How many facts are worked on at a time. */
const factsAtOnce = 512

/** The way from the folder into the space. */
export class Incoming {
  readonly #parts: Parts
  /** Files that could not be taken in to their end: they are read again. */
  #held = new Set<string>()
  #known: Set<string> | undefined
  /** Copies of this batch that are on their way, by their ids there. */
  readonly #coming = new Map<string, Promise<unknown>>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Takes in everything that is new. */
  async takeIn(): Promise<void> {
    const { folder, format } = this.#parts
    this.#held = new Set()
    this.#known = undefined
    let batch: Fact[] = []
    for (const fact of inOrder([...format.read(folder)], () => format.read(folder))) {
      batch.push(fact)
      if (batch.length < factsAtOnce) continue
      await this.#work(batch)
      batch = []
    }
    await this.#work([...batch, ...folder.problems])
  }

  async #work(facts: readonly Fact[]): Promise<void> {
    const history = new History(this.#parts)
    await this.#joinAll(facts)
    // One after the other for each sender, so that its messages keep their order.
    const bySender = new Map<string, Promise<unknown>>()
    for (const fact of facts) {
      if (fact.kind !== 'copy' || this.#linkOf(fact) !== undefined) continue
      const isExpired = this.#isExpired(fact)
      if (isExpired) fact.state = 'expired'
      if (isExpired || fact.isPast) {
        history.add(fact)
        continue
      }
      const before = bySender.get(fact.letter.from) ?? Promise.resolve()
      const sent = before.then(() => this.#bring(fact))
      bySender.set(fact.letter.from, sent)
      this.#coming.set(fact.id, sent)
    }
    await Promise.all(bySender.values())
    this.#coming.clear()
    await history.bring((fact, problem) => this.#refuse(fact, problem))
    for (const fact of facts) await this.#settle(fact)
  }

  /** What is left of a fact when its message is here. */
  async #settle(fact: Fact): Promise<void> {
    const { memory, report, dry, folder, direction } = this.#parts
    if (fact.kind === 'problem') report(fact)
    if (fact.kind === 'leftover' && !dry && direction !== 'in') folder.remove(fact.place)
    if (fact.kind === 'state') {
      const link = memory.linkOf(fact.id, fact.owner) ?? (await this.#linkOfReader(fact.id, fact.owner))
      if (link !== undefined) await settleTheirs(this.#parts, link, fact.state, fact.reason)
    }
    if (fact.kind === 'copy') {
      const link = this.#linkOf(fact)
      if (link !== undefined && fact.state !== undefined && link.place !== fact.place && !dry) {
        link.place = fact.place
        memory.setLink(link)
      }
      if (link !== undefined && fact.state !== undefined) await settleTheirs(this.#parts, link, fact.state)
    }
    if (fact.mark !== undefined && !this.#held.has(fact.mark.path) && !dry)
      memory.setMark(fact.mark.path, fact.mark.stamp)
  }

  /** Whoever is called `user` there may be another here than the person. */
  #linkOf({ id, owner }: CopyFact): Link | undefined {
    const { memory, format } = this.#parts
    return memory.linkOf(id, owner) ?? memory.linkOf(id, senderName(format.name, owner))
  }

  /** A message to a group has one copy there and a state for each reader. */
  async #linkOfReader(foreign: string, owner: string): Promise<Link | undefined> {
    const link = this.#parts.memory.link(foreign, owner)
    return link === undefined ? undefined : { ...link, owner, state: 'unread' }
  }

  /** Everybody who is named is in the roster, and gets its mail there from now on. */
  async #joinAll(facts: readonly Fact[]): Promise<void> {
    for (const fact of facts) {
      if (fact.kind === 'agent') await this.#meet(fact)
      if (fact.kind !== 'copy') continue
      await this.#join(fact.letter.from)
      if (isAgent(fact.owner) && !fact.isForNobody) await this.#join(fact.owner)
    }
  }

  /** Somebody is there, or is there no more. */
  async #meet({ name, roles, tags, isHere = true }: AgentFact): Promise<void> {
    const { space, dry } = this.#parts
    const known = space.core.agents.get(name)
    const isOurs = known?.session.client === 'bridge' && !dry
    const isAway = known?.state === 'frozen' || known?.state === 'dead'
    if (isHere && isOurs && isAway) await space.join(name, { session: { client: 'bridge' } })
    if (isHere) await this.#join(name, roles, tags)
    else if (isOurs && !isAway) await space.leave(name, { frozen: true })
  }

  readonly #joined = new Set<string>()

  async #join(name: string, roles?: readonly string[], tags?: readonly string[]): Promise<void> {
    const { space, memory, format, path, tally, dry, report, arrived } = this.#parts
    const isPlain = roles === undefined && tags === undefined
    if (name === person || (isPlain && this.#joined.has(name))) return
    this.#known ??= new Set((await space.agents()).map((agent) => agent.name))
    try {
      if (!this.#known.has(name)) {
        tally.agents++
        if (dry) return void this.#joined.add(name)
        const note = `in ${format.name} ${path}`.slice(0, 200)
        const joined = { ...given({ roles, tags }), session: { client: 'bridge' }, note }
        await space.join(name, joined)
        this.#known.add(name)
      } else if (!isPlain && !dry) await this.#updateTags(name, roles ?? [], tags ?? [])
      this.#joined.add(name)
      if (!dry && memory.addAgent(name)) arrived(name)
    } catch (error) {
      if (!(error instanceof MailboxError)) throw error
      report({ place: name, reason: `cannot join: ${error.message}` })
    }
  }

  /** Tags that the other side has and this one does not. What is only here stays. */
  async #updateTags(name: string, roles: readonly string[], tags: readonly string[]): Promise<void> {
    const agent = this.#parts.space.core.agents.get(name)
    if (agent === undefined) return
    const addTags = tags.filter((tag) => !agent.tags.includes(tag))
    const addRoles = roles.filter((role) => !agent.roles.includes(role))
    if (addTags.length + addRoles.length > 0) await this.#parts.space.update(name, { addTags, addRoles })
  }

  async #bring(fact: CopyFact): Promise<void> {
    const { format, path, memory, tally, dry, again } = this.#parts
    const { id, owner, letter } = fact
    if (this.#held.has(heldKey(fact))) return
    const key = keyOf(format.name, path, id, owner)
    const origin = originOf(format, path, fact, this.#isExact(fact))
    if (dry) return void tally.brought++
    const input: SendInput = { ...inputOf(fact, owner), key, ...(await this.#whereItBelongs(fact)) }
    const life = this.#lifeOf(letter.expiresAt)
    try {
      const sent = await this.#send(letter.from, { ...input, ...life }, origin)
      if (!sent.warnings.includes('already sent with this key')) tally.brought++
      memory.setLink({ foreign: id, owner, id: sent.id, place: fact.place, state: 'unread' })
    } catch (error) {
      if (!(error instanceof MailboxError)) throw error
      if (error.code === 'over_limit' && error.limit !== 'size') {
        // The rest of this sender's mail waits with it, in order.
        this.#hold(fact)
        again()
      } else if (refusals.includes(error.code)) this.#refuse(fact, error.message)
      else throw error
    }
  }

  /** Its time was over before it was brought here. */
  #isExpired({ letter: { expiresAt }, state = 'unread' }: CopyFact): boolean {
    return (
      state === 'unread' && typeof expiresAt === 'string' && Date.parse(expiresAt) <= this.#parts.space.now()
    )
  }

  #hold(fact: CopyFact): void {
    this.#held.add(heldKey(fact))
    if (fact.mark !== undefined) this.#held.add(fact.mark.path)
  }

  #refuse({ place, line }: CopyFact, reason: string): void {
    this.#parts.report({ place, ...given({ line }), reason })
  }

  /** A typed message that the conversations refuse is still a message. */
  async #send(from: string, input: SendInput, origin: Origin) {
    const mailbox = this.#parts.space.mailboxInside(from)
    try {
      return await mailbox.bring(input, origin)
    } catch (error) {
      const isTyped = input.type !== undefined && input.type !== 'text'
      if (!(error instanceof MailboxError) || !refusals.includes(error.code) || !isTyped) throw error
      const { type, ...plain } = input
      try {
        return await mailbox.bring(plain, { ...origin, type: type! })
      } catch {
        throw error
      }
    }
  }

  #lifeOf(expiresAt: string | null | undefined): Pick<SendInput, 'ttlMs' | 'expiresAt'> {
    if (expiresAt === undefined) return {}
    return expiresAt === null ? { ttlMs: null } : { expiresAt }
  }

  /** The thread and the message it answers, where both are known. */
  async #whereItBelongs({ id, letter }: CopyFact): Promise<Pick<SendInput, 'replyTo' | 'threadId'>> {
    const { memory, space } = this.#parts
    const { replyTo, thread = replyTo } = letter
    if (replyTo !== undefined && replyTo !== id) {
      await this.#coming.get(replyTo)
      const parent = memory.link(replyTo, letter.from)
      if (parent !== undefined) return { replyTo: parent.id }
    }
    const root = thread === undefined ? undefined : memory.link(thread, letter.from)
    const known = root === undefined ? undefined : (await space.show(root.id)).message.threadId
    return given({ threadId: known ?? threadWord(thread ?? id) })
  }

  /** Whether the message could be written there again from its fields. */
  #isExact(fact: CopyFact): boolean {
    const { format, folder } = this.#parts
    const at = fact.letter.at ?? ''
    const outgoing = { id: fact.id, owner: fact.owner, isGroup: false, mayBeThere: false }
    return format.render(folder, { ...outgoing, letter: { ...fact.letter, at } }) === fact.raw
  }
}

const heldKey = ({ letter }: CopyFact): string => `sender ${letter.from}`

const isAgent = (owner: string): boolean => {
  try {
    return parseAddress(owner).kind === 'agent'
  } catch {
    return false
  }
}

/** What a message is refused for. Anything else is about the space, and ends the run. */
const refusals: readonly string[] = [
  'invalid',
  'over_limit',
  'not_permitted',
  'conflict',
  'unknown_recipient',
]

/**
 * Where each message is a file of its own, a listing can have a later message of a sender and lack an earlier one that
 * was created meanwhile. A second listing has every message that is older than the newest of the first.
 */
function inOrder(first: Fact[], again: () => Iterable<Fact>): Fact[] {
  const orders = first.flatMap((fact) =>
    fact.kind === 'copy' && fact.order !== undefined ? [fact.order] : [],
  )
  if (orders.length === 0) return first
  const newest = orders.reduce((a, b) => (compare(a, b) < 0 ? b : a))
  const isOlder = (fact: Fact) =>
    fact.kind !== 'copy' || fact.order === undefined || compare(fact.order, newest) <= 0
  return [...again()].filter(isOlder).sort(byOrder)
}

const compare = (a: readonly [string, number], b: readonly [string, number]): number =>
  a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1]

const start = ['', 0] as const
const byOrder = (a: Fact, b: Fact): number =>
  compare(a.kind === 'copy' ? (a.order ?? start) : start, b.kind === 'copy' ? (b.order ?? start) : start)
