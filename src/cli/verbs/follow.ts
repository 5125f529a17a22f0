import type { Command } from 'commander'
import { toPrintableLine, toSafeJson } from '../../model/text.ts'
import { messageLine } from '../format/message.ts'
import { examples } from '../help.ts'
import { interruptSignal, yieldToSignals } from '../interrupt.ts'
import { mailboxAction } from '../open.ts'
import { type FilterFlags, given, priority } from '../options.ts'
import { write } from '../output.ts'

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
      await write(`${cli.json ? toSafeJson({ message }) : messageLine(cli, message)}\n`)
      await yieldToSignals()
    }
  })
}
