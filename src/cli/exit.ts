import { CommanderError } from 'commander'
import { asMailboxError, type ErrorCode, MailboxError } from '../base/errors.ts'
import { toPrintableLine, toSafeJson } from '../model/text.ts'
import { colorsFor } from './output.ts'

const exitCodes: Record<ErrorCode, number> = {
  invalid: 2,
  not_found: 3,
  unknown_recipient: 3,
  not_permitted: 4,
  conflict: 5,
  timeout: 6,
  over_limit: 7,
  interrupted: 130,
  disk_full: 1,
  sync_failed: 1,
  damaged: 1,
  closed: 1,
  unreachable: 1,
  internal: 1,
}

export const exitCodeOf = ({ code }: MailboxError): number => exitCodes[code]

export const usageHint = 'add --help to see the usage'

/** Reports an error to a person or a program, and returns the exit code. */
export function report(thrown: unknown, json: boolean): number {
  const error = translate(thrown)
  if (json) process.stdout.write(`${toSafeJson({ error: describe(error) })}\n`)
  else if (error.code !== 'interrupted') process.stderr.write(forPeople(error))
  if (process.env['MAILBOX_DEBUG']) console.error(thrown)
  return exitCodeOf(error)
}

/** An error as programs get it, always with all three fields. */
export function describe(error: MailboxError): { code: ErrorCode; message: string; hint: string | null } {
  return { code: error.code, message: error.message, hint: error.hint ?? null }
}

export function forPeople(error: MailboxError): string {
  const { red, dim } = colorsFor(process.stderr)
  const hint = error.hint === undefined ? '' : `${dim('hint:')} ${toPrintableLine(error.hint)}\n`
  return `${red('error:')} ${toPrintableLine(error.message)}\n${hint}`
}

/** Turns anything thrown into an error with a code and a hint. */
export function translate(thrown: unknown): MailboxError {
  if (thrown instanceof CommanderError) return fromCommander(thrown)
  const error = asMailboxError(thrown)
  if (error.code !== 'internal') return error
  return new MailboxError('internal', error.message, {
    cause: thrown,
    hint: 'this is a bug in mailbox; set MAILBOX_DEBUG=1 for a stack trace',
  })
}

/** Commander puts its suggestion, if any, on the last lines of the message. */
function fromCommander(error: CommanderError): MailboxError {
  if (error.code === 'commander.help')
    return new MailboxError('invalid', 'missing subcommand', { hint: 'see the usage above' })
  const [first = '', ...rest] = error.message.split('\n')
  const suggestion = rest.join(' ').replace(/^\(Did (.*)\)$/, 'did $1')
  const hint = suggestion === '' ? usageHint : suggestion
  return new MailboxError('invalid', first.replace(/^error: /, ''), { cause: error, hint })
}
