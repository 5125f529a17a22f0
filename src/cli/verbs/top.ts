import type { Command } from 'commander'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { interruptSignal } from '../interrupt.ts'
import { open, openMailbox } from '../open.ts'
import { draw } from '../top/draw.ts'
import { Live } from '../top/live.ts'
import { takeSnapshot } from '../top/snapshot.ts'

export function top(command: Command): void {
  command
    .description(
      'Watch the agents, their unread mail and what needs you, on one screen that stays up to date.\n' +
        'Enter opens a message, a approves, x rejects with a reason, r answers, e marks as done, z undoes, q quits.\n' +
        'With --json, or when it is not on a terminal, it prints one snapshot and ends.',
    )
    .addHelpText(
      'after',
      examples('mailbox top', 'mailbox top --json', "mailbox top --jq '.needs[].message.subject'"),
    )
  action(command, async (cli) => {
    await using space = await open(cli)
    const mailbox = await openMailbox(cli, space)
    const snapshot = await takeSnapshot(space, cli.actor)
    const isLive = !cli.json && process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb'
    if (!isLive) return cli.answer(snapshot, () => draw(cli, snapshot).join('\n'))
    const live = new Live(cli, space, mailbox, snapshot)
    await live.run(interruptSignal())
    if (live.wasInterrupted) process.exitCode = 130
  })
}
