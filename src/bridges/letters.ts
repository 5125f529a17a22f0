import { hash } from 'node:crypto'
import { given } from '../base/objects.ts'
import { checkTag } from '../model/address.ts'
import { person, systemAgent } from '../model/agent.ts'
import type { SendInput } from '../model/fields.ts'
import { type Message, messageLimits } from '../model/message.ts'
import { checkName, reserved } from '../model/name.ts'
import type { Origin } from '../model/origin.ts'
import { isoTime, readTime } from '../model/time.ts'
import type { CopyFact, Format, Letter } from './format.ts'

/** A message as it is there is kept beside its fields only up to this length. */
export const maxRawLength = 262_144

const digest = (...parts: string[]): string => hash('sha256', JSON.stringify(parts))

/** Twelve hexadecimal digits that stand for a message of the space and one of its recipients. */
export const shortId = (id: string, owner: string): string => digest(id, owner).slice(0, 12)

/** The key that makes a copy there one message here, however often it is brought. */
export const keyOf = (
  format: string,
  path: string,
  { id, copy = '' }: Pick<CopyFact, 'id' | 'copy'>,
): string => `bridge:${format}:${digest(path, id, copy).slice(0, 32)}`

/** An id for a message that was written elsewhere at a time: always the same for the same key. */
export function idOfKey(key: string, at: number): string {
  const hex = hash('sha256', key)
  const time = Math.max(0, Math.min(at, 2 ** 48 - 1))
    .toString(16)
    .padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`
}

/**
 * The name of somebody there, in the space. Nobody there speaks for the person or for the mailbox: whoever is called
 * `user` or `system` there has the format before its name here.
 */
export function senderName(format: string, name: string): string {
  const isReserved = name === person || name === systemAgent || reserved.has(name)
  return isReserved ? `${format}/${name}` : name
}

/** The name there of somebody in the space: the other way round. */
export function nameThere(format: string, name: string): string {
  const rest = name.startsWith(`${format}/`) ? name.slice(format.length + 1) : undefined
  return rest !== undefined && senderName(format, rest) === name ? rest : name
}

export function isName(name: unknown): name is string {
  try {
    checkName(name as string)
    return true
  } catch {
    return false
  }
}

/** A time as it is written there, in UTC; one without a zone is meant in the time zone of this machine. */
export function timeOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const at = readTime(value)
  return at === undefined ? undefined : isoTime(at)
}

const isTag = (tag: unknown): tag is string => {
  try {
    return typeof tag === 'string' && checkTag(tag) === tag
  } catch {
    return false
  }
}
const isWord = (text: string): boolean => /^[^\p{Cc}\p{Cf}]{1,200}$/u.test(text) && text.trim() === text

export const stringsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string' && one !== '') : []

/** Where a copy comes from. What cannot be written again from its fields is kept word for word. */
export function originOf(format: Format, path: string, fact: CopyFact, isExact: boolean): Origin {
  const { id, letter, raw } = fact
  const keepsRaw = !isExact && raw.length <= maxRawLength
  return { format: format.name, path, id, ...given({ at: letter.at, ...(keepsRaw ? { raw } : {}) }) }
}

/** What a copy there is, as something to send. Threads and replies are up to the caller. */
export function inputOf({ letter }: CopyFact, to: string): SendInput {
  const { subject = '', body, type, priority, requiresAck, awaitingResponse, swarm } = letter
  const tags = (letter.tags ?? []).filter(isTag).slice(0, messageLimits.tags)
  const attachments = (letter.attachments ?? [])
    .filter((path) => path !== '' && path.length <= messageLimits.pathLength)
    .slice(0, messageLimits.attachments)
  return {
    to,
    subject: subject.slice(0, messageLimits.subjectLength),
    ...given({ body, priority, requiresAck, awaitingResponse }),
    ...given({ payload: letter.payload, context: letter.context }),
    ...given({ type: type !== undefined && isWord(type) && !/\s/.test(type) ? type : undefined }),
    ...given({ swarm: swarm !== undefined && isName(swarm) ? swarm : undefined }),
    ...(tags.length > 0 ? { tags } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
  }
}

export const threadWord = (thread: string | undefined): string | undefined =>
  thread !== undefined && isWord(thread) ? thread : undefined

/** A message of the space as a letter. `ids`: what the messages that it refers to are called there. */
export function letterOf(
  message: Message,
  ids: { replyTo: string | undefined; thread: string | undefined },
): Letter & { at: string } {
  const { from, subject, body, type, priority, requiresAck, awaitingResponse, tags, attachments } = message
  const { createdAt: at, expiresAt, swarm, payload, context } = message
  return {
    ...{ from, subject, body, type, priority, requiresAck, awaitingResponse, tags, attachments, at },
    ...given({ expiresAt, swarm, payload, context, ...ids }),
  }
}
