import { type Command, InvalidArgumentError, Option } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { streamFileAtomically } from '../../base/files.ts'
import { parseStrictJson } from '../../base/json.ts'
import { unreadableHint, unreadableText } from '../../model/unreadable.ts'
import { tryToRecord } from '../../space/audit.ts'
import type { DiskSpace } from '../../space/space.ts'
import { type Imported, importLines, type NumberedLine } from '../../space/transfer.ts'
import { action, type Cli } from '../cli.ts'
import { type GraphWriter, graphShapes } from '../format/graph.ts'
import { examples } from '../help.ts'
import { readLines } from '../input.ts'
import { interruptSignal, wasInterrupted, yieldToSignals } from '../interrupt.ts'
import { open, personAction } from '../open.ts'
import { write } from '../output.ts'
import { count, createProgress } from '../progress.ts'

interface ExportFlags {
  out?: string
  graph?: true | keyof typeof graphShapes
  after?: number
}

export function exportMessages(command: Command): void {
  command
    .description(
      'Export the whole space as JSON lines, each with its `kind` first: settings, agents, messages, and every step of their receipts. `mailbox import` restores it. With --graph, export messages as an entity graph instead.',
    )
    .option('--out <file>', 'write to a file, which is created once complete (default: standard output)')
    .addOption(
      new Option(
        '--graph [shape]',
        'messages as situations with their actors and content: jsonld (default) or seed',
      ).choices(Object.keys(graphShapes)),
    )
    .option('--after <seq>', 'with --graph: only what came after the cursor that the last run gave', cursor)
    .addHelpText(
      'after',
      examples(
        'mailbox export --out space.jsonl',
        `mailbox export | jq -r 'select(.kind == "message").message.subject'`,
        'mailbox export --graph --after 1200 --out new.jsonld',
      ),
    )
  action(command, async (cli, { out, graph, after }: ExportFlags) => {
    if (after !== undefined && graph === undefined)
      throw new MailboxError('invalid', '--after goes with --graph', {
        hint: 'an export is always whole; importing it again skips what is there already',
      })
    await using space = await open(cli)
    const end = await space.lastSeq()
    const progress = createProgress(cli, 'exporting')
    const tally = { messages: 0 }
    const onProgress = (seq: number) => progress.report(seq, end)
    const texts =
      graph === undefined
        ? exportedLines(space, tally, onProgress)
        : graphTexts(
            space,
            graphShapes[graph === true ? 'jsonld' : graph](),
            after ?? 0,
            end,
            tally,
            onProgress,
          )
    await (out === undefined ? print(texts) : writeFile(out, texts)).finally(progress.end)
    throwIfInterrupted()
    const unreadable = cli.unreadable()
    if (unreadable.length > 0) cli.warn(`${unreadableText(unreadable)}; ${unreadableHint}`)
    const next = graph === undefined ? {} : { next: end }
    if (out === undefined && graph !== undefined) cli.hint(`next: --after ${end}`)
    if (out !== undefined)
      cli.confirm({ exported: tally.messages, file: out, ...next }, () =>
        [
          `exported ${count(tally.messages)} messages to ${out}`,
          ...(graph === undefined ? [] : [`next: --after ${end}`]),
        ].join('\n'),
      )
  })
}

function cursor(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('use the number that the last run gave as next')
}

interface Tally {
  messages: number
}

async function* exportedLines(
  space: DiskSpace,
  tally: Tally,
  onProgress: (seq: number) => void,
): AsyncGenerator<string> {
  for await (const line of space.exportLines({ signal: interruptSignal(), onProgress })) {
    await yieldToSignals()
    if (line.kind === 'message') tally.messages++
    yield `${JSON.stringify(line)}\n`
  }
}

async function* graphTexts(
  space: DiskSpace,
  graph: GraphWriter,
  after: number,
  end: number,
  tally: Tally,
  onProgress: (seq: number) => void,
): AsyncGenerator<string> {
  yield graph.begin
  let between = ''
  for await (const { entry } of space.entries(after, interruptSignal())) {
    if (entry.seq > end) break
    onProgress(entry.seq)
    await yieldToSignals()
    if (entry.kind === 'message') tally.messages++
    for (const part of graph.parts(entry)) {
      yield between + part
      between = graph.between
    }
  }
  yield graph.end(end)
}

function throwIfInterrupted(): void {
  if (wasInterrupted()) throw new MailboxError('interrupted', 'the export was cancelled')
}

async function print(texts: AsyncIterable<string>): Promise<void> {
  for await (const text of inPortions(texts)) await write(text)
}

async function writeFile(path: string, texts: AsyncIterable<string>): Promise<void> {
  await streamFileAtomically(path, async (file) => {
    for await (const text of inPortions(texts)) await file.write(text)
    throwIfInterrupted()
  })
}

const portionLength = 65_536

/** A system call for every line would take longer than all the rest. */
async function* inPortions(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let portion = ''
  for await (const text of texts) {
    portion += text
    if (portion.length < portionLength) continue
    yield portion
    portion = ''
  }
  if (portion !== '') yield portion
}

export function importMessages(command: Command): void {
  command
    .description(
      'Import what `mailbox export` wrote. Messages and agents that already exist are left as they are, so an import can be repeated. Lines that cannot be accepted are reported with their numbers, and the others are imported.',
    )
    .argument('[file]', 'the file to read, or - for standard input', '-')
    .option(
      '--format <format>',
      'take over the history of another system instead, from its folder: adr003, haak, jean-claude, ao or ralph',
    )
    .addHelpText(
      'after',
      examples(
        'mailbox import space.jsonl',
        'mailbox --space a export | mailbox --space b import -',
        'mailbox import --format adr003 ./workspace',
      ),
    )
  personAction(command, 'import mail', async (cli, path: string, { format }: { format?: string }) => {
    if (format !== undefined) return (await import('./import-folder.ts')).importFrom(cli, format, path)
    await using space = await open(cli, { creates: true })
    const progress = createProgress(cli, 'importing')
    const onRefused = ({ line, reason }: { line: number; reason: string }) => {
      progress.end()
      if (!cli.json) cli.warn(`line ${line}: ${reason}`)
    }
    const lines = parsedLines(path, progress.report)
    const done = await importLines(space.core, lines, { by: cli.actor, onRefused }).finally(progress.end)
    if (done.imported > 0) {
      const note = `${count(done.imported)} ${done.imported === 1 ? 'message' : 'messages'}`
      await tryToRecord(space.core, { event: 'imported', by: cli.actor, note })
    }
    cli.confirm(done, () => importSummary(cli, done))
    if (done.refused > 0) process.exitCode = 1
  })
}

/** The lines as JSON. One that is none is refused like any other. */
async function* parsedLines(path: string, onProgress: (line: number) => void): AsyncGenerator<NumberedLine> {
  for await (const read of readLines(path)) {
    const { number: line } = read
    onProgress(line)
    try {
      if ('error' in read) throw read.error
      yield { line, value: parseStrictJson(read.text) }
    } catch (error) {
      if (!(error instanceof MailboxError)) throw error
      yield { line, error }
    }
  }
}

export function importSummary({ colors }: Cli, done: Imported): string {
  const { imported, skipped, receipts, agents, agentsSkipped, settings, refused } = done
  const known = (n: number) => (n === 0 ? '' : ` (${count(n)} already exist)`)
  return [
    `imported ${count(imported)} messages${known(skipped)}, ${count(receipts)} steps of receipts, ${count(agents)} agents${known(agentsSkipped)}, ${count(settings)} settings`,
    ...(refused === 0 ? [] : [colors.yellow(`refused ${count(refused)} lines`)]),
  ].join('\n')
}
