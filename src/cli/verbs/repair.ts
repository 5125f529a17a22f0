import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import type { RepairedFile, RepairReport } from '../../space/repair.ts'
import type { Cli } from '../cli.ts'
import { examples } from '../help.ts'
import { openFiles, personAction } from '../open.ts'
import { collect } from '../options.ts'
import { count, createProgress } from '../progress.ts'

interface Flags {
  dryRun?: boolean
  yes?: boolean
  from?: string[]
}

export function repair(command: Command): void {
  command
    .description(
      [
        'Repair the journal: line endings, byte order marks, lost newlines, repeated and misplaced lines, single',
        'flipped bits, and lost records that a copy still has: the mirror (journal.mirror), the archive, or a copy',
        'named with --from. It shows the changes and asks first. The damaged files are kept in journal/damaged/.',
        'Exits with 1 if records stay lost.',
      ].join(' '),
    )
    .option('--dry-run', 'show what would be done without doing it')
    .option('--yes', 'do not ask')
    .option(
      '--from <path>',
      'take lost records from here as well: a copy of the space or its journal, or an export; repeatable',
      collect,
    )
    .addHelpText(
      'after',
      examples(
        'mailbox repair --dry-run',
        'mailbox repair --from /mnt/backup/.mailbox',
        'mailbox repair --from mail.jsonl --yes --json',
      ),
    )
  personAction(
    command,
    'repair the journal',
    async (cli, { dryRun = false, yes = false, from = [] }: Flags) => {
      await using space = await openFiles(cli)
      const progress = createProgress(cli, 'reading the journal')
      const report = await space.repair({
        ...{ dryRun, from, onProgress: progress.report },
        ...(yes || dryRun ? {} : { confirm: (plan) => ask(cli, plan) }),
      })
      progress.end()
      const ok = report.lost.length === 0
      cli.answer({ ok, dryRun, ...report }, () => describe(cli, report, dryRun))
      if (!ok) process.exitCode = 1
    },
  )
}

async function ask(cli: Cli, report: RepairReport): Promise<boolean> {
  if (!cli.json) process.stdout.write(`${changes(report).join('\n')}\n\n`)
  if (cli.json || !process.stdin.isTTY || !process.stdout.isTTY) {
    throw new MailboxError('invalid', 'nothing was changed: cannot ask without a terminal', {
      hint: `to make these changes: ${cli.command('repair --yes')}; to only see them: --dry-run`,
    })
  }
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({ message: 'Make these changes?' })
  if (isCancel(answer)) throw new MailboxError('interrupted', 'nothing was changed')
  return answer
}

function describe({ colors }: Cli, report: RepairReport, dryRun: boolean): string {
  const { files, mirror, applied, lost } = report
  if (files.length === 0 && mirror.length === 0) {
    return lost.length === 0 ? `${colors.green('OK:')} nothing to repair` : losses(report).join('\n')
  }
  const outcome = dryRun ? 'dry run: nothing was changed' : applied ? 'repaired' : 'nothing was changed'
  const kept = applied && files.some((one) => one.kept !== undefined)
  return [...changes(report), kept ? `${outcome}; the damaged files are in journal/damaged/` : outcome].join(
    '\n',
  )
}

const changes = (report: RepairReport): string[] => [
  ...report.files.map(change),
  ...report.mirror.map((segment) => `mirror: file ${segment} is damaged and is copied again`),
  ...losses(report),
]

function change({ file, created, reformatted, corrected, restored }: RepairedFile): string {
  const parts = [
    ...Object.entries(restored).map(([source, number]) => `${records(number)} restored from ${source}`),
    ...(corrected === 0 ? [] : [`${records(corrected)} corrected (one flipped bit each)`]),
    ...(reformatted === 0 ? [] : [`${records(reformatted)} put on lines of their own`]),
  ]
  const otherwise = created
    ? 'created without records, so that the files after it are read'
    : 'lines put in order'
  return `${file}: ${parts.length === 0 ? otherwise : parts.join(', ')}`
}

function losses({ lost }: RepairReport): string[] {
  if (lost.length === 0) return []
  const number = lost.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  const which = lost.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ')
  return [`${records(number)} lost (entry ${which}): no copy has ${number === 1 ? 'it' : 'them'}`]
}

const records = (number: number): string => `${count(number)} ${number === 1 ? 'record' : 'records'}`
