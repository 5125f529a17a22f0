import type { Command } from 'commander'
import type { Entry } from '../../model/entry.ts'
import { toSafeJson } from '../../model/text.ts'
import { unreadableHint, unreadableText } from '../../model/unreadable.ts'
import type { OpenedSpace } from '../../space/api.ts'
import { action, type Cli } from '../cli.ts'
import { createEntryWriter } from '../format/entry.ts'
import { examples } from '../help.ts'
import { interruptSignal, yieldToSignals } from '../interrupt.ts'
import { open } from '../open.ts'
import { whole } from '../options.ts'
import { write } from '../output.ts'
import { openPager } from '../pager.ts'
import { count } from '../progress.ts'

interface LogFlags {
  follow?: boolean
  after?: number
  limit?: number
}

export function log(command: Command): void {
  command
    .description(
      'Show everything that happened in the space, in order: messages, receipts, and agents joining and leaving.',
    )
    .option('--follow', 'keep printing new entries; press Ctrl-C to stop')
    .option('--after <seq>', 'start after this entry', whole(0))
    .option('--limit <n>', 'only the newest n entries; with --after, the next n entries', whole(1))
    .addHelpText(
      'after',
      examples('mailbox log --limit 20', 'mailbox log --follow', 'mailbox log --after 120 --json'),
    )
  action(command, async (cli, flags: LogFlags) => {
    await using space = await open(cli)
    const end = await space.lastSeq()
    printHints(cli, space, end, flags)
    const format = cli.json ? toSafeJson : createEntryWriter(cli)
    const isPaged = !cli.json && !flags.follow && cli.globals.pager !== false
    const pager = isPaged ? openPager() : undefined
    for await (const { entry } of entries(space, end, flags)) {
      const text = `${format(entry)}\n`
      if (pager === undefined) await write(text)
      else if (!(await pager.write(text))) break
      await yieldToSignals()
    }
    await pager?.end()
    const unreadable = cli.unreadable()
    if (unreadable.length > 0) cli.warn(`${unreadableText(unreadable)}; ${unreadableHint}`)
  })
}

/** The requested part of the journal. */
async function* entries(
  space: OpenedSpace,
  end: number,
  { follow = false, after, limit }: LogFlags,
): AsyncGenerator<{ entry: Entry }> {
  const start = after ?? (limit === undefined ? 0 : Math.max(0, end - limit))
  const last = after !== undefined && limit !== undefined ? after + limit : Number.POSITIVE_INFINITY
  const stop = follow ? last : Math.min(end, last)
  if (start >= stop) return
  const signal = interruptSignal()
  for await (const placed of follow ? space.follow({ after: start, signal }) : space.entries(start, signal)) {
    yield placed
    if (placed.entry.seq >= stop) return
  }
}

/** The journal of a new space has one entry. */
const emptyEnd = 1

function printHints(cli: Cli, space: OpenedSpace, end: number, { follow }: LogFlags): void {
  const entries = end === 1 ? '1 entry' : `${count(end)} entries`
  cli.hint(`space ${space.place}, ${entries}${follow ? '; press Ctrl-C to stop' : ''}`)
  if (end > emptyEnd) return
  const elsewhere = follow ? ', in another terminal' : ''
  cli.hint(
    [
      `Nothing has happened here yet. Try this${elsewhere}:`,
      `  ${cli.command('join ada --role architect')}`,
      `  ${cli.command('send role:architect --subject Hello --body "Anyone there?"')}`,
      `  ${cli.command('check --as ada')}`,
    ].join('\n'),
  )
}
