import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import { action } from '../cli.ts'
import { messageBlock, messageLine } from '../format/message.ts'
import { examples } from '../help.ts'
import { giveWay, interruptSignal } from '../interrupt.ts'
import { open, openMailbox } from '../open.ts'
import { collect, duration, type FilterFlags, given, priority } from '../options.ts'
import { write } from '../output.ts'

interface WaitFlags {
  type?: string[]
  from?: string
  replyTo?: string
  timeout?: number
}

const defaultTimeoutMs = 60_000

export function wait(command: Command): void {
  command
    .description(
      'Wait for a message, print it and mark it as shown. Whatever does not match stays unread. Exit code 6 when the time is up.',
    )
    .option('--type <type>', 'only this type; repeatable', collect)
    .option('--from <agent>', 'only from this sender')
    .option('--reply-to <id>', 'only an answer to this message')
    .option('--timeout <duration>', 'how long: 90s, 15m, forever (default 60s)', duration)
    .addHelpText(
      'after',
      examples(
        'mailbox wait --as ada --reply-to ID --timeout 5m',
        'mailbox wait --as bob --type request --timeout forever',
      ),
    )
  action(command, async (cli, { timeout = defaultTimeoutMs, ...wanted }: WaitFlags) => {
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const limit = Number.isFinite(timeout) ? { timeoutMs: timeout } : {}
    const signal = interruptSignal()
    cli.hint(`waiting for mail to ${toPrintableLine(mailbox.name)}; Ctrl-C ends it`)
    const message = await mailbox.wait({ ...given(wanted), ...limit, signal })
    if (message === null) {
      throw new MailboxError('timeout', `nothing came within ${timeout / 1_000} s`, {
        hint: 'wait longer: --timeout 5m',
      })
    }
    cli.answer({ message }, () => messageBlock(cli, message))
  })
}

type WatchFlags = Pick<FilterFlags, 'type' | 'from' | 'minPriority'> & { backlog: boolean }

export function watch(command: Command): void {
  command
    .description(
      'Print mail as it comes, beginning with what is unread now. Nothing is marked. Ctrl-C ends it.',
    )
    .option('--type <type>', 'only this type')
    .option('--from <agent>', 'only from this sender')
    .option('--min-priority <priority>', 'this priority and above: low, normal, high, urgent', priority)
    .option('--no-backlog', 'only what comes from now on')
    .addHelpText(
      'after',
      examples(
        'mailbox watch --as ada',
        'mailbox watch --as ada --no-backlog --json | while read -r line; do ...; done',
      ),
    )
  action(command, async (cli, flags: WatchFlags) => {
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const signal = interruptSignal()
    cli.hint(`watching the mail of ${toPrintableLine(mailbox.name)}; Ctrl-C ends it`)
    for await (const message of mailbox.watch({ ...given(flags), signal })) {
      await write(`${cli.json ? JSON.stringify({ message }) : messageLine(cli, message)}\n`)
      await giveWay()
    }
  })
}
