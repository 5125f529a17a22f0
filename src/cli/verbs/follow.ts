import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import { messageBlock, messageLine } from '../format/message.ts'
import { examples } from '../help.ts'
import { interruptSignal, yieldToSignals } from '../interrupt.ts'
import { mailboxAction } from '../open.ts'
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
      'Wait for a message, print it and mark it as read. Messages that do not match stay unread. The exit code is 6 on timeout.',
    )
    .option('--type <type>', 'only this type; repeatable', collect)
    .option('--from <agent>', 'only from this sender')
    .option('--reply-to <id>', 'only a reply to this message')
    .option('--timeout <duration>', 'how long to wait: 90s, 15m, forever (default 60s)', duration)
    .addHelpText(
      'after',
      examples(
        'mailbox wait --as ada --reply-to ID --timeout 5m',
        'mailbox wait --as bob --type request --timeout forever',
      ),
    )
  mailboxAction(command, async (cli, mailbox, { timeout = defaultTimeoutMs, ...wanted }: WaitFlags) => {
    const limit = Number.isFinite(timeout) ? { timeoutMs: timeout } : {}
    const signal = interruptSignal()
    cli.hint(`Waiting for mail to ${toPrintableLine(mailbox.name)}. Press Ctrl-C to stop.`)
    const message = await mailbox.wait({ ...given(wanted), ...limit, signal })
    if (message === null) {
      throw new MailboxError('timeout', `no message within ${timeout / 1_000} s`, {
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
      'Print mail as it arrives, starting with unread mail. Nothing is marked as read. Press Ctrl-C to stop.',
    )
    .option('--type <type>', 'only this type')
    .option('--from <agent>', 'only from this sender')
    .option('--min-priority <priority>', 'only this priority or higher: low, normal, high, urgent', priority)
    .option('--no-backlog', 'only new mail from now on')
    .addHelpText(
      'after',
      examples(
        'mailbox watch --as ada',
        'mailbox watch --as ada --no-backlog --json | while read -r line; do ...; done',
      ),
    )
  mailboxAction(command, async (cli, mailbox, flags: WatchFlags) => {
    const signal = interruptSignal()
    cli.hint(`Watching mail to ${toPrintableLine(mailbox.name)}. Press Ctrl-C to stop.`)
    for await (const message of mailbox.watch({ ...given(flags), signal })) {
      await write(`${cli.json ? JSON.stringify({ message }) : messageLine(cli, message)}\n`)
      await yieldToSignals()
    }
  })
}
