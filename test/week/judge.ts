import type { Entry, Settings, StoredMessage } from '../../src/mod.ts'
import { isInHours, minute } from './calendar.ts'
import type { Copy, Facts, Letter } from './facts.ts'
import { type Claim, type Item, isAlarm, type Notice, readNotice } from './notice.ts'

/**
 * What a reasonable person thinks of each notice of the system: whether it is true when it is made and when it is
 * read, whether it is of use to its reader, and whether it had to come at that hour. Written from the rules of
 * docs/settling.md, over the facts alone.
 */

/** Clocks need not be exact: an alarm is early below this share of its time. */
const nearly = 0.9

/** A verdict on one letter of a notice: undefined when there is nothing to complain of. */
interface Complaint {
  falsehood?: string
  uselessness?: string
}

type Times = Pick<Settings, 'urgentAfterMs' | 'answerAfterMs' | 'ackTimeoutMs' | 'claimTtlMs' | 'maxAttempts'>

export class Judge {
  readonly notices: Notice[] = []
  readonly #facts: Facts
  readonly #times: Times
  readonly #now: () => number

  constructor(facts: Facts, times: Times, now: () => number) {
    this.#facts = facts
    this.#times = times
    this.#now = now
  }

  find = (id: string): Notice | undefined => this.notices.find((notice) => notice.id === id)

  /** A notice has been made. */
  made(message: StoredMessage): Notice {
    const { letters } = this.#facts
    const notice: Notice = {
      ...readNotice(message, (id) => letters.get(id)?.message.subject),
      label: `N${this.notices.length + 1}`,
    }
    this.notices.push(notice)
    const complaints = notice.about.map((item) => this.#complain(notice, item))
    const [falsehood] = complaints.flatMap((complaint) => complaint.falsehood ?? [])
    if (falsehood !== undefined) notice.falsehood = falsehood
    const useless = complaints.flatMap((complaint) => complaint.uselessness ?? [])
    if (useless.length > 0 && useless.length === complaints.length) notice.uselessness = useless[0]!
    if (notice.to === 'user' && !isInHours(notice.at)) this.#judgeHour(notice)
    return notice
  }

  /** Somebody has been shown a notice. */
  read(notice: Notice, by: string): void {
    if (notice.readAt !== undefined) return
    Object.assign(notice, { readAt: this.#now(), readBy: by })
    const letters = this.#lettersOf(notice)
    for (const { letter, claim } of letters) letter.noticed.push({ by, claim, at: this.#now() })
    if (notice.falsehood !== undefined || letters.length === 0) return
    const isOver = letters.every(({ letter, copy, claim }) => this.#untrue(claim, letter, copy) !== undefined)
    const isOwn = letters.every(
      ({ letter, claim }) => isAlarm(claim) && !toAskers.includes(claim) && letter.from === by,
    )
    if (isOver) notice.falsehood = `${notice.claim}: settled before it was read`
    else if (isOwn) notice.uselessness ??= 'told of its own mail'
  }

  /** Who comes for its mail is not reported for not having read it. */
  after(who: string, entries: readonly Entry[]): void {
    const made = entries.flatMap((entry) =>
      entry.kind === 'message' ? (this.find(entry.message.id) ?? []) : [],
    )
    for (const notice of made) {
      const isRead = ({ letter, claim }: { letter: Letter; claim: Claim }) =>
        claim === 'unread' &&
        [...letter.copies.values()].some(({ readers }) => {
          const last = readers.at(-1)
          return last?.by === who && last.at === this.#now()
        })
      if (notice.about.length > 0 && this.#lettersOf(notice).every(isRead))
        notice.uselessness ??= 'made while its recipient read it'
    }
  }

  #lettersOf({ about }: Notice): { letter: Letter; copy: Copy | undefined; claim: Claim }[] {
    return about.map(({ id, recipient, claim }) => {
      const letter = this.#facts.letters.get(id)!
      return { letter, copy: this.#copyOf(letter, recipient), claim }
    })
  }

  #copyOf(letter: Letter, recipient: string | undefined): Copy | undefined {
    if (recipient !== undefined && letter.copies.has(recipient)) return letter.copies.get(recipient)
    return letter.copies.size === 1 ? [...letter.copies.values()][0] : undefined
  }

  #complain(notice: Notice, { id, recipient, claim }: Item): Complaint {
    const letter = this.#facts.letters.get(id)!
    const copy = this.#copyOf(letter, recipient)
    const falsehood = this.#untrue(claim, letter, copy) ?? this.#early(claim, letter, copy)
    if (falsehood !== undefined) return { falsehood: `${claim}: ${falsehood}` }
    const uselessness = this.#useless(notice, claim, letter, copy)
    return uselessness === undefined ? {} : { uselessness }
  }

  /** Why the claim is not so at this moment; undefined when it is. */
  #untrue(claim: Claim, letter: Letter, copy: Copy | undefined): string | undefined {
    const { matter } = letter
    if (letter.isWithdrawn) return 'it was withdrawn'
    switch (claim) {
      case 'unread':
        if (copy === undefined) return undefined
        if (copy.isSettled) return 'it is settled'
        return this.#isInSomebodysHands(copy, letter) ? 'it was read' : undefined
      case 'no ack':
        if (copy === undefined) return [...letter.copies.values()].every(acked) ? 'all have acked' : undefined
        return copy.isAcked || copy.isSettled ? 'it was acked' : undefined
      case 'no answer':
      case 'deadline':
        if (claim === 'no answer' && this.#isAtWork(copy)) return 'it is being worked on'
        if (matter === undefined || matter.state === 'open') return undefined
        return matter.state === 'deferred' ? 'it was deferred, which is an answer' : `it was ${matter.state}`
      case 'digest':
        return isOver(letter) ? 'it is settled' : undefined
      case 'bounce':
        return this.#wronglyBounced(letter, copy)
      case 'waiting':
        if (isOver(letter)) return 'it is settled'
        return copy !== undefined && this.#facts.team.isAnybodyThere(copy.owner) ? 'it is there' : undefined
      case 'back':
        return copy !== undefined && !this.#facts.team.isAnybodyThere(copy.owner)
          ? 'it is not there'
          : undefined
      case 'ended': {
        const { team } = this.#facts
        const member = copy === undefined ? undefined : team.of(copy.owner)
        if (isOver(letter)) return `it was ${matter?.state ?? 'settled'}`
        if (member === undefined || (letter.run !== undefined && letter.run < member.run)) return undefined
        const goesOn = member.state === 'frozen' || team.isSurelyPresent(member.name)
        return goesOn ? 'its run goes on' : undefined
      }
      case 'failed':
        return matter?.state === 'failed' ? undefined : 'it did not fail'
      default:
        return undefined
    }
  }

  /** Whether it was read, and is still with whoever read it. */
  #isInSomebodysHands(copy: Copy, { kind, requiresAck }: Letter): boolean {
    const asksNothing = kind === undefined && !requiresAck
    if (asksNothing || !copy.owner.startsWith('role:')) return copy.readers.length > 0
    return this.#facts.isInHand(copy, this.#times.claimTtlMs * nearly)
  }

  #isAtWork(copy: Copy | undefined): boolean {
    if (copy === undefined || !copy.isStarted) return false
    return this.#facts.team.isPresent(copy.holder?.name ?? copy.owner)
  }

  #wronglyBounced(letter: Letter, copy: Copy | undefined): string | undefined {
    const { matter } = letter
    const { team } = this.#facts
    if (copy === undefined)
      return [...letter.copies.values()].some(({ readers }) => readers.length > 0) ? 'it was read' : undefined
    if (matter !== undefined && isOver(letter)) return `it was ${matter.state}`
    const wasRead = copy.readers.length > 0 && !copy.owner.startsWith('role:')
    if (matter === undefined && (wasRead || copy.isSettled)) return 'it was read'
    if (copy.owner.startsWith('role:'))
      return copy.readers.length > 0 && copy.failures < this.#times.maxAttempts
        ? `it failed ${copy.failures} times only`
        : undefined
    const member = team.of(copy.owner)
    if (copy.owner === 'user') return 'mail to the person does not expire'
    if (member === undefined || ['left', 'crashed'].includes(member.state)) return undefined
    // It has been silent for so long that nobody takes it for there.
    if (member.state === 'present' && !team.isSurelyPresent(member.name)) return undefined
    if (letter.run !== undefined && letter.run < member.run) return undefined
    if (member.state === 'frozen') return 'its recipient is frozen'
    // It is there, in the run that it was for: then only its life can be over.
    const { expiresAt, createdAt } = letter.message
    const life = expiresAt === undefined ? undefined : Date.parse(expiresAt) - Date.parse(createdAt)
    const lived = team.presentMs(copy.owner, letter.at, this.#now())
    return life !== undefined && lived >= life * nearly ? undefined : 'its recipient is there'
  }

  /** Clocks count from when mail became unread, and only while its recipient is there. */
  #early(claim: Claim, letter: Letter, copy: Copy | undefined): string | undefined {
    const { urgentAfterMs, answerAfterMs, ackTimeoutMs, claimTtlMs } = this.#times
    const now = this.#now()
    const { team } = this.#facts
    if (claim === 'deadline' && letter.deadline !== undefined && now < letter.deadline)
      return 'before the deadline'
    if (claim === 'no answer' && letter.deadline !== undefined && now < letter.deadline)
      return 'before the deadline'
    if (copy === undefined) return undefined
    const isThere = (from: number, ms: number) => team.presentMs(copy.owner, from, now) >= ms * nearly
    // A role that nobody holds at the time is somebody's concern at once.
    const isVacant = copy.owner.startsWith('role:') && !team.isAnybodyThere(copy.owner)
    if (claim === 'unread' && !isVacant) {
      const lapsed = copy.holder === undefined ? 0 : copy.holder.since + claimTtlMs
      if (!isThere(Math.max(copy.freeSince, lapsed), urgentAfterMs)) return 'too early'
    }
    if (claim === 'no ack') {
      // A claim that may have run out may as well have lasted.
      const first = copy.readers.find(({ at }) => at >= copy.freeSince) ?? copy.readers.at(-1)
      if (first === undefined) return 'it was never read'
      if (!isThere(first.at, ackTimeoutMs)) return 'too early'
    }
    if (claim === 'no answer' && !isVacant && !isThere(letter.at, answerAfterMs)) return 'too early'
    return undefined
  }

  #useless(notice: Notice, claim: Claim, letter: Letter, copy: Copy | undefined): string | undefined {
    const { to } = notice
    const { team } = this.#facts
    const readers = to.startsWith('role:') ? team.holdersOf(to).map(({ name }) => name) : [to]
    if (isAlarm(claim)) {
      if (!toAskers.includes(claim) && readers.every((name) => name === letter.from))
        return 'told of its own mail'
      if (copy !== undefined && readers.every((name) => name === copy.owner)) return 'told of its own inbox'
      if (claim === 'unread' && !letter.isUrgent) return 'inherited urgency'
      if (to !== 'user' && claim !== 'deadline' && !readers.some((name) => team.isPresent(name)))
        return 'told to a lead that is away'
    }
    return this.#isRepeated(notice, claim, letter, copy) ? 'told before' : undefined
  }

  /** One notice a matter and addressee; one that replaces another has withdrawn it. */
  #isRepeated({ id, to, at }: Notice, claim: Claim, letter: Letter, copy: Copy | undefined): boolean {
    // Who was away, came back and went again is another piece of news.
    const cameBack = (since: number) =>
      !isAlarm(claim) && copy !== undefined && this.#facts.team.presentMs(copy.owner, since, at) > 0
    return this.notices.some(
      (other) =>
        other.id !== id &&
        other.to === to &&
        other.at <= at &&
        other.withdrawnAt === undefined &&
        other.about.some((item) => item.id === letter.id && isSameNews(item.claim, claim, to)) &&
        !cameBack(other.at),
    )
  }

  /** Outside the hours of the person only explicitly urgent mail rings, and only once a matter. */
  #judgeHour(notice: Notice): void {
    const letters = this.#lettersOf(notice)
    const isUrgent = letters.length > 0 && letters.every(({ letter }) => letter.isUrgent)
    const hasRung = this.notices.some(
      (other) =>
        other !== notice &&
        other.to === 'user' &&
        !isInHours(other.at) &&
        notice.about.every(({ id }) => other.about.some((item) => item.id === id)),
    )
    if (!isUrgent) notice.atNight = `${notice.claim}, not urgent`
    else if (hasRung) notice.atNight = `${notice.claim}, rang before`
  }

  /** What can be said only at the end: mail that bounced and arrived after all, and nobody said so. */
  end(): void {
    for (const notice of this.notices) {
      if (notice.falsehood !== undefined || notice.uselessness !== undefined) continue
      if (notice.withdrawnAt !== undefined && notice.readAt === undefined) continue
      const arrived = this.#lettersOf(notice).filter(
        ({ letter, copy, claim }) =>
          claim === 'bounce' &&
          (copy?.readers.some(({ at }) => at > notice.at) ?? false) &&
          !this.#isCorrected(notice, letter),
      )
      if (arrived.length > 0) notice.uselessness = 'bounced, then delivered'
    }
  }

  #isCorrected = (bounce: Notice, letter: Letter): boolean =>
    this.notices.some(
      ({ to, at, about }) =>
        to === bounce.to &&
        at >= bounce.at &&
        about.some(({ id, claim }) => claim === 'back' && id === letter.id),
    )

  /** How many true alarms were settled within the hour, with or without them. */
  get soonSettled(): number {
    return this.notices.filter(
      (notice) =>
        isAlarm(notice.claim) &&
        notice.falsehood === undefined &&
        this.#lettersOf(notice).some(({ letter: { matter } }) => {
          const { settledAt } = matter ?? {}
          return settledAt !== undefined && settledAt - notice.at < 60 * minute
        }),
    ).length
  }
}

/** Of these, whoever sent the mail is told itself; a digest may have news of that kind. */
const toAskers: readonly Claim[] = ['deadline', 'digest']

/** The person is told of a matter once, whatever is wrong with it; others once that it is unread, and once more. */
function isSameNews(one: Claim, other: Claim, to: string): boolean {
  if (one === other) return true
  if (!isAlarm(one) || !isAlarm(other)) return false
  return to === 'user' || (one !== 'unread' && other !== 'unread')
}
const acked = ({ isAcked }: Copy): boolean => isAcked
const isOver = ({ matter, copies }: Letter): boolean =>
  matter === undefined
    ? [...copies.values()].every(({ isSettled }) => isSettled)
    : matter.state !== 'open' && matter.state !== 'deferred'
