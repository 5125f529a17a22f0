import type { Command } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { readGlobals } from './globals.ts'

/** Arguments and options that take a message. */
const takesId = /^(?:ids?|reply-?to|thread|revises|related|acked|settled)$/i
/** No id starts like this: they all start with the time, and so with 0 until the year 2527. */
const number = /^[1-9]\d{0,14}$/

/** Lets a command take short names of messages: `12` is `#12`, and `@last` the newest that one sent or got. */
export async function readHandles(command: Command): Promise<void> {
  const last = lastOnce(command)
  const read = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(read))
    if (value === '@last') return last()
    return typeof value === 'string' && number.test(value) ? `#${value}` : value
  }
  for (const [at, argument] of command.registeredArguments.entries())
    if (takesId.test(argument.name())) command.processedArgs[at] = await read(command.processedArgs[at])
  for (const option of command.options) {
    const name = option.attributeName()
    const value: unknown = command.getOptionValue(name)
    if (takesId.test(option.name().replace(/^--/, '')) && value !== undefined)
      command.setOptionValue(name, await read(value))
  }
}

function lastOnce(command: Command): () => Promise<string> {
  let found: Promise<string> | undefined
  return () => (found ??= findLast(command))
}

async function findLast(command: Command): Promise<string> {
  // Few commands need the space before they know what they do.
  const [{ createCli }, { open, peekMailbox }] = await Promise.all([import('./cli.ts'), import('./open.ts')])
  const cli = createCli(readGlobals(command))
  await using space = await open(cli)
  const mailbox = await peekMailbox(cli, space)
  const [newest] = (await mailbox.search('is:mine', { limit: 1 })).messages
  if (newest !== undefined) return newest.id
  throw new MailboxError('not_found', `${cli.actor} has neither sent nor received a message`, {
    hint: 'see `mailbox search`',
  })
}
