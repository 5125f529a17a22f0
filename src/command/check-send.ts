import { MailboxError } from '../base/errors.ts'
import { checkJsonValue } from '../base/json.ts'
import { checkTag } from '../model/address.ts'
import type { SendInput } from '../model/fields.ts'
import { messageLimits, priorities } from '../model/message.ts'
import { checkName } from '../model/name.ts'
import { maxLifeMs } from '../model/time.ts'

/** Checks what does not depend on the state, so that a bad message never waits for the lock. */
export function checkSend(input: SendInput, maxBytes: number): void {
  if (input === null || typeof input !== 'object')
    invalid('there is nothing to send', 'pass { to, subject, body }')
  if (input.to === undefined) invalid('the message has no recipient', 'name at least one address')
  const { type = 'text', priority = 'normal', subject = '', body = '', payload, context, ttlMs } = input
  const { tags = [], attachments = [], exclude = [] } = input
  const to = toList(input.to)
  checkList(to, 'to', messageLimits.recipients, messageLimits.wordLength)
  if (to.length === 0) invalid('the message has no recipient', 'name at least one address')
  checkWord('type', type)
  checkWord('replyTo', input.replyTo)
  checkWord('threadId', input.threadId)
  checkWord('key', input.key)
  checkWord('traceparent', input.traceparent)
  if (/\s/u.test(type)) invalid('a type has no spaces', 'use a word such as text or request')
  if (!priorities.includes(priority))
    invalid(`there is no priority ${JSON.stringify(priority)}`, `use ${priorities.join(', ')}`)
  if (typeof subject !== 'string' || subject.length > messageLimits.subjectLength) {
    invalid(
      'the subject is too long',
      `${messageLimits.subjectLength} characters are the limit; the rest belongs into the body`,
    )
  }
  if (typeof body !== 'string') invalid('the body is not a string', 'put structured data into the payload')
  if (payload !== undefined) checkJsonValue(payload, 'payload')
  if (context !== undefined) {
    if (context === null || typeof context !== 'object' || Array.isArray(context)) {
      invalid('the context is not an object', 'pass an object of named values')
    }
    checkJsonValue(context, 'context')
  }
  checkFlag('requiresAck', input.requiresAck)
  checkFlag('awaitingResponse', input.awaitingResponse)
  if (typeof input.supersede !== 'boolean') checkWord('supersede', input.supersede)
  if (input.generation !== undefined && !(Number.isSafeInteger(input.generation) && input.generation > 0)) {
    invalid('a generation is a whole number above 0', 'see `mailbox agents`')
  }
  checkList(tags, 'tags', messageLimits.tags, messageLimits.wordLength)
  for (const tag of tags) checkTag(tag)
  checkList(attachments, 'attachments', messageLimits.attachments, messageLimits.pathLength)
  checkList(exclude, 'exclude', messageLimits.recipients, messageLimits.wordLength)
  for (const name of exclude) checkName(name, 'excluded agent')
  if (input.swarm !== undefined) checkName(input.swarm, 'swarm')
  if (ttlMs != null && !(Number.isFinite(ttlMs) && ttlMs > 0 && ttlMs <= maxLifeMs)) {
    invalid(`a life of ${ttlMs} ms makes no sense`, 'give a positive duration of at most ten years')
  }
  checkSize(body, payload, context, maxBytes)
}

/** Short strings that people and programs look at: present, not too long, nothing invisible in them. */
function checkWord(field: string, word: string | undefined): void {
  if (word === undefined) return
  const short = typeof word === 'string' && word.length > 0 && word.length <= messageLimits.wordLength
  if (!short || /[\p{Cc}\p{Cf}\p{Cs}]/u.test(word)) {
    invalid(
      `${field} cannot be ${JSON.stringify(word).slice(0, 60)}`,
      `1 to ${messageLimits.wordLength} visible characters`,
    )
  }
}

function checkFlag(field: string, flag: boolean | undefined): void {
  if (flag !== undefined && typeof flag !== 'boolean')
    invalid(`${field} is not true or false`, 'pass a boolean')
}

function checkList(list: readonly unknown[], field: string, most: number, length: number): void {
  if (!Array.isArray(list) || list.length > most)
    invalid(`${field} has too many items`, `${most} are the limit`)
  for (const item of list) {
    if (typeof item !== 'string' || item === '' || item.length > length || item.includes('\0')) {
      invalid(
        `${field} cannot hold ${JSON.stringify(item)?.slice(0, 60)}`,
        `strings of 1 to ${length} characters without NUL`,
      )
    }
  }
}

export const toList = (to: SendInput['to']): readonly string[] => (typeof to === 'string' ? [to] : to)

function checkSize(body: string, payload: unknown, context: unknown, maxBytes: number): void {
  const jsonBytes = (value: unknown) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)))
  const size = Buffer.byteLength(body) + jsonBytes(payload) + jsonBytes(context)
  if (size > maxBytes) {
    throw new MailboxError(
      'over_limit',
      `the message has ${size} bytes; ${maxBytes} are the limit (limits.messageBytes)`,
      { limit: 'size', hint: 'write the content to a file and attach its path' },
    )
  }
}

function invalid(message: string, hint: string): never {
  throw new MailboxError('invalid', message, { hint })
}
