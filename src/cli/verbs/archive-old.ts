import type { Command } from 'commander'
import { describeSize } from '../../space/archiving.ts'
import type { ArchivedSegment, ArchiveProgress, ArchiveReport } from '../../space/retention.ts'
import type { DiskSpace } from '../../space/space.ts'
import type { Cli } from '../cli.ts'
import { table } from '../format/table.ts'
import { day } from '../format/time.ts'
import { examples } from '../help.ts'
import { interruptSignal } from '../interrupt.ts'
import { openFiles, personAction } from '../open.ts'
import { duration, given } from '../options.ts'
import { createProgress } from '../progress.ts'

interface Flags {
  dryRun?: boolean
  gzipAfter?: number
  removeAfter?: number
}

export function archiveOld(command: Command): void {
  command
    .description(
      [
        'Compress old journal files into archive/. Their contents stay readable and searchable. With',
        '--remove-after or its setting, also delete compressed files that are older still and contain nothing',
        'unread or open: their messages, threads and receipts are lost. By default nothing is compressed and',
        'nothing is deleted.',
      ].join(' '),
    )
    .option('--dry-run', 'show what would be done without doing it')
    .option(
      '--gzip-after <age>',
      'age at which to compress a file, such as 30d, or forever (default: retention.gzipAfterDays)',
      duration,
    )
    .option(
      '--remove-after <age>',
      'age at which to delete a file, such as 90d, or forever (default: retention.removeAfterDays)',
      duration,
    )
    .addHelpText(
      'after',
      examples(
        'mailbox archive-old --dry-run --gzip-after 30d',
        'mailbox config set retention.gzipAfterDays 30',
        'mailbox archive-old',
      ),
    )
  personAction(command, 'remove old mail', async (cli, flags: Flags) => {
    await using space = await openFiles(cli)
    const { dryRun = false, gzipAfter: gzipAfterMs, removeAfter: removeAfterMs } = flags
    const progress = createArchiveProgress(cli)
    const report = await space
      .archiveOld({
        ...given({ dryRun, gzipAfterMs, removeAfterMs }),
        ...{ signal: interruptSignal(), onProgress: progress.report },
      })
      .finally(progress.end)
    const text = () => describe(cli, report, dryRun, howToEnable(space, flags))
    if (dryRun) cli.answer({ dryRun, ...report }, text)
    else cli.confirm({ dryRun, ...report }, text)
  })
}

/** Progress of two long tasks, one after the other. */
function createArchiveProgress(cli: Cli) {
  const tasks = {
    gzip: createProgress(cli, 'compressing'),
    rebuild: createProgress(cli, 'building the index'),
  }
  return {
    report: ({ task, done, total }: ArchiveProgress) => tasks[task].report(done, total),
    end: () => {
      for (const task of Object.values(tasks)) task.end()
    },
  }
}

/** How to turn it on, when neither an option nor a setting does. */
function howToEnable({ settings }: DiskSpace, { gzipAfter, removeAfter }: Flags): string | undefined {
  const isOff = (ageMs: number | undefined, days: number) =>
    ageMs === undefined ? days === 0 : ageMs === Number.POSITIVE_INFINITY
  if (!isOff(gzipAfter, settings['retention.gzipAfterDays'])) return undefined
  const set =
    'nothing is compressed by default; to change that: mailbox config set retention.gzipAfterDays 30'
  return isOff(removeAfter, settings['retention.removeAfterDays'])
    ? set
    : `only compressed files can be removed\n${set}`
}

function describe(cli: Cli, report: ArchiveReport, dryRun: boolean, enable: string | undefined): string {
  const { gzipped, removed, kept } = report
  const rows = [
    ...gzipped.map((one) =>
      rowOf(one, dryRun ? 'would be compressed' : `compressed to ${describeSize(one.gzippedBytes!)}`),
    ),
    ...removed.map((one) => rowOf(one, dryRun ? 'would be removed' : 'removed')),
  ]
  const columns = [{ head: 'FILE' }, { head: 'LAST ENTRY' }, { head: 'SIZE' }, { head: 'ACTION' }]
  const isIdle = rows.length === 0
  return [
    ...(isIdle ? [enable ?? 'nothing to do'] : table(columns, rows, cli.width, cli.colors)),
    ...rangesOf(kept).map((range) => cli.colors.dim(lineOf(range))),
    ...(dryRun && !isIdle ? ['dry run: nothing was changed'] : []),
  ].join('\n')
}

interface KeptRange {
  first: number
  last: number
  reason: string
}

/** Consecutive files kept for the same reason share a line. */
function rangesOf(kept: ArchiveReport['kept']): KeptRange[] {
  const ranges: KeptRange[] = []
  for (const { segment, reason } of kept) {
    const before = ranges.at(-1)
    if (before?.reason === reason && before.last + 1 === segment) before.last = segment
    else ranges.push({ first: segment, last: segment, reason })
  }
  return ranges
}

const lineOf = ({ first, last, reason }: KeptRange): string =>
  `${first === last ? first : `${first} to ${last}`} kept: ${reason}`

const rowOf = ({ segment, lastAt, bytes }: ArchivedSegment, what: string): string[] => [
  `${segment}`,
  day(lastAt),
  describeSize(bytes),
  what,
]
