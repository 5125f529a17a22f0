import type { Command } from 'commander'
import { digestText } from '../../space/digest-text.ts'
import { action } from '../cli.ts'
import { foreignWords } from '../format/foreign.ts'
import { absolute, relative } from '../format/time.ts'
import { examples } from '../help.ts'
import { open } from '../open.ts'

export function digest(command: Command): void {
  command
    .description(
      'Show what happened while you were away: what waits for you, who is blocked, what was decided and finished, who died and what was not delivered. Nothing is marked as read.',
    )
    .option('--since <when>', 'from when on: a date, a time, or how long ago', '24h')
    .addHelpText(
      'after',
      examples(
        'mailbox digest',
        'mailbox digest --since 7d',
        "mailbox digest --json | jq '.needsYou[].subject'",
      ),
    )
  action(command, async (cli, { since }: { since: string }) => {
    await using space = await open(cli)
    const found = await space.digest({ since })
    cli.answer(found, () =>
      digestText(found, {
        when: (at) => relative(at, cli.now),
        date: absolute,
        quote: (text) => foreignWords(cli, text),
        heading: cli.colors.bold,
      }),
    )
  })
}
