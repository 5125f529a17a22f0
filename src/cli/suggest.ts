import type { Command } from 'commander'
import { CommanderError } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { nearest } from '../base/nearest.ts'

/**
 * Names the option that was probably meant: commander knows typos, but not beginnings such as `--prio`. Of a verb
 * without its arguments, says how it is used.
 */
export function withSuggestion(error: unknown, program: Command, words: readonly string[]): unknown {
  if (!(error instanceof CommanderError)) return error
  if (error.code === 'commander.missingArgument') return withUsage(error, commandOf(program, words))
  if (error.code !== 'commander.unknownOption') return error
  const given = /unknown option '(--[^'=]+)/.exec(error.message)?.[1]
  if (given === undefined || error.message.includes('Did you mean')) return error
  const command = commandOf(program, words)
  const known = command.options.flatMap(({ long }) => (long?.startsWith('--') ? long.slice(2) : []))
  const close = nearest(given.slice(2), known)
  if (close.length === 0) return error
  const hint = `did you mean ${close.map((one) => `--${one}`).join(' or ')}?`
  return new MailboxError('invalid', error.message.replace(/^error: /, '').split('\n')[0]!, {
    cause: error,
    hint,
  })
}

function commandOf(program: Command, words: readonly string[]): Command {
  let command = program
  for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command
  return command
}

function withUsage(error: CommanderError, command: Command): MailboxError {
  const path: string[] = []
  for (let at: Command | null = command; at !== null; at = at.parent) path.unshift(at.name())
  const usage = [...path, command.usage()].join(' ')
  return new MailboxError('invalid', error.message.replace(/^error: /, ''), {
    cause: error,
    hint: `usage: ${usage}; for more, add --help`,
  })
}
