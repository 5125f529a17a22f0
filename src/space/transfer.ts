import { MailboxError } from '../base/errors.ts'
import type { EntryLine, Outcome } from '../command/import.ts'
import type { ImportLine } from '../command/import-check.ts'
import { person } from '../model/agent.ts'
import type { Settings } from '../model/settings.ts'
import { type ExportLine, exportFormat } from '../model/transfer.ts'
import {
  type ExportedEntry,
  exportedAgents,
  exportedEntry,
  exportedScheduled,
  isExported,
} from '../query/export.ts'
import type { SpaceCore } from './core.ts'
import { ownSettings, writeSettings } from './settings.ts'
import { changeShared } from './shared.ts'

export interface ExportOptions {
  signal?: AbortSignal | undefined
  /** Called with the seq that was reached, and the last one. */
  onProgress?: (seq: number, end: number) => void
}

/** How many entries are looked up in the index at once. */
const exportedAtOnce = 512

/** Everything that makes a space, as it is now: settings, roster, and every message and step in order. */
export async function* exportLines(core: SpaceCore, options: ExportOptions = {}): AsyncGenerator<ExportLine> {
  const { signal, onProgress = () => {} } = options
  const { end, agents } = await core.query((source) => {
    return { end: source.index.cursor.seq, agents: exportedAgents(source) }
  })
  yield { kind: 'export', format: exportFormat }
  yield { kind: 'settings', settings: ownSettings(core.dir) }
  yield* agents
  let page: ExportedEntry[] = []
  const lines = () => core.query((source) => page.flatMap((entry) => exportedEntry(source, entry)))
  for await (const { entry } of core.followStored({ after: 0, signal, live: false })) {
    if (entry.seq > end) break
    onProgress(entry.seq, end)
    if (isExported(entry)) page.push(entry)
    if (page.length < exportedAtOnce) continue
    yield* await lines()
    page = []
  }
  yield* await lines()
  yield* await core.query(exportedScheduled)
}

/** A line of an export: its number, and its value or why it has none. */
export type NumberedLine = { line: number; value: unknown } | { line: number; error: MailboxError }

export async function* numbered(
  values: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<NumberedLine> {
  let line = 0
  for await (const value of values) yield { line: ++line, value }
}

export interface ImportOptions {
  /** Who imports: only the person may import mail of the person or the system. @default the person */
  by?: string
  /** Called with every line that is refused. */
  onRefused?: (refusal: Refusal) => void
}

export interface Refusal {
  /** The number of the line, from 1. */
  line: number
  reason: string
}

/** What an import did. */
export interface Imported {
  /** Messages that were added, and that were here already. */
  imported: number
  skipped: number
  /** Steps of receipts that were added. */
  receipts: number
  /** Agents that were added, and that were here already. */
  agents: number
  agentsSkipped: number
  /** Settings that were set. */
  settings: number
  /** How many lines were refused, and why: the first thousand. */
  refused: number
  refusals: Refusal[]
}

/** How much is decided with one lock and one sync. */
const linesAtOnce = 4_000
const textAtOnce = 4_194_304
const refusalsAtMost = 1_000

/** What a line is refused for. Anything else is about the space, and ends the import. */
const refusals: readonly string[] = ['invalid', 'over_limit', 'not_permitted']

export async function importLines(
  core: SpaceCore,
  lines: AsyncIterable<NumberedLine> | Iterable<NumberedLine>,
  { by = person, onRefused = () => {} }: ImportOptions = {},
): Promise<Imported> {
  const [{ checkImport }, { ImportRun }] = await Promise.all([
    import('../command/import-check.ts'),
    import('../command/import.ts'),
  ])
  core.mustBeOpen()
  const done: Imported = {
    ...{ imported: 0, skipped: 0, receipts: 0, agents: 0, agentsSkipped: 0, settings: 0 },
    ...{ refused: 0, refusals: [] },
  }
  const run = new ImportRun()
  const checks = { maxBytes: core.settings['limits.messageBytes'], by }
  let batch: { line: number; entry: EntryLine }[] = []
  let text = 0

  function refuse(line: number, error: unknown): void {
    if (!(error instanceof MailboxError) || !refusals.includes(error.code)) throw error
    const refusal = { line, reason: error.message }
    done.refused++
    if (done.refusals.length < refusalsAtMost) done.refusals.push(refusal)
    onRefused(refusal)
  }

  function check(item: NumberedLine): ImportLine | undefined {
    try {
      if ('error' in item) throw item.error
      return checkImport(item.value, checks)
    } catch (error) {
      if ('value' in item) run.refuse(idIn(item.value))
      return void refuse(item.line, error)
    }
  }

  async function flush(): Promise<void> {
    const now = batch
    batch = []
    text = 0
    if (now.length === 0) return
    const entries = now.map(({ entry }) => entry)
    // The lines that a run has met count once, so the decision must not be taken again for a key.
    if (core.vault.isOn && entries.some(hasText)) await core.vault.prepare()
    const { result } = await core.decide('index', (view) => run.decide(view, entries))
    for (const [at, outcome] of result.entries()) {
      if (outcome instanceof MailboxError) refuse(now[at]!.line, outcome)
      else count(done, entries[at]!, outcome)
    }
  }

  for await (const item of lines) {
    const checked = check(item)
    if (checked === undefined || checked.kind === 'export') continue
    if (checked.kind === 'settings') {
      await flush()
      const restored = await restore(core, checked.settings)
      done.settings += Object.keys(restored).length
      checks.maxBytes = restored['limits.messageBytes'] ?? checks.maxBytes
      continue
    }
    batch.push({ line: item.line, entry: checked })
    if (checked.kind === 'message' || checked.kind === 'scheduled') text += checked.message.body.length
    if (batch.length >= linesAtOnce || text >= textAtOnce) await flush()
  }
  await flush()
  return done
}

function count(done: Imported, { kind }: EntryLine, outcome: Exclude<Outcome, MailboxError>): void {
  const isNew = outcome === 'imported'
  if (kind === 'message' || kind === 'scheduled') done[isNew ? 'imported' : 'skipped']++
  else if (kind === 'agent') done[isNew ? 'agents' : 'agentsSkipped']++
  else if (isNew) done.receipts++
}

/** Whether there is something in a line that an encrypted space encrypts. */
const hasText = (entry: EntryLine): boolean =>
  entry.kind === 'message' || entry.kind === 'scheduled'
    ? entry.message.sealed === undefined
    : entry.kind === 'receipt' && entry.note !== undefined

/** The id of a message that is refused, if it can be told. */
const idIn = (value: unknown): unknown => (value as { message?: { id?: unknown } } | null)?.message?.id

/** A space that has mail has settings that its agents live by; a new one takes over those of the export. */
async function restore(core: SpaceCore, settings: Partial<Settings>): Promise<Partial<Settings>> {
  const isNew = await core.query((source) => core.viewOf(source).directory.firstMessage === undefined)
  if (!isNew) return {}
  const write = () => core.exclusively(() => writeSettings(core.dir, settings))
  return changeShared(core.dir, 'config.json', write)
}
