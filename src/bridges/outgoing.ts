import { MailboxError } from '../base/errors.ts'
import { given, isObject } from '../base/objects.ts'
import { boxOf, isAgentBox, isGroupBox } from '../model/address.ts'
import { person } from '../model/agent.ts'
import type { MessageEntry, ReceiptEntry } from '../model/entry.ts'
import type { Message } from '../model/message.ts'
import type { Origin } from '../model/origin.ts'
import { type Encrypted, staysInside, staysInsideReason } from '../model/sealed.ts'
import type { Link } from './format.ts'
import { letterOf } from './letters.ts'
import { LockHeld, mayPass } from './lock.ts'
import { arrivedNote } from './memory.ts'
import { isForNobodyIn } from './nobody.ts'
import type { Parts } from './parts.ts'
import { settleOurs } from './states.ts'

/** How many entries are read before it is noted how far. */
const entriesAtOnce = 256

const cursorNote = 'seq'
/** States that could not be written yet. */
const owedNote = 'owed '

/** The way from the space into the folder. */
export class Outgoing {
  readonly #parts: Parts
  /** The bridge remembers nothing, so anything may have been written before. */
  #isStartingOver: boolean
  /** Recipients for whom something could not be written: what comes after it waits, in order. */
  #blocked = new Set<string>()
  #rosterChanged = true

  constructor(parts: Parts) {
    this.#parts = parts
    this.#isStartingOver = parts.memory.note(cursorNote) === undefined
  }

  /** Writes everything that is new. */
  async takeOut(): Promise<void> {
    const { space, memory, dry, isEnding } = this.#parts
    this.#blocked = new Set()
    if (this.#isStartingOver) await this.#lookWhoIsThere()
    for (const link of memory.unwritten()) await this.#finish(link)
    for (const [rest, text] of memory.notes(owedNote)) await this.#settleOwed(rest, JSON.parse(text) as Link)
    const changed = new Map<string, Link>()
    for (const [name] of memory.notes(arrivedNote)) {
      await this.#offerWaiting(name)
      if (!dry) memory.forgetNote(`${arrivedNote}${name}`)
    }
    let seq = Number(memory.note(cursorNote) ?? 0)
    let read = 0
    const flush = async () => {
      for (const link of changed.values()) await this.#settle(link)
      changed.clear()
      if (!dry) memory.setNote(cursorNote, String(seq))
    }
    const end = await space.lastSeq()
    if (seq < end)
      for await (const { entry } of space.entries(seq)) {
        if (entry.kind === 'message') await this.#offer(entry)
        if (entry.kind === 'receipt') for (const link of this.#touched(entry)) changed.set(keyOf(link), link)
        if (entry.kind === 'agent') this.#rosterChanged = true
        seq = entry.seq
        if (++read % entriesAtOnce === 0) await flush()
        if (seq >= end || isEnding()) break
      }
    await flush()
    if (!dry) memory.setNote(cursorNote, String(seq))
    this.#isStartingOver = false
    await this.#tellRoster()
  }

  async #settle(link: Link): Promise<boolean> {
    const isDone = await this.#guard(link.place, link.owner, () => settleOurs(this.#parts, link))
    if (!isDone) this.#parts.memory.setNote(`${owedNote}${keyOf(link)}`, JSON.stringify(link))
    return isDone
  }

  /** A state that an earlier look could not write. */
  async #settleOwed(rest: string, link: Link): Promise<void> {
    const { memory, dry, direction } = this.#parts
    if (dry || direction === 'in') return
    if (await this.#settle(memory.linkOf(link.foreign, link.owner) ?? link))
      memory.forgetNote(`${owedNote}${rest}`)
  }

  /** Mail that was there before its recipient was known to be in the folder. */
  async #offerWaiting(name: string): Promise<void> {
    const { space, format, path } = this.#parts
    const { messages } = await space.mailboxInside(name).unread()
    for (const message of messages.toSorted((a, b) => a.seq - b.seq)) {
      const origin = originIn(message)
      const isFromThere = origin?.format === format.name && origin.path === path
      if (!isFromThere && message.from !== name && this.#isFor(message, name))
        await this.#offerTo(name, message, message.seq)
    }
  }

  /** Whoever is in the roster and in the folder may have been written to by a run that is forgotten. */
  async #lookWhoIsThere(): Promise<void> {
    const { space, format, folder, memory, dry } = this.#parts
    if (dry) return
    const known = new Set((await space.agents()).map(({ name }) => name))
    for (const fact of format.read(folder)) {
      const names =
        fact.kind === 'agent' ? [fact.name] : fact.kind === 'copy' ? [fact.owner, fact.letter.from] : []
      for (const name of names) if (known.has(name) && name !== person) memory.addAgent(name)
    }
  }

  async #tellRoster(): Promise<void> {
    const { format, folder, space, direction, dry } = this.#parts
    if (!this.#rosterChanged || format.writeRoster === undefined || direction === 'in' || dry) return
    const agents = (await space.agents()).filter(
      ({ name, session }) => name !== person && session.client !== 'bridge',
    )
    const isDone = await this.#guard('roster', '', async () => format.writeRoster!(folder, agents))
    this.#rosterChanged = !isDone
  }

  /** The copies whose state a receipt has changed. */
  #touched({ changes }: ReceiptEntry): Link[] {
    const { memory } = this.#parts
    return changes.flatMap(({ id, owner }) => {
      const links = memory.linksOf(id)
      const own = links.find((link) => link.owner === owner)
      if (own !== undefined) return [own]
      // A reader of a message to a group, which is there once.
      const group = links.find((link) => !isAgentBox(boxOf(link.owner)) && isAgentBox(owner))
      return group === undefined ? [] : [{ ...group, owner, state: 'unread' as const }]
    })
  }

  /** Writes a message for everybody there whom it is for. */
  async #offer({ message, seq }: MessageEntry): Promise<void> {
    const { memory, format, path } = this.#parts
    const origin = originIn(message)
    if (origin?.format === format.name && origin.path === path) return
    const there = memory.agents().filter((name) => name !== person && name !== message.from)
    if (format.hasGroups) for (const to of message.to) await this.#offerToGroup(to, there, message, seq)
    for (const owner of there) if (this.#isFor(message, owner)) await this.#offerTo(owner, message, seq)
  }

  /** One copy for a group or a role, if somebody there belongs to it, or nobody here: it may be for one to come. */
  async #offerToGroup(to: string, there: readonly string[], message: Message, seq: number): Promise<void> {
    const { memory, space, direction } = this.#parts
    if (isAgentBox(boxOf(to)) || direction === 'in') return
    const foreign = this.#foreignId(message, to)
    if (memory.linkOf(foreign, to) !== undefined) return
    const link: Link = { foreign, owner: to, id: message.id, place: '', state: 'unread' }
    if (isForNobodyIn(space.roster, to)) return this.#write(link, message)
    for (const name of there)
      if (space.roster.get(name)?.session.client === 'bridge' && (await this.#reached(name, message, seq)))
        return this.#write(link, message)
  }

  /** Whether a message is for somebody, read or not. */
  async #reached(name: string, message: Message, seq: number): Promise<boolean> {
    const { space } = this.#parts
    if ((await space.mailboxInside(name).peek(seq)) !== null) return true
    const { receipts } = await space.show(message.id)
    return this.#isStartingOver && receipts.some(({ recipient }) => recipient === name)
  }

  /** Whether it may be for somebody by name or as a member of a group. Mail to a role waits here for a claim. */
  #isFor({ to }: Pick<Message, 'to'>, name: string): boolean {
    const { hasGroups = false } = this.#parts.format
    return to.some((address) => address === name || (!hasGroups && isGroupBox(boxOf(address))))
  }

  async #offerTo(owner: string, message: Message & Encrypted, seq: number): Promise<void> {
    const { memory, format, space, direction, folder } = this.#parts
    const foreign = this.#foreignId(message, owner)
    if (direction === 'in' || memory.linkOf(foreign, owner) !== undefined) return
    if (!format.reaches(folder, owner, message.from)) return
    const link: Link = { foreign, owner, id: message.id, place: '', state: 'unread' }
    const isUnread = (await space.mailboxInside(owner).peek(seq)) !== null
    if (isUnread) return this.#write(link, message)
    if (staysInside(message)) return
    // It was for this agent, and was written by a run that is forgotten.
    const { receipts } = await space.show(message.id)
    if (this.#isStartingOver && receipts.some(({ recipient }) => recipient === owner)) memory.setLink(link)
  }

  /** Its sender is told, if the folder is all that its recipient has. */
  async #keepInside({ owner, id, foreign }: Link, { encrypted }: Encrypted): Promise<void> {
    const { space, dry, report } = this.#parts
    if (encrypted === 'space')
      return report({ place: foreign, reason: 'is encrypted, and there is no key here' })
    if (dry || space.roster.get(owner)?.session.client !== 'bridge') return
    await space.mailboxInside(owner).fail(id, { reason: staysInsideReason })
  }

  /** What came from another folder of the same format keeps its id, so that a chain of bridges doubles nothing. */
  #foreignId(message: Message, owner: string): string {
    const { format } = this.#parts
    const origin = originIn(message)
    const isKept = origin?.format === format.name && /^[\w.-]{1,100}$/.test(origin.id)
    return isKept ? origin.id : format.idFor(message.id, owner)
  }

  async #write(link: Link, message: Message & Encrypted, isRetry = false): Promise<void> {
    const { memory, folder, format, space, tally, lag, dry } = this.#parts
    if (staysInside(message)) return this.#keepInside(link, message)
    if (!isRetry) tally.written++
    if (dry) return
    if (!isRetry) memory.setLink(link, false)
    const mayBeThere = isRetry || this.#isStartingOver
    if (this.#blocked.has(link.owner)) return
    const wasDelivered = !isRetry && mayBeThere && (await this.#isTold(link))
    const outgoing = { ...this.#outgoingOf(link, message), mayBeThere, wasDelivered }
    await this.#guard(link.foreign, link.owner, async () => {
      const place = format.write(folder, outgoing)
      lag.note('outMs', Date.parse(message.createdAt), space.now())
      await this.#tellDelivered(link)
      memory.setLink({ ...link, place })
    })
  }

  #outgoingOf(link: Link, message: Message) {
    const { format } = this.#parts
    const origin = originIn(message)
    const raw = origin?.format === format.name ? origin.raw : undefined
    const isGroup = message.to.length > 1 || message.to.some((to) => isGroupBox(boxOf(to)))
    const ids = { replyTo: this.#idThere(message.replyTo, message.from), thread: this.#threadThere(message) }
    const letter = letterOf(message, ids)
    if (origin?.format === format.name && origin.at !== undefined) letter.at = origin.at
    return { id: link.foreign, owner: link.owner, isGroup, letter, ...given({ raw }) }
  }

  /** The copy of the one who answers, or any other. */
  #idThere(id: string | undefined, from: string): string | undefined {
    if (id === undefined) return undefined
    const links = this.#parts.memory.linksOf(id)
    return (links.find(({ owner }) => owner === from) ?? links[0])?.foreign
  }

  /** A message that begins a thread belongs to none there. */
  #threadThere({ id, threadId, from }: Message): string | undefined {
    if (threadId === id) return undefined
    return this.#idThere(threadId, from) ?? threadId
  }

  async #isTold({ owner, id }: Link): Promise<boolean> {
    const { receipts } = await this.#parts.space.show(id)
    return receipts.some(({ recipient, state }) => recipient === owner && state !== 'stored')
  }

  /** Its file is in the inbox there: that is as much as can be known. */
  async #tellDelivered({ owner, id }: Link): Promise<void> {
    const { space } = this.#parts
    if (space.roster.get(owner)?.session.client === 'bridge') await space.mailboxInside(owner).notified([id])
  }

  /** Finishes what an earlier run was writing when it ended. */
  async #finish(link: Link): Promise<void> {
    const { space, memory } = this.#parts
    try {
      const { message, receipts } = await space.show(link.id)
      const receipt = receipts.find(({ recipient }) => recipient === link.owner)
      // Nobody wants it any more, and it may never have been there.
      if (receipt?.state === 'withdrawn') memory.setLink(link)
      else await this.#write(link, message, true)
    } catch (error) {
      if (!(error instanceof MailboxError) || error.code !== 'not_found') throw error
      memory.setLink(link)
    }
  }

  /** Since when nothing could be written for somebody. */
  readonly #heldSince = new Map<string, number>()

  #isHeldForLong(owner: string): boolean {
    const since = this.#heldSince.get(owner)
    if (since === undefined) this.#heldSince.set(owner, performance.now())
    return since !== undefined && performance.now() - since > this.#parts.lockPatienceMs
  }

  /** Runs what may fail for a while: that is reported, and tried again later. */
  async #guard(place: string, owner: string, work: () => Promise<void>): Promise<boolean> {
    const { report, again } = this.#parts
    try {
      await work()
      this.#heldSince.delete(owner)
      return true
    } catch (error) {
      if (!mayPass(error)) throw error
      this.#blocked.add(owner)
      again()
      if (!(error instanceof LockHeld)) report({ place, reason: (error as Error).message })
      else if (this.#isHeldForLong(owner)) report({ place: error.path, reason: error.reason })
      return false
    }
  }
}

const keyOf = ({ foreign, owner }: Link): string => `${foreign} ${owner}`

const originIn = ({ bridge }: Message): Origin | undefined =>
  isObject(bridge) ? (bridge as unknown as Origin) : undefined
