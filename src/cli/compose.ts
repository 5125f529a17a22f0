import type { Command } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { parseStrictJson } from '../base/json.ts'
import { isObject } from '../base/objects.ts'
import { checkFields } from '../model/check-fields.ts'
import type { Kind } from '../model/field.ts'
import { type FieldName, inputFields, optionName, type SendInput } from '../model/fields.ts'
import { checkAttachments } from '../space/mailbox/attachments.ts'
import type { Cli } from './cli.ts'
import { readJson, readText } from './input.ts'
import { collect, duration, moment, priority, whole } from './options.ts'

type Composed = Partial<SendInput>

/** The options that describe a message, each under its name; commander has parsed them. */
export interface MessageFlags {
  body?: string
  bodyFile?: string
  input?: string
  [option: string]: unknown
}

/** How the value of an option is read, where it is not taken as it stands. */
const parsers: Partial<Record<Kind, (text: string, before: never) => unknown>> = {
  priority,
  duration,
  moment,
  whole: whole(1),
  list: collect,
}

/** The options that describe a message, as `send`, `reply` and `broadcast` share them. */
export function addMessageOptions(
  command: Command,
  usualType: string,
  { without = [] }: { without?: readonly FieldName[] } = {},
): Command {
  for (const { name, kind, cli } of inputFields) {
    if (cli === undefined || without.includes(name)) continue
    const [option, help] = cli
    const text = name === 'type' ? `${help} (default ${usualType})` : help
    const parse = parsers[kind] as ((text: string, before: unknown) => unknown) | undefined
    if (parse === undefined) command.option(option, text)
    else command.option(option, text, parse)
    if (name === 'body')
      command.option('--body-file <file>', 'take the text from a file; - reads standard input')
  }
  return command.option(
    '--input <file>',
    'the whole message as a JSON object, for programs; - reads standard input',
  )
}

/** Puts a message together. An option takes precedence over the same field of `--input`. */
export async function compose(flags: MessageFlags, stdin: boolean): Promise<Composed> {
  const message: Record<string, unknown> =
    flags.input === undefined ? {} : parseInput(await readText(flags.input))
  for (const field of inputFields) {
    const value = field.name === 'body' ? await readBody(flags, stdin) : flags[optionName(field)]
    if (value !== undefined && field.cli !== undefined) message[field.name] = await fieldValue(field, value)
  }
  checkAttachments(message)
  return message
}

/**
 * A message that says something: words, data, or a type that says something by itself. Whoever sits at a terminal may
 * write it in an editor; otherwise an empty one is refused.
 */
export async function completed(
  cli: Cli,
  message: Composed,
  { hint, about }: EmptyMessage,
): Promise<Composed> {
  const { subject, body, payload, context, attachments = [], type = 'text' } = message
  const hasWords = Boolean(subject) || Boolean(body) || type !== 'text'
  if (hasWords || payload !== undefined || context !== undefined || attachments.length > 0) return message
  if (process.stdin.isTTY && !cli.json) {
    const { editorOf, writeInEditor } = await import('./editor.ts')
    const editor = editorOf(process.env)
    if (editor !== undefined) return { ...message, body: writeInEditor(editor, about) }
    hint += '; with EDITOR set, it opens your editor'
  }
  throw new MailboxError('invalid', 'the message is empty', { hint })
}

interface EmptyMessage {
  /** What to do where there is no editor. */
  hint: string
  /** What the editor says of the message. */
  about: readonly string[]
}

/** JSON is read here rather than by commander: it may come from standard input. */
async function fieldValue({ kind, cli }: (typeof inputFields)[number], value: unknown): Promise<unknown> {
  const option = cli![0].split(' ')[0]!
  if (kind === 'json') return readJson(value as string, option)
  if (kind === 'object') return asObject(await readJson(value as string, option), option)
  return value === Number.POSITIVE_INFINITY ? null : value
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

function parseInput(text: string): Record<string, unknown> {
  const input = asObject(parseStrictJson(text), '--input')
  checkFields(input)
  return input
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (isObject(value)) return value
  throw new MailboxError('invalid', `${what} is not a JSON object`, {
    hint: `write ${what} '{"key": "value"}'`,
  })
}
