import type { Command } from 'commander'
import type { DiskSpace } from '../../space/space.ts'
import { action, type Cli } from '../cli.ts'
import { createEntryWriter } from '../format/entry.ts'
import { examples } from '../help.ts'
import { giveWay, interruptSignal } from '../interrupt.ts'
import { open } from '../open.ts'
import { whole } from '../options.ts'
import { write } from '../output.ts'
import { count } from '../progress.ts'

interface LogFlags {
  follow?: boolean
  after?: number
  limit?: number
}

export function log(command: Command): void {
  command
    .description(
      'Show everything that happened in the space, in order: messages, receipts, who came and went.',
    )
    .option('--follow', 'go on with what happens from now on; Ctrl-C ends it')
    .option('--after <seq>', 'begin behind this entry', whole(0))
    .option('--limit <n>', 'the newest n entries; with --after, the n entries that follow it', whole(1))
    .addHelpText(
      'after',
      examples('mailbox log --limit 20', 'mailbox log --follow', 'mailbox log --after 120 --json'),
    )
  action(command, async (cli, flags: LogFlags) => {
    await using space = await open(cli)
    const end = await space.lastSeq()
    greet(cli, space, end, flags)
    const format = cli.json ? JSON.stringify : createEntryWriter(cli)
    for await (const { entry } of entries(space, end, flags)) {
      await write(`${format(entry)}\n`)
      await giveWay()
    }
  })
}

/** The part of the journal that was asked for. */
async function* entries(
  space: DiskSpace,
  end: number,
  { follow = false, after, limit }: LogFlags,
): ReturnType<DiskSpace['follow']> {
  const start = after ?? (limit === undefined ? 0 : Math.max(0, end - limit))
  const last = after !== undefined && limit !== undefined ? after + limit : Number.POSITIVE_INFINITY
  const stop = follow ? last : Math.min(end, last)
  if (start >= stop) return
  for await (const placed of space.follow({ after: start, signal: interruptSignal() })) {
    yield placed
    if (placed.entry.seq >= stop) return
  }
}

/** The journal of a new space begins with one entry of its own. */
const emptyEnd = 1

function greet(cli: Cli, space: DiskSpace, end: number, { follow }: LogFlags): void {
  cli.hint(
    `space ${space.dir}, ${end === 1 ? '1 entry' : `${count(end)} entries`}${follow ? '; Ctrl-C ends this' : ''}`,
  )
  if (end > emptyEnd) return
  const elsewhere = follow ? ', in another terminal' : ''
  cli.hint(
    [
      `nothing has happened here yet. Try this${elsewhere}:`,
      `  ${cli.command('join ada --role architect')}`,
      `  ${cli.command('send role:architect --subject Hello --body "Is anybody there?"')}`,
      `  ${cli.command('check --as ada')}`,
    ].join('\n'),
  )
}
