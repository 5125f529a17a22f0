import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { type Kind, kinds } from '../../conversation/registry.ts'
import { person } from '../../model/agent.ts'
import type { Owed } from '../../query/owed.ts'
import { action, type Cli } from '../cli.ts'
import { foreignWords, noSubject } from '../format/foreign.ts'
import { table } from '../format/table.ts'
import { relative } from '../format/time.ts'
import { examples } from '../help.ts'
import { open } from '../open.ts'
import { given } from '../options.ts'

interface OwedFlags {
  all?: boolean
  to?: string
  kind?: string
}

export function owed(command: Command): void {
  command
    .description(
      'List open questions, plans, requests, tasks and acknowledgements: who owes them, to whom and since when.\n' +
        'Lists what the agent given by --as owes; for the person, what everyone owes.',
    )
    .option('--all', 'what everyone owes (default for the person)')
    .option('--to <agent>', 'only what is owed to this agent')
    .option('--kind <kind>', `only this kind: ${kinds.join(', ')}`)
    .addHelpText(
      'after',
      examples('mailbox owed --as ada', 'mailbox owed --all --json', 'mailbox owed --to lead --kind plan'),
    )
  action(command, async (cli, { all, to, kind }: OwedFlags) => {
    if (kind !== undefined && !kinds.some((one) => one === kind)) {
      throw new MailboxError('invalid', `unknown kind ${JSON.stringify(kind)}`, {
        hint: `use ${kinds.join(', ')}`,
      })
    }
    await using space = await open(cli)
    const everyone = all || to !== undefined || cli.actor === person
    for (const name of [everyone ? undefined : cli.actor, to]) if (name !== undefined) await space.agent(name)
    const found = await space.owed(
      given({ by: everyone ? undefined : cli.actor, to, kind: kind as Kind | undefined }),
    )
    cli.answer({ owed: found }, () => (found.length === 0 ? 'nothing is owed' : owedTable(cli, found)))
  })
}

function owedTable(cli: Cli, found: readonly Owed[]): string {
  const { colors, width, now } = cli
  const [head = '', ...lines] = table(
    [
      { head: 'WHAT', paint: (text, at) => (found[at]!.overdue ? colors.red(text) : text) },
      { head: 'BY', flexible: true, paint: colors.cyan },
      { head: 'TO', flexible: true, paint: colors.cyan },
      { head: 'SUBJECT', flexible: true },
      { head: 'SINCE', paint: colors.dim },
    ],
    found.map(({ kind, state, by, from, subject, since }) => [
      state === 'open' ? kind : `${kind}, ${state}`,
      by,
      from,
      subject === '' ? noSubject : foreignWords(cli, subject),
      relative(since, now),
    ]),
    width,
    colors,
  )
  return [head, ...lines.flatMap((line, at) => [line, colors.dim(`  ${found[at]!.id}`)])].join('\n')
}
