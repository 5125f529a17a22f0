import type { Command } from 'commander'
import type { VerifyOptions, VerifyReport } from '../../journal/file/verify.ts'
import { fetchAgain, isCopy } from '../../space/copy.ts'
import { parseHead, rememberHead } from '../../space/head.ts'
import { unreadableIn } from '../../space/unreadable.ts'
import { verifyDir, verifyIndex } from '../../space/upkeep.ts'
import { action, type Cli } from '../cli.ts'
import { unreadableRecord } from '../format/unreadable.ts'
import { examples } from '../help.ts'
import { readText } from '../input.ts'
import { interruptSignal } from '../interrupt.ts'
import { existingSpaceDir, openFiles } from '../open.ts'
import { count, createProgress } from '../progress.ts'

export function verify(command: Command): void {
  command
    .description(
      'Check the checksum, sequence number and link of every line in the journal. Nothing is changed.',
    )
    .option('--deep', 'also compare the index with a fresh rebuild')
    .option('--head <file>', 'also compare the journal with what `mailbox audit --head` printed')
    .addHelpText('after', examples('mailbox verify', 'mailbox verify --deep --json'))
  action(command, async (cli, { deep = false, head }: { deep?: boolean; head?: string }) => {
    const dir = existingSpaceDir(cli)
    const kept = head === undefined ? undefined : parseHead(await readText(head))
    const seen = kept === undefined ? {} : { seenIn: () => kept }
    const progress = createProgress(cli, 'verifying')
    const onProgress = ({ bytes, total }: { bytes: number; total: number }) => progress.report(bytes, total)
    const report = await verifyWherever(cli, dir, { signal: interruptSignal(), onProgress, ...seen }).finally(
      progress.end,
    )
    if (deep) {
      await using space = await openFiles(cli)
      await verifyIndex(space.core, report)
    }
    const ok = report.problems.length === 0
    if (ok) rememberHead(dir)
    const unreadable = ok ? [] : unreadableIn(dir)
    cli.unreadable = () => []
    cli.answer({ ok, ...report, ...(unreadable.length > 0 && { unreadable }) }, () =>
      [verdict(cli, report), ...unreadable.map((record) => `  ${unreadableRecord(record)}`)].join('\n'),
    )
    if (!ok) process.exitCode = 1
  })
}

async function verifyWherever(cli: Cli, dir: string, options: VerifyOptions): Promise<VerifyReport> {
  // The space is not opened for this: opening builds an index, and may repair what is to be found here.
  if (!isCopy(dir)) return verifyDir(dir, options)
  await using space = await openFiles(cli)
  return space.verify(options)
}

function verdict(
  { colors }: Cli,
  { entries, messages, segments, torn, unsigned, problems }: VerifyReport,
): string {
  const scope = `${count(entries)} entries, ${count(messages)} messages, ${segments} ${segments === 1 ? 'file' : 'files'}`
  const cut =
    torn.length === 0
      ? []
      : [`${torn.length} interrupted ${torn.length === 1 ? 'write' : 'writes'}; no confirmed mail was lost`]
  if (unsigned.length > 0) cut.push(unsignedText(unsigned))
  if (problems.length === 0) return [`${colors.green('OK:')} ${scope}`, ...cut].join('\n')
  return [`${colors.red('damaged:')} ${scope}`, ...cut, ...problems.map((problem) => `  ${problem}`)].join(
    '\n',
  )
}

/** Sent from where the key of their sender is not, or by somebody who does not have it. */
function unsignedText(unsigned: readonly number[]): string {
  const shown = unsigned.slice(0, 10).join(', ')
  const more = unsigned.length > 10 ? ` and ${unsigned.length - 10} more` : ''
  if (unsigned.length === 1)
    return `1 message is not signed, though its sender has signed before: entry ${shown}`
  return `${count(unsigned.length)} messages are not signed, though their senders have signed before: entries ${shown}${more}`
}

export function rebuild(command: Command): void {
  command
    .description(
      'Delete the index and rebuild it from the journal. No data is lost. For a space in a database, fetch the copy of this machine again as well.',
    )
    .addHelpText('after', examples('mailbox rebuild'))
  action(command, async (cli) => {
    const aside = isCopy(existingSpaceDir(cli)) ? await fetchAgain(existingSpaceDir(cli)) : undefined
    if (aside !== undefined)
      cli.warn(`the copy of this machine had entries that the database does not have: they are in ${aside}`)
    await using space = await openFiles(cli)
    const entries = await space.lastSeq()
    const progress = createProgress(cli, 'rebuilding')
    const started = performance.now()
    const onProgress = (seq: number) => progress.report(seq, entries)
    await space.rebuild({ signal: interruptSignal(), onProgress }).finally(progress.end)
    const ms = Math.round(performance.now() - started)
    cli.answer(
      { entries, ms },
      () => `rebuilt from ${count(entries)} entries in ${(ms / 1_000).toFixed(1)} s`,
    )
  })
}
