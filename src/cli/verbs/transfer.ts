import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { streamFileAtomically } from '../../base/files.ts'
import { parseStrictJson } from '../../base/json.ts'
import { unreadableHint, unreadableText } from '../../model/unreadable.ts'
import type { DiskSpace } from '../../space/space.ts'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { readLines } from '../input.ts'
import { interruptSignal, wasInterrupted, yieldToSignals } from '../interrupt.ts'
import { open } from '../open.ts'
import { write } from '../output.ts'
import { count, createProgress } from '../progress.ts'

export function exportMessages(command: Command): void {
  command
    .description(
      'Export all messages with their receipts, oldest first, as JSON lines: {"message": ..., "receipts": [...]}.',
    )
    .option('--out <file>', 'write to a file, which is created once complete (default: standard output)')
    .addHelpText('after', examples('mailbox export --out mail.jsonl', 'mailbox export | jq .message.subject'))
  action(command, async (cli, { out }: { out?: string }) => {
    await using space = await open(cli, { existing: true })
    const end = await space.lastSeq()
    const progress = createProgress(cli, 'exporting')
    const lines = exportedLines(space, end, (seq) => progress.report(seq, end))
    const exported = await (out === undefined ? print(lines) : writeFile(out, lines)).finally(progress.end)
    throwIfInterrupted()
    const unreadable = cli.unreadable()
    if (unreadable.length > 0) cli.warn(`${unreadableText(unreadable)}; ${unreadableHint}`)
    if (out !== undefined)
      cli.confirm({ exported, file: out }, () => `exported ${count(exported)} messages to ${out}`)
  })
}

/** Every message up to a point, with the agents its sender excluded. */
async function* exportedLines(
  space: DiskSpace,
  end: number,
  onProgress: (seq: number) => void,
): AsyncGenerator<string> {
  for await (const { entry } of space.entries(0, interruptSignal())) {
    onProgress(entry.seq)
    await yieldToSignals()
    if (entry.kind === 'message') {
      const { message, exclude } = entry
      const { receipts } = await space.show(message.id)
      yield `${JSON.stringify({ message, ...(exclude && { exclude }), receipts })}\n`
    }
    if (entry.seq >= end) return
  }
}

function throwIfInterrupted(): void {
  if (wasInterrupted()) throw new MailboxError('interrupted', 'the export was cancelled')
}

async function print(lines: AsyncIterable<string>): Promise<number> {
  let written = 0
  for await (const line of lines) {
    await write(line)
    written++
  }
  return written
}

async function writeFile(path: string, lines: AsyncIterable<string>): Promise<number> {
  let written = 0
  await streamFileAtomically(path, async (file) => {
    for await (const line of lines) {
      await file.write(line)
      written++
    }
    throwIfInterrupted()
  })
  return written
}

export function importMessages(command: Command): void {
  command
    .description(
      'Import messages written by `mailbox export`. They keep their id, sender and time. Messages that already exist are skipped.',
    )
    .argument('[file]', 'the file to read, or - for standard input', '-')
    .addHelpText(
      'after',
      examples('mailbox import mail.jsonl', 'mailbox --space a export | mailbox --space b import -'),
    )
  action(command, async (cli, path: string) => {
    await using space = await open(cli)
    const progress = createProgress(cli, 'importing')
    const { lines, at } = parsedLines(path, progress.report)
    try {
      const { imported, skipped } = await space.importMessages(lines)
      cli.confirm(
        { imported, skipped },
        () => `imported ${count(imported)} messages, skipped ${count(skipped)} that already exist`,
      )
    } catch (error) {
      throw atLine(error, at())
    } finally {
      progress.end()
    }
  })
}

/** The lines as JSON, and the number of the last one read. */
function parsedLines(path: string, onProgress: (line: number) => void) {
  let current = 0
  async function* parse(): AsyncGenerator<unknown> {
    for await (const { line, number } of readLines(path)) {
      current = number
      onProgress(number)
      yield parseStrictJson(line)
    }
  }
  return { lines: parse(), at: () => current }
}

/** Earlier lines have been imported; importing again skips them. */
function atLine(error: unknown, line: number): unknown {
  if (!(error instanceof MailboxError) || error.code !== 'invalid' || line === 0) return error
  return new MailboxError('invalid', `line ${line}: ${error.message}`, {
    cause: error,
    hint: 'each line must be a JSON object as written by `mailbox export`; fix the line and import again',
  })
}
