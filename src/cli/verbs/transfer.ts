import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { streamFileAtomically } from '../../base/files.ts'
import { parseStrictJson } from '../../base/json.ts'
import type { DiskSpace } from '../../space/space.ts'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { readLines } from '../input.ts'
import { giveWay, interruptSignal, wasInterrupted } from '../interrupt.ts'
import { open } from '../open.ts'
import { write } from '../output.ts'
import { count, createProgress } from '../progress.ts'

export function exportMessages(command: Command): void {
  command
    .description(
      'Write all messages with their receipts as JSON lines: {"message": ..., "receipts": [...]}, the oldest first.',
    )
    .option('--out <file>', 'write to a file, which appears when it is complete (default: standard output)')
    .addHelpText('after', examples('mailbox export --out mail.jsonl', 'mailbox export | jq .message.subject'))
  action(command, async (cli, { out }: { out?: string }) => {
    await using space = await open(cli, { existing: true })
    const end = await space.lastSeq()
    const progress = createProgress(cli, 'exporting')
    const lines = exportedLines(space, end, (seq) => progress.report(seq, end))
    const exported = await (out === undefined ? print(lines) : writeFile(out, lines)).finally(progress.end)
    mustGoOn()
    if (out !== undefined)
      cli.confirm({ exported, file: out }, () => `${count(exported)} messages written to ${out}`)
  })
}

/** Every message up to a point. Whom a sender left out of a group belongs to it too. */
async function* exportedLines(
  space: DiskSpace,
  end: number,
  onProgress: (seq: number) => void,
): AsyncGenerator<string> {
  for await (const { entry } of space.follow({ after: 0, signal: interruptSignal() })) {
    onProgress(entry.seq)
    await giveWay()
    if (entry.kind === 'message') {
      const { message, exclude } = entry
      const { receipts } = await space.show(message.id)
      yield `${JSON.stringify({ message, ...(exclude && { exclude }), receipts })}\n`
    }
    if (entry.seq >= end) return
  }
}

function mustGoOn(): void {
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
    mustGoOn()
  })
  return written
}

export function importMessages(command: Command): void {
  command
    .description(
      'Take in messages that `mailbox export` wrote. They keep id, sender and time; those that are here already are skipped.',
    )
    .argument('[file]', 'what to read; - is standard input', '-')
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
        () => `${count(imported)} messages imported, ${count(skipped)} were here already`,
      )
    } catch (error) {
      throw atLine(error, at())
    } finally {
      progress.end()
    }
  })
}

/** The lines as JSON, and how far they have been taken. */
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

/** What came before the line is in; running the import again skips it. */
function atLine(error: unknown, line: number): unknown {
  if (!(error instanceof MailboxError) || error.code !== 'invalid' || line === 0) return error
  return new MailboxError('invalid', `line ${line}: ${error.message}`, {
    cause: error,
    hint: 'each line is one JSON object as `mailbox export` writes it; mend it and import again',
  })
}
