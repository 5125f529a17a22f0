import type { Command } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { parseStrictJson } from '../base/json.ts'
import { type Priority, priorities } from '../model/message.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { readJson, readText } from './input.ts'
import { collect, duration, given, priority as parsePriority } from './options.ts'

type SendInput = Parameters<Mailbox['send']>[0]
type Composed = Partial<SendInput>

/** The options that describe a message, as `send`, `reply` and `broadcast` share them. */
export interface MessageFlags {
  subject?: string
  body?: string
  bodyFile?: string
  type?: string
  priority?: Priority
  payload?: string
  context?: string
  thread?: string
  ttl?: number
  ack?: boolean
  await?: boolean
  tag?: string[]
  attach?: string[]
  hold?: boolean
  key?: string
  exclude?: string[]
  replyTo?: string
  swarm?: string
  supersede?: string | true
  generation?: number
  input?: string
}

export const addMessageOptions = (command: Command, usualType: string): Command =>
  command
    .option('--subject <text>', 'one line')
    .option('--body <text>', 'the text, in Markdown; - reads standard input')
    .option('--body-file <file>', 'take the text from a file; - is standard input')
    .option('--type <type>', `what kind of message, such as request or notification (default ${usualType})`)
    .option('--priority <priority>', priorities.join(', '), parsePriority)
    .option('--payload <json>', 'data for programs; any JSON, - reads standard input')
    .option('--context <json>', 'structured context; a JSON object')
    .option('--thread <id>', 'put it into this thread')
    .option('--ttl <duration>', 'how long it lives unread: 90s, 15m, 24h, forever', duration)
    .option('--ack', 'ask for an acknowledgement')
    .option('--await', 'say that you wait for an answer')
    .option('--tag <tag>', 'a label such as concern:security; repeatable', collect)
    .option('--attach <path>', 'the path of a file; repeatable', collect)
    .option('--hold', 'keep it for agents that have yet to join')
    .option('--key <key>', 'send it once, however often this is run with the same key')
    .option(
      '--supersede [id]',
      'replace a message of yours in the same thread that nobody has seen (default: the last)',
    )
    .option('--exclude <agent>', 'leave somebody out of a group; repeatable', collect)
    .option('--input <file>', 'the whole message as a JSON object, for programs; - is standard input')

/** Puts a message together. What is given as an option wins over the same field of `--input`. */
export async function compose(flags: MessageFlags, stdin: boolean): Promise<Composed> {
  const { subject, type, priority, key, hold, exclude, replyTo, swarm, supersede, generation } = flags
  const base = flags.input === undefined ? {} : parseInput(await readText(flags.input))
  return {
    ...base,
    ...given({
      ...{ subject, type, priority, key, hold, exclude, replyTo, swarm, supersede, generation },
      body: await readBody(flags, stdin),
      payload: flags.payload === undefined ? undefined : await readJson(flags.payload, '--payload'),
      context:
        flags.context === undefined
          ? undefined
          : asObject(await readJson(flags.context, '--context'), '--context'),
      threadId: flags.thread,
      ttlMs: flags.ttl === Number.POSITIVE_INFINITY ? null : flags.ttl,
      requiresAck: flags.ack,
      awaitingResponse: flags.await,
      tags: flags.tag,
      attachments: flags.attach,
    }),
  }
}

async function readBody({ body, bodyFile }: MessageFlags, stdin: boolean): Promise<string | undefined> {
  const sources = [body, bodyFile, stdin ? '-' : undefined].filter((source) => source !== undefined)
  if (sources.length > 1) {
    throw new MailboxError('invalid', 'the body is given twice', {
      hint: 'use one of --body, --body-file and -',
    })
  }
  if (stdin || body === '-') return readText('-')
  return bodyFile === undefined ? body : readText(bodyFile)
}

type Kind = 'string' | 'boolean' | 'number' | 'strings' | 'object' | 'any'

/** The fields of `--input`, named as in the library. */
const inputFields: Record<keyof SendInput, Kind> = {
  to: 'strings',
  subject: 'string',
  body: 'string',
  type: 'string',
  priority: 'string',
  payload: 'any',
  context: 'object',
  replyTo: 'string',
  threadId: 'string',
  ttlMs: 'number',
  requiresAck: 'boolean',
  awaitingResponse: 'boolean',
  attachments: 'strings',
  tags: 'strings',
  swarm: 'string',
  key: 'string',
  traceparent: 'string',
  exclude: 'strings',
  hold: 'boolean',
  generation: 'number',
  supersede: 'any',
}

function parseInput(text: string): Composed {
  const input = asObject(parseStrictJson(text), '--input')
  for (const [field, value] of Object.entries(input)) {
    const kind = Object.hasOwn(inputFields, field) ? inputFields[field as keyof SendInput] : undefined
    if (kind === undefined) {
      throw new MailboxError('invalid', `--input: a message has no field ${JSON.stringify(field)}`, {
        hint: `fields: ${Object.keys(inputFields).join(', ')}`,
      })
    }
    if (!fits(field, kind, value)) {
      throw new MailboxError('invalid', `--input: ${field} is not ${article[kind]}`, {
        hint: 'see `mailbox send --help`',
      })
    }
  }
  return input as Composed
}

const article: Record<Kind, string> = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number or null',
  strings: 'a list of strings',
  object: 'an object',
  any: 'JSON',
}

function fits(field: string, kind: Kind, value: unknown): boolean {
  switch (kind) {
    case 'strings':
      // One recipient needs no list.
      return Array.isArray(value)
        ? value.every((item) => typeof item === 'string')
        : field === 'to' && typeof value === 'string'
    case 'object':
      return isObject(value)
    case 'number':
      return value === null || typeof value === 'number'
    case 'any':
      return true
    default:
      return typeof value === kind
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (isObject(value)) return value
  throw new MailboxError('invalid', `${what} is not a JSON object`, {
    hint: `write ${what} '{"key": "value"}'`,
  })
}
