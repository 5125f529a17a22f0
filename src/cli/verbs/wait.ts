import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import { toDuration } from '../../model/time.ts'
import type { Mailbox, UntilOptions } from '../../space/mailbox/api.ts'
import type { Cli } from '../cli.ts'
import { describe, exitCodeOf, forPeople } from '../exit.ts'
import { messageBlock } from '../format/message.ts'
import { examples } from '../help.ts'
import { interruptSignal } from '../interrupt.ts'
import { mailboxAction } from '../open.ts'
import { collect, duration, given, whole } from '../options.ts'

interface WaitFlags {
  type?: string[]
  from?: string[]
  replyTo?: string[]
  count?: number
  acked?: string
  settled?: string[]
  timeout?: number
}

const defaultTimeoutMs = 60_000

export function wait(command: Command): void {
  command
    .description(
      'Wait for a message, print it and mark it as read. Messages that do not match stay unread.\n' +
        'Waits for several with --count, or with more than one --reply-to: until each has a reply.\n' +
        'With --acked or --settled it waits for something to happen to a message you sent, and reads no mail.\n' +
        'The exit code is 6 on timeout; what did arrive is printed.',
    )
    .option('--type <type>', 'only this type; repeatable', collect)
    .option('--from <agent>', 'only from this sender; repeatable', collect)
    .option('--reply-to <id>', 'only a reply to this message; repeatable', collect)
    .option('--count <n>', 'how many messages to wait for, 1 to 1000', whole(1, 1_000))
    .option('--acked <id>', 'wait until a recipient has acknowledged this message, with ack or a reply')
    .option(
      '--settled <id>',
      'wait until what this message asked for is answered, decided, done or failed; repeatable',
      collect,
    )
    .option('--timeout <duration>', 'how long to wait: 90s, 15m, forever (default 60s)', duration)
    .addHelpText(
      'after',
      examples(
        'mailbox wait --as ada --reply-to ID --timeout 5m',
        'mailbox wait --as lead --reply-to ID --reply-to ID2 --timeout 15m',
        'mailbox wait --as lead --settled ID --timeout 2h',
        'mailbox wait --as bob --type request --timeout forever',
      ),
    )
  mailboxAction(command, async (cli, mailbox, flags: WaitFlags) => {
    const { timeout = defaultTimeoutMs, acked, settled, type, from, replyTo, count } = flags
    const wanted = given({ type, from, replyTo, count })
    const conditions = [acked, settled, ...Object.keys(wanted)].filter((one) => one !== undefined)
    if ((acked ?? settled) !== undefined && conditions.length > 1)
      throw new MailboxError('invalid', '--acked and --settled go with no other condition', {
        hint: 'wait for one thing, and then for the next',
      })
    const until = { ...(Number.isFinite(timeout) ? { timeoutMs: timeout } : {}), signal: interruptSignal() }
    if (acked !== undefined) return untilAcked(cli, mailbox, acked, { ...until, timeoutMs: timeout })
    if (settled !== undefined) return untilSettled(cli, mailbox, settled, until)
    cli.hint(`Waiting for mail to ${toPrintableLine(mailbox.name)}. Press Ctrl-C to stop.`)
    return forMail(cli, mailbox, wanted, until)
  })
}

type Wanted = Pick<WaitFlags, 'type' | 'from' | 'replyTo' | 'count'>

async function forMail(cli: Cli, mailbox: Mailbox, wanted: Wanted, until: UntilOptions): Promise<void> {
  const { count, replyTo = [] } = wanted
  if (count === undefined && replyTo.length < 2) {
    const message = await mailbox.wait({ ...wanted, ...until })
    if (message === null) throw late('no message', until)
    return cli.answer({ message }, () => messageBlock(cli, message))
  }
  const messages = await mailbox.waitForMessages({ ...wanted, ...until })
  const answered = new Set(messages.map((message) => message.replyTo))
  const missing = count === undefined ? await missingOf(mailbox, replyTo, answered) : count - messages.length
  answerSoFar(
    cli,
    { messages, next: null },
    messages.map((message, at) => messageBlock(cli, message, { isFirst: at === 0 })).join('\n'),
    missing > 0
      ? late(`${missing} of ${messages.length + missing} messages did not arrive`, until)
      : undefined,
  )
}

/** How many of the messages have no reply yet. */
async function missingOf(
  mailbox: Mailbox,
  ids: readonly string[],
  answered: ReadonlySet<string | undefined>,
): Promise<number> {
  const whole = await Promise.all(ids.map(async (id) => (await mailbox.show(id)).message.id))
  return [...new Set(whole)].filter((id) => !answered.has(id)).length
}

async function untilAcked(cli: Cli, mailbox: Mailbox, given: string, until: UntilOptions): Promise<void> {
  const { id } = (await mailbox.show(given)).message
  cli.hint(`Waiting for an acknowledgement of ${id}. Press Ctrl-C to stop.`)
  const acked = await mailbox.waitForAck(id, until)
  const problem = acked ? undefined : late('no acknowledgement', until)
  answerSoFar(cli, { id, acked }, acked ? `acknowledged: ${id}` : '', problem)
}

async function untilSettled(
  cli: Cli,
  mailbox: Mailbox,
  ids: readonly string[],
  until: UntilOptions,
): Promise<void> {
  cli.hint('Waiting until it is settled. Press Ctrl-C to stop.')
  const { settled, matters } = await mailbox.waitUntilSettled(ids, until)
  const lines = matters.map(({ kind, state, by, id }) => toPrintableLine(`${kind} ${state}, ${by}  ${id}`))
  const problem = settled ? undefined : late('not settled', until)
  answerSoFar(cli, { settled, matters }, lines.join('\n') || 'nothing was asked for', problem)
}

/** Prints what there is, whole or not. */
function answerSoFar(cli: Cli, json: object, text: string, problem: MailboxError | undefined): void {
  const error = problem === undefined ? {} : { error: describe(problem) }
  if (cli.json || text !== '') cli.answer({ ...json, ...error }, () => text)
  if (problem === undefined) return
  if (!cli.json) process.stderr.write(forPeople(problem))
  process.exitCode = exitCodeOf(problem)
}

const late = (what: string, { timeoutMs = 0 }: UntilOptions): MailboxError =>
  new MailboxError('timeout', `${what} within ${toDuration(timeoutMs)}`, {
    hint: 'wait longer: --timeout 5m',
  })
