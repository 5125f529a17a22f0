import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { typeNamed } from '../conversation/type-names.ts'
import type { SendInput } from '../model/fields.ts'
import type { Origin } from '../model/origin.ts'
import { maxLifeMs } from '../model/time.ts'
import { Arrivals } from './arrivals.ts'
import type { CopyFact, Fact, Letter, Link } from './format.ts'
import { History } from './history.ts'
import { inputOf, keyOf, maxRawLength, originOf, threadWord } from './letters.ts'
import { LockHeld, mayPass } from './lock.ts'
import { inOrder } from './order.ts'
import type { Parts } from './parts.ts'
import { settleTheirs } from './states.ts'

/** How many facts are worked on at a time. */
const factsAtOnce = 512

/** The way from the folder into the space. */
export class Incoming {
  readonly #parts: Parts
  /** Files that could not be taken in to their end: they are read again. */
  #held = new Set<string>()
  #arrivals: Arrivals
  /** Copies of this batch that are on their way, by their ids there, with their places in it. */
  readonly #coming = new Map<string, { at: number; done: Promise<unknown> }>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#arrivals = new Arrivals(parts)
  }

  /** Takes in everything that is new. */
  async takeIn(): Promise<void> {
    const { folder, format, isEnding } = this.#parts
    this.#held = new Set()
    this.#arrivals = new Arrivals(this.#parts)
    let batch: Fact[] = []
    const found = format.sorts
      ? inOrder([...format.read(folder)], () => format.read(folder))
      : format.read(folder)
    for (const fact of found) {
      batch.push(fact)
      if (batch.length < factsAtOnce) continue
      await this.#work(batch)
      batch = []
      if (isEnding()) return
    }
    await this.#work([...batch, ...folder.problems])
  }

  async #work(facts: readonly Fact[]): Promise<void> {
    const history = new History(this.#parts)
    await this.#arrivals.joinAll(facts)
    const fresh: CopyFact[] = []
    for (const fact of facts) {
      if (fact.kind !== 'copy' || this.#linkOf(fact) !== undefined) continue
      const isExpired = this.#isExpired(fact)
      if (isExpired) fact.state = 'expired'
      if (isExpired || fact.isPast) history.add(fact)
      else fresh.push(fact)
    }
    await history.bring((fact, problem) => this.#refuse(fact, problem))
    // One after the other for each sender, so that its messages keep their order.
    const bySender = new Map<string, Promise<unknown>>()
    for (const [at, fact] of fresh.entries()) {
      const before = bySender.get(fact.letter.from) ?? Promise.resolve()
      const done = before.then(() => this.#bring(fact))
      bySender.set(fact.letter.from, done)
      this.#coming.set(fact.id, { at, done })
    }
    await Promise.all(bySender.values())
    this.#coming.clear()
    for (const fact of facts) await this.#settleIfPossible(fact)
    this.#setMarks(facts)
  }

  /** What cannot be written there now is found again: its file counts as not read. */
  async #settleIfPossible(fact: Fact): Promise<void> {
    try {
      await this.#settle(fact)
    } catch (error) {
      if (!mayPass(error)) throw error
      const { again, report } = this.#parts
      const { place = '', mark } = fact as Partial<CopyFact>
      if (mark !== undefined) this.#held.add(mark.path)
      again()
      if (!(error instanceof LockHeld)) report({ place, reason: (error as Error).message })
    }
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
  }

  /** What is here need not be read again. */
  #setMarks(facts: readonly Fact[]): void {
    const { memory, dry } = this.#parts
    if (dry) return
    const marks = new Map<string, string>()
    for (const { mark } of facts)
      if (mark !== undefined && !this.#held.has(mark.path)) marks.set(mark.path, mark.stamp)
    memory.together(() => {
      for (const [path, stamp] of marks) memory.setMark(path, stamp)
    })
  }

  /** Whoever is called `user` there may be another here, but an id is one message, unless its copies are told apart. */
  #linkOf({ id, owner, copy }: CopyFact): Link | undefined {
    const { memory } = this.#parts
    return copy === undefined ? memory.link(id, owner) : memory.linkOf(id, owner)
  }

  /** A message to a group has one copy there and a state for each reader. */
  async #linkOfReader(foreign: string, owner: string): Promise<Link | undefined> {
    const link = this.#parts.memory.link(foreign, owner)
    return link === undefined ? undefined : { ...link, owner, state: 'unread' }
  }

  async #bring(fact: CopyFact): Promise<void> {
    const { format, path, folder, memory, tally, lag, dry, again } = this.#parts
    const { id, owner, letter } = fact
    if (this.#held.has(heldKey(fact))) return
    const key = keyOf(format.name, path, fact)
    const origin = originOf(format, path, fact, this.#isExact(fact))
    if (dry) return void tally.brought++
    const input: SendInput = { ...inputOf(fact, owner), key, ...(await this.#whereItBelongs(fact)) }
    const life = this.#lifeOf(letter.expiresAt)
    try {
      const sent = await this.#send(fact, { ...input, ...life }, origin)
      if (!sent.warnings.includes('already sent with this key')) tally.brought++
      lag.note('inMs', folder.stat(fact.place)?.mtimeMs, Date.now())
      memory.setLink({ foreign: id, owner, id: sent.id, place: fact.place, state: 'unread' })
    } catch (error) {
      if (!(error instanceof MailboxError)) throw error
      if (error.code === 'over_limit' && error.limit === 'thread') {
        // It waits for the person, and what its sender says elsewhere does not.
        if (fact.mark !== undefined) this.#held.add(fact.mark.path)
        this.#refuse(fact, error.message)
        again()
      } else if (error.code === 'over_limit' && error.limit !== 'size') {
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

  /** What is refused for its type or its values is still a message: they are kept as they were written. */
  async #send({ letter, raw }: CopyFact, input: SendInput, origin: Origin) {
    const mailbox = this.#parts.space.mailboxInside(letter.from)
    const { type = 'text', payload: _, context: __, ...rest } = input
    const whole = { ...origin, raw }
    const tries: [SendInput, Origin][] = [
      [input, origin],
      ...(type === 'text'
        ? []
        : [
            [
              { ...input, type: 'text' },
              { ...whole, type },
            ] as [SendInput, Origin],
          ]),
      [rest, type === 'text' ? whole : { ...whole, type }],
    ]
    let first: unknown
    for (const [said, from] of tries) {
      try {
        return await mailbox.bring(said, from)
      } catch (error) {
        // A conflict is one of its type: only one plan is open at a time. A limit says nothing about the message.
        const isItself = error instanceof MailboxError && ['invalid', 'conflict'].includes(error.code)
        if (!isItself || raw.length > maxRawLength) throw error
        first ??= error
      }
    }
    throw first
  }

  #lifeOf(expiresAt: string | null | undefined): Pick<SendInput, 'ttlMs' | 'expiresAt'> {
    if (expiresAt === undefined) return {}
    return expiresAt === null || this.#isFar(expiresAt) ? { ttlMs: null } : { expiresAt }
  }

  /** Further away than a message can expire here. */
  #isFar = (expiresAt: string | null | undefined): boolean =>
    typeof expiresAt === 'string' && Date.parse(expiresAt) - this.#parts.space.now() > maxLifeMs

  /** The thread and the message it answers, where both are known. */
  async #whereItBelongs({ id, owner, letter }: CopyFact): Promise<Pick<SendInput, 'replyTo' | 'threadId'>> {
    const { memory, space } = this.#parts
    const { replyTo, thread = replyTo } = letter
    if (replyTo !== undefined && replyTo !== id) {
      await this.#waitFor(replyTo, id)
      const parent = memory.link(replyTo, letter.from)
      if (parent !== undefined) return { replyTo: parent.id }
    }
    const asked = replyTo === undefined ? await this.#askedFor(letter, owner) : undefined
    if (asked !== undefined) return { replyTo: asked }
    const root = thread === undefined ? undefined : memory.link(thread, letter.from)
    const known = root === undefined ? undefined : (await space.show(root.id)).message.threadId
    return given({ threadId: known ?? threadWord(thread ?? id) })
  }

  /**
   * Waits for a message of the same batch that stands before another in it. One that answers what comes later waits
   * for nothing: whoever wrote them could make the two wait for each other.
   */
  async #waitFor(first: string, second: string): Promise<void> {
    const [earlier, later] = [this.#coming.get(first), this.#coming.get(second)]
    if (earlier !== undefined && later !== undefined && earlier.at < later.at) await earlier.done
  }

  /** A verdict that does not say what it is about is about what its recipient asked for last. */
  async #askedFor({ type = '', from }: Letter, owner: string): Promise<string | undefined> {
    const kind = answeredBy[type.toLowerCase().replaceAll('_', '')]
    if (kind === undefined) return undefined
    const owed = await this.#parts.space.owed({ by: from, to: owner, kind })
    return owed.at(-1)?.id
  }

  /** Whether the message could be written there again, byte for byte, from what is kept of it. */
  #isExact(fact: CopyFact): boolean {
    const { format, folder } = this.#parts
    const { from, at = '', expiresAt, replyTo, thread } = fact.letter
    if (replyTo !== undefined || thread !== undefined || this.#isFar(expiresAt)) return false
    const { to: _, ...input } = inputOf(fact, fact.owner)
    const kept = { ...input, from, at, expiresAt, type: typeNamed(input.type ?? 'text') } as Letter & {
      at: string
    }
    const outgoing = { id: fact.id, owner: fact.owner, isGroup: false, mayBeThere: false, letter: kept }
    return format.render(folder, outgoing) === fact.raw
  }
}

/** What is open until a message of a type comes, by the type without its underscores. */
const answeredBy: Record<string, 'plan' | 'shutdown'> = {
  planapproval: 'plan',
  shutdownresponse: 'shutdown',
}

const heldKey = ({ letter }: CopyFact): string => `sender ${letter.from}`

/** What a message is refused for. Anything else is about the space, and ends the run. */
const refusals: readonly string[] = [
  ...['invalid', 'over_limit', 'not_permitted', 'conflict', 'unknown_recipient', 'not_found'],
]
