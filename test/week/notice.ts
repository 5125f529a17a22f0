import type { StoredMessage } from '../../src/mod.ts'

/**
 * What a notice of the system says, as its reader understands it.
 *
 * unread    urgent mail that nobody has read
 * no ack    an ack that has not come
 * no answer a question, a plan or a request that is still open
 * deadline  the same, and its time is over
 * bounce    mail that was not delivered
 * waiting   mail that waits for an agent whose process has ended
 * ended     the run that was asked is over, and nobody has answered for it
 * back      a correction: what was said to wait, or to be undeliverable, has arrived after all
 * failed    work that failed
 * digest    what became of the night
 */
export type Claim =
  | 'unread'
  | 'no ack'
  | 'no answer'
  | 'deadline'
  | 'bounce'
  | 'waiting'
  | 'ended'
  | 'back'
  | 'failed'
  | 'digest'
  | 'not understood'

/** Claims that ask somebody to see to the same thing: one of them about a matter is enough. */
export const isAlarm = (claim: Claim): boolean =>
  ['unread', 'no ack', 'no answer', 'deadline', 'digest'].includes(claim)

export interface Item {
  id: string
  recipient: string | undefined
  claim: Claim
}

export interface Notice {
  id: string
  label: string
  message: StoredMessage
  /** What it says in all: of several things a digest. */
  claim: Claim
  /** To whom it is addressed: an agent, a role, the person. */
  to: string
  at: number
  /** The mail it is about, each with the recipient that it names, and what is said of it. */
  about: Item[]
  readAt?: number
  readBy?: string
  withdrawnAt?: number
  /** It expired, or is a dead letter. */
  isDead?: boolean
  /** What is wrong with it. */
  falsehood?: string
  uselessness?: string
  atNight?: string
}

const words: readonly (readonly [Claim, RegExp])[] = [
  ['back', /\b(is|are) back\b|delivered after all|has arrived|no longer (waits|waiting)/i],
  ['ended', /has stopped before/i],
  ['bounce', /not delivered|undeliver/i],
  ['waiting', /\b(waiting|waits) for (?!(an?|the|your|its) )/i],
  ['digest', /\bdigest\b|overnight|while you were (away|out)|since you left/i],
  ['no ack', /\bno ack\b|not acknowledged|without an ack/i],
  ['unread', /unread/i],
  ['deadline', /in time|deadline/i],
  ['failed', /\bfailed\b/i],
  ['no answer', /no answer|not answered|unanswered|still open|not settled|\bopen\b/i],
]

/** Reads a notice. Ids are found wherever they stand: in the payload, as the message it replies to, in the text. */
export function readNotice(
  message: StoredMessage,
  subjectOf: (id: string) => string | undefined,
): Omit<Notice, 'label'> {
  const { id, to, body, payload, replyTo, createdAt } = message
  const isKnown = (one: string) => subjectOf(one) !== undefined
  const stated = statedItems(payload, isKnown)
  const about = new Map<string, string | undefined>()
  collect(payload, isKnown, about)
  if (about.size === 0)
    for (const one of [replyTo ?? '', ...(`${message.subject} ${body}`.match(idPattern) ?? [])])
      if (isKnown(one)) about.set(one, undefined)
  // What the mail itself is called says nothing about what became of it.
  const subjects = [...about.keys()].map((one) => subjectOf(one)!).filter(Boolean)
  const bare = (text: string) => subjects.reduce((rest, one) => rest.replaceAll(one, ''), text)
  const claim = claimOf({ ...message, subject: bare(message.subject), body: bare(body) })
  const items = stated ?? [...about].map(([one, recipient]) => ({ id: one, recipient, claim }))
  const claims = new Set(items.map((item) => item.claim))
  const [only] = claims
  return {
    ...{ id, message, to: to[0]!, at: Date.parse(createdAt), about: items },
    claim: claims.size === 1 ? only! : claims.size > 1 ? 'digest' : claim,
  }
}

/** How a payload names the same. */
const claimNames: Readonly<Record<string, Claim>> = {
  unread: 'unread',
  ack: 'no ack',
  answer: 'no answer',
  deadline: 'deadline',
  undelivered: 'bounce',
  waiting: 'waiting',
  ended: 'ended',
  back: 'back',
}

/** What a payload says by itself of each message: `{ about: [{ id, to, kind }] }`. */
function statedItems(payload: unknown, isKnown: (id: string) => boolean): Item[] | undefined {
  const { about } = (payload ?? {}) as { about?: unknown }
  if (!Array.isArray(about)) return undefined
  const items = about.flatMap((item: { id?: string; to?: string; kind?: string }): Item[] => {
    const claim = claimNames[item.kind ?? '']
    if (item.id === undefined || claim === undefined || !isKnown(item.id)) return []
    return [{ id: item.id, recipient: item.to, claim }]
  })
  return items.length === 0 ? undefined : items
}

function claimOf({ type, subject, body, payload }: StoredMessage): Claim {
  if (type === 'error') return 'bounce'
  const texts = [findText(payload, 'reason') ?? '', subject, body]
  for (const text of texts) for (const [claim, pattern] of words) if (pattern.test(text)) return claim
  return 'not understood'
}

const idPattern = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Ids anywhere in a payload, with the recipient named beside them. */
function collect(
  value: unknown,
  isKnown: (id: string) => boolean,
  into: Map<string, string | undefined>,
): void {
  if (typeof value === 'string') {
    if (isKnown(value) && !into.has(value)) into.set(value, undefined)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const { id, recipient, to } = value as Record<string, unknown>
  const owner = [recipient, to].find((one) => typeof one === 'string')
  if (typeof id === 'string' && isKnown(id)) into.set(id, owner as string | undefined)
  for (const each of Object.values(value)) collect(each, isKnown, into)
}

function findText(payload: unknown, key: string): string | undefined {
  const value = (payload as Record<string, unknown> | undefined)?.[key]
  return typeof value === 'string' ? value : undefined
}
