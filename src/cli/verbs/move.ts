import type { Command } from 'commander'
import { examples } from '../help.ts'
import { existingSpaceDir, personAction } from '../open.ts'
import { count, createProgress } from '../progress.ts'

export function move(command: Command): void {
  command
    .description(
      'Move the space to a PostgreSQL database, or from there to a directory: every entry, with its checksums, and the settings, tokens and templates.\nThe directory stays, and leads to the database from then on.',
    )
    .requiredOption('--to <address>', 'postgres://USER@HOST/DATABASE?space=NAME, or a directory')
    .addHelpText(
      'after',
      examples(
        "mailbox move --to 'postgres://mail@db.example.org/mail?space=team'",
        "mailbox --space 'postgres://mail@db.example.org/mail?space=team' move --to ~/.mailbox",
      ),
    )
  personAction(command, 'move the space', async (cli, { to }: { to: string }) => {
    const dir = existingSpaceDir(cli)
    const { moveSpace, mustHideNothing } = await import('../../space/move.ts')
    mustHideNothing(to)
    const progress = createProgress(cli, 'moving')
    const started = performance.now()
    const moved = await moveSpace(dir, to, { onProgress: (seq) => progress.report(seq) }).finally(
      progress.end,
    )
    const ms = Math.round(performance.now() - started)
    cli.confirm(
      { ...moved, ms },
      () => `moved ${count(moved.entries)} entries to ${moved.to} in ${(ms / 1_000).toFixed(1)} s`,
    )
    cli.tip('processes that have the space open have to be started again')
  })
}
