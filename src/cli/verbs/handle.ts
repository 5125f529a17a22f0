import type { Command } from 'commander'
import type { MailboxError } from '../../base/errors.ts'
import { GoDirect } from '../../desk/wire.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { Handled, Mailbox } from '../../space/mailbox/api.ts'
import type { Cli } from '../cli.ts'
import { describe, exitCodeOf, forPeople, translate } from '../exit.ts'
import { subjectIn } from '../format/foreign.ts'
import { examples } from '../help.ts'
import { briefAction } from '../open.ts'
import { given, whole } from '../options.ts'

type Step<Flags> = (mailbox: Mailbox, id: string, flags: Flags) => Promise<Handled>

/** Makes a verb take a step with each of the given messages. */
function handler<Flags>(command: Command, step: Step<Flags>): void {
  command.argument('<id...>', 'one or more messages')
  // For programs that must not touch what another has claimed meanwhile.
  command.option('--claim <number>', 'fail if this is not the newest claim on the message', whole(1))
  briefAction(command, async (cli, mailbox, ids: string[], flags: Flags) => {
    if (ids.length === 1) answerOne(cli, await step(mailbox, ids[0]!, flags))
    else await handleSeveral(cli, ids, (id) => step(mailbox, id, flags))
  })
}

export const handledLine = (cli: Cli, { message, state, already }: Handled): string =>
  toPrintableLine(`${already ? 'already ' : ''}${state}: ${subjectIn(cli, message)}  ${message.id}`)

export const answerOne = (cli: Cli, handled: Handled): void =>
  cli.confirm({ ...handled }, () => handledLine(cli, handled))

type ClaimFlag = { claim?: number }
const options = ({ claim: claimNumber }: ClaimFlag) => given({ claimNumber })

/** The steps that are taken often, in all the ways that a command comes by. */
export const steps = {
  ack: (mailbox, id, { note, ...rest }) => mailbox.ack(id, { ...given({ note }), ...options(rest) }),
  start: (mailbox, id, flags) => mailbox.start(id, options(flags)),
  done: (mailbox, id, flags) =>
    mailbox.done(id, { ...given({ note: flags.note }), ...options(flags), archive: !flags.keep }),
  archive: (mailbox, id, flags) => mailbox.archive(id, options(flags)),
} satisfies Record<string, Step<StepFlags>>
type StepFlags = { note?: string; keep?: boolean } & ClaimFlag

/** Continues after a message that fails; the first failure sets the exit code. */
async function handleSeveral(
  cli: Cli,
  ids: readonly string[],
  step: (id: string) => Promise<Handled>,
): Promise<void> {
  const done: Handled[] = []
  const failures: MailboxError[] = []
  for (const id of new Set(ids)) {
    try {
      done.push(await step(id))
    } catch (error) {
      if (error instanceof GoDirect) throw error
      failures.push(translate(error))
    }
  }
  const [first] = failures
  const messages = done.map(({ message, state }) => ({ ...message, state }))
  const error = first === undefined ? {} : { error: describe(first) }
  if (done.length > 0 || cli.json)
    cli.confirm({ messages, next: null, ...error }, () => done.map((one) => handledLine(cli, one)).join('\n'))
  for (const failure of failures) process.stderr.write(forPeople(failure))
  if (first !== undefined) process.exitCode = exitCodeOf(first)
}

export function ack(command: Command): void {
  command.addHelpText('after', examples('mailbox ack ID --as ada', 'mailbox ack ID1 ID2 --as ada'))
  command.option('--note <text>', 'a note for the sender')
  handler(command, steps.ack)
}

export function start(command: Command): void {
  command.addHelpText('after', examples('mailbox start ID --as ada'))
  handler(command, steps.start)
}

export function done(command: Command): void {
  command
    .description('Mark a message as done. This also archives it.')
    .option('--note <text>', 'the result, for the sender')
    .option('--keep', 'do not archive it')
    .addHelpText('after', examples('mailbox done ID --as ada --note "merged"'))
  handler(command, steps.done)
}

export function fail(command: Command): void {
  command
    .description('Mark a message as failed, with a reason. `mailbox retry` undoes this.')
    .requiredOption('--reason <text>', 'what went wrong, for the sender')
    .addHelpText('after', examples('mailbox fail ID --as ada --reason "tests fail on main"'))
  handler(command, (mailbox, id, { reason, ...rest }: { reason: string } & ClaimFlag) =>
    mailbox.fail(id, { reason, ...options(rest) }),
  )
}

export function release(command: Command): void {
  command
    .description('Return a message unread: to the role it was claimed from, or to your own inbox.')
    .addHelpText('after', examples('mailbox release ID --as ada'))
  handler(command, (mailbox, id, flags: ClaimFlag) => mailbox.release(id, options(flags)))
}

export function archive(command: Command): void {
  command
    .description('Archive a message. Nothing is deleted: `mailbox inbox --all` lists it.')
    .addHelpText('after', examples('mailbox archive ID --as ada'))
  handler(command, steps.archive)
}

export function retry(command: Command): void {
  command
    .description('Mark a failed message as unread again.')
    .addHelpText('after', examples('mailbox retry ID --as ada'))
  handler(command, (mailbox, id, flags: ClaimFlag) => mailbox.retry(id, options(flags)))
}
