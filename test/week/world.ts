import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from '../../src/demo/random.ts'
import {
  type Entry,
  type LocalSpace,
  MailboxError,
  openSpace,
  type Settings,
  type StoredMessage,
} from '../../src/mod.ts'
import { Agenda } from './agenda.ts'
import { hoursOfThePerson, timeAt, timeText } from './calendar.ts'
import { type Act, Facts, type Letter } from './facts.ts'
import { findBadHanding } from './handing.ts'
import { Judge } from './judge.ts'
import type { Notice } from './notice.ts'
import { type Member, Team } from './presence.ts'
import type { Scenario } from './scenarios.ts'

/**
 * hub    somebody stays and does what is due every few seconds
 * alone  what is due happens only when somebody acts
 * hooks  as alone, and agents get their mail in briefings, as the hooks of a client give it to them
 */
export type Mode = 'hub' | 'alone' | 'hooks'

/** Something that is wrong apart from notices and losses: how mail was handed out, listed or counted. */
export interface Fault {
  sort: 'handed out' | 'briefed' | 'counted' | 'present' | 'refused'
  why: string
  at: number
  about: string
}

/** The journal of a week is one file. */
const segment = 'journal/00000001.jsonl'

/** The space, the clock, and everything that is known of what happened in it. */
export class World {
  readonly agenda = new Agenda(timeAt(0, 7.5))
  readonly random: Random
  readonly mode: Mode
  readonly team: Team
  readonly facts: Facts
  readonly trace: string[] = []
  readonly faults: Fault[] = []
  readonly seen = new Map<Scenario, number>()
  #space: LocalSpace | undefined
  judge!: Judge
  messages = 0
  #file = -1
  #offset = 0
  #rest = Buffer.alloc(0)

  constructor(seed: number, mode: Mode, members: readonly Pick<Member, 'name' | 'roles' | 'tags'>[]) {
    this.random = new Random(seed * 7_919 + 17)
    this.mode = mode
    this.team = new Team(members, this.now)
    this.facts = new Facts(this.team, this.now)
  }

  now = (): number => this.agenda.now

  get space(): LocalSpace {
    return this.#space!
  }

  async open(dir: string): Promise<void> {
    const settings = { durability: 'os', 'limits.ratePerMinute': 0 } as const
    const options = { dir, now: this.now }
    this.#space = await openSpace({ ...options, settings })
    // Older versions know no hours.
    if ('hours' in this.space.settings) {
      await this.space.close()
      const hours = { ...settings, hours: hoursOfThePerson } as Partial<Settings>
      this.#space = await openSpace({ ...options, settings: hours })
    }
    this.team.silentAfterMs = this.space.settings.silentAfterMs
    this.judge = new Judge(this.facts, this.space.settings, this.now)
    // The team is known: everybody was here last week.
    for (const { name, roles, tags } of this.team.members) {
      const session = { id: `${name}-0` }
      await this.space.join(name, { roles, tags, session })
      this.team.came(name, false)
      await this.space.leave(name, { frozen: true })
      this.team.went(name, 'frozen')
    }
    this.#file = openSync(join(dir, segment), 'r')
    this.#readEntries()
  }

  async close(): Promise<void> {
    if (this.#file >= 0) closeSync(this.#file)
    await this.#space?.close()
  }

  /** Nearly as long as a claim lasts: nobody can tell to the second. */
  get leaseMs(): number {
    return this.space.settings.claimTtlMs * 0.9
  }

  saw(scenario: Scenario): void {
    this.seen.set(scenario, (this.seen.get(scenario) ?? 0) + 1)
  }

  note(text: string): void {
    this.trace.push(`${timeText(this.now())} ${text}`)
  }

  fault(sort: Fault['sort'], why: string, about: string): void {
    this.faults.push({ sort, why, at: this.now(), about })
    this.note(`  !! ${sort}: ${why} (${about})`)
  }

  /** The entries since the last time, as they stand in the journal. */
  #readEntries(): Entry[] {
    const chunk = Buffer.alloc(65_536)
    for (;;) {
      const bytes = readSync(this.#file, chunk, 0, chunk.length, this.#offset)
      if (bytes === 0) break
      this.#offset += bytes
      this.#rest = Buffer.concat([this.#rest, chunk.subarray(0, bytes)])
    }
    const end = this.#rest.lastIndexOf('\n') + 1
    const lines = this.#rest.subarray(0, end).toString().split('\n').filter(Boolean)
    this.#rest = this.#rest.subarray(end)
    return lines.map((line) => JSON.parse(line) as Entry)
  }

  /**
   * Somebody does something. What happened by itself before it is judged by the facts as they were, what came with it
   * or after by the facts as they are then.
   */
  async act<T>(
    who: string,
    what: string,
    call: () => Promise<T>,
    apply: (result: T) => void = () => {},
  ): Promise<T | undefined> {
    if (this.team.of(who) !== undefined) this.facts.mayHaveLapsed(who, this.leaseMs)
    this.team.active(who)
    let outcome: { result: T } | undefined
    let refusal = ''
    try {
      outcome = { result: await call() }
    } catch (error) {
      if (!(error instanceof MailboxError)) throw error
      refusal = ` refused: ${error.code}, ${error.message}`
    }
    const entries = this.#readEntries()
    // That somebody is there is recorded before what is due, and what it came for after that.
    const isIts = (entry: Entry) => authorOf(entry) === who
    const deed = entries.findIndex((entry) => isIts(entry) && entry.kind !== 'agent')
    const own = deed < 0 ? entries.findIndex(isIts) : deed
    const split = own < 0 ? entries.length : own
    if (who !== 'system' || entries.length > 0)
      this.note(`${who} ${this.#named(what)}${this.#named(refusal)}`)
    this.#takeIn(entries.slice(0, split))
    if (outcome !== undefined) apply(outcome.result)
    this.#takeIn(entries.slice(split))
    this.judge.after(who, entries)
    return outcome?.result
  }

  /** Ids as the labels of the trace. */
  #named = (text: string): string =>
    text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => this.labelOf(id) ?? id)

  labelOf = (id: string): string | undefined =>
    this.facts.letters.get(id)?.label ?? this.judge.find(id)?.label

  #takeIn(entries: readonly Entry[]): void {
    // A notice that replaces another withdraws it in the same entry or the next.
    for (const entry of entries) {
      if (entry.kind !== 'receipt') continue
      for (const { id, state } of entry.changes) {
        const notice = this.judge.find(id)
        if (notice === undefined) continue
        if (state === 'withdrawn') notice.withdrawnAt ??= this.now()
        // What died with its addressee may come back with it.
        notice.isDead = state === 'expired' || state === 'dead'
      }
    }
    for (const entry of entries) {
      if (entry.kind === 'receipt' && entry.by === 'system')
        this.note(`  . ${entry.step} ${this.#changed(entry)}`)
      if (entry.kind === 'agent' && entry.by === 'system')
        this.note(`  . ${entry.agent.name} ${entry.change}`)
      if (entry.kind !== 'message') continue
      this.messages++
      const message = { ...entry.message, seq: entry.seq } as StoredMessage
      if (message.from === 'system') this.#noteNotice(this.judge.made(message))
      else this.#noteLetter(this.facts.sent(message))
    }
  }

  #changed = ({ changes, note }: Extract<Entry, { kind: 'receipt' }>): string =>
    `${changes.map(({ id, owner }) => `${this.labelOf(id) ?? id} of ${owner}`).join(', ')}${note === undefined ? '' : ` (${note})`}`

  #noteLetter({ label, message }: Letter): void {
    const { type, to, priority, replyTo, subject, requiresAck, awaitingResponse } = message
    const wishes = [requiresAck ? 'ack' : '', awaitingResponse ? 'answer' : ''].filter(Boolean)
    const re = replyTo === undefined ? '' : ` re ${this.labelOf(replyTo) ?? replyTo}`
    this.note(
      `  ${label} ${type} ${priority} to ${to.join(', ')}${re} [${wishes.join(' ')}] ${this.#named(subject)}`,
    )
  }

  #noteNotice({ label, claim, to, about, message, falsehood, uselessness, atNight }: Notice): void {
    const wrong = [
      falsehood === undefined ? '' : ` FALSE ${falsehood}`,
      uselessness === undefined ? '' : ` USELESS ${uselessness}`,
      atNight === undefined ? '' : ` AT NIGHT ${atNight}`,
    ].join('')
    const labels = about.map(({ id, recipient }) => `${this.labelOf(id)} of ${recipient ?? '?'}`).join(', ')
    this.note(
      `  ${label} notice to ${to} [${claim}] about ${labels}: ${this.#named(message.subject)}${wrong}`,
    )
  }

  /** Messages came before somebody's eyes. Returns the letters; the notices are judged. */
  shown(who: string, ids: readonly string[]): Letter[] {
    for (const notice of ids.flatMap((id) => this.judge.find(id) ?? [])) {
      const before = notice.falsehood
      const crashedAt = this.team.of(who)?.crashedAt ?? 0
      if (notice.readAt !== undefined && (notice.readBy !== who || notice.readAt > crashedAt))
        this.fault('handed out', 'notice handed out again', `${notice.label} to ${who}`)
      this.judge.read(notice, who)
      if (before === undefined && notice.falsehood !== undefined)
        this.note(`  ${notice.label} read by ${who}: FALSE ${notice.falsehood}`)
    }
    const letters = ids.flatMap((id) => this.facts.letters.get(id) ?? [])
    for (const { letter, why } of findBadHanding(this.facts, letters, who, this.leaseMs))
      this.fault('handed out', why, `${letter.label} to ${who}`)
    for (const letter of letters) this.facts.shown(letter, who)
    if (ids.length > 0) this.note(`  ${who} sees ${ids.map((id) => this.labelOf(id) ?? id).join(' ')}`)
    return letters
  }

  acted =
    (verb: Act, letter: Letter, by: string, hasNote = false) =>
    (): void =>
      this.facts.acted(verb, letter, by, hasNote)

  /** The lines of the trace that are about a letter or notice. */
  storyOf = (label: string): string[] => this.trace.filter((line) => line.split(/[^#\w]+/).includes(label))
}

function authorOf(entry: Entry): string | undefined {
  if (entry.kind === 'message') return entry.message.from
  return entry.kind === 'receipt' || entry.kind === 'agent' ? entry.by : undefined
}
