import type { Command } from 'commander'
import { action } from '../cli.ts'
import { statsTable } from '../format/stats.ts'
import { examples } from '../help.ts'
import { open } from '../open.ts'

export function stats(command: Command): void {
  command
    .description(
      'Show how much mail was sent, received and is waiting, and how long it takes until it is read and done.',
    )
    .addHelpText('after', examples('mailbox stats', "mailbox stats --json | jq '.all.shown.p95'"))
  action(command, async (cli) => {
    await using space = await open(cli)
    const found = await space.stats()
    cli.answer(found, () => statsTable(cli, found))
    for (const warning of found.warnings) cli.warn(warning)
  })
}
