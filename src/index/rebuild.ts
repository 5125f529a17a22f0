import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { attachedName } from '../base/sqlite.ts'
import type { Journal } from '../journal/journal.ts'
import { Background } from './background.ts'
import { openIndex } from './open.ts'
import type { CatchUpOptions, Projection } from './projection.ts'
import { isUnwritable } from './unwritable.ts'

/** Discards and rebuilds the tables and the full-text index, in parallel where a thread is available. */
export async function rebuild(
  dir: string,
  tables: Projection,
  words: Projection,
  { onProgress = () => {}, signal }: Pick<CatchUpOptions, 'onProgress' | 'signal'> = {},
): Promise<void> {
  const reached = { tables: 0, words: 0 }
  const report = (which: keyof typeof reached) => (seq: number) => {
    reached[which] = seq
    onProgress(Math.floor((reached.tables + reached.words) / 2))
  }
  const thread = new Background({ dir, projection: 'words' })
  tables.discard()
  words.discard()
  const besides = thread.catchUp(report('words'))
  try {
    await build(tables, { onProgress: report('tables'), signal })
    await Promise.race([besides, aborted(signal)])
    await build(words, { onProgress: report('words'), signal })
  } finally {
    await thread.close()
  }
}

/** Lets other work run between chunks. */
async function build(projection: Projection, options: CatchUpOptions): Promise<void> {
  while (projection.catchUp({ ...options, chunks: 1 })) await new Promise(setImmediate)
}

const aborted = (signal: AbortSignal | undefined) =>
  new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

/** Builds a second index from the same journal, and reports every table in which the two differ. */
export function compareWithRebuild(dir: string, journal: Journal, index: Projection): string[] {
  const scratch = mkdtempSync(join(tmpdir(), 'mailbox-verify-'))
  const fresh = openIndex(journal, [{ dir: scratch, withLock: (work) => work(), leave() {} }])
  try {
    fresh.catchUp()
    // The last steps while nobody writes, so that both are compared in the same state.
    const [wanted, found] = whileStill(journal, () => [
      fresh.read(() => dump(fresh)),
      index.read(() => dump(index)),
    ])
    return [...wanted.keys()]
      .filter((table) => found.get(table) !== wanted.get(table))
      .map((table) => `index: table ${table} in ${dir} differs from a rebuilt one; run \`mailbox rebuild\``)
  } finally {
    fresh.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Where nobody can write, nobody has to be kept from it. */
function whileStill<T>(journal: Journal, work: () => T): T {
  let isLocked = false
  try {
    return journal.withLock(() => {
      isLocked = true
      return work()
    })
  } catch (error) {
    const isRefused = error instanceof MailboxError && error.code === 'not_permitted'
    if (isLocked || !(isRefused || isUnwritable(error))) throw error
    return work()
  }
}

function dump(index: Projection): Map<string, string> {
  const tables = index
    .sql(
      `SELECT name FROM ${attachedName}.sqlite_schema WHERE type = 'table' AND name <> 'meta' ORDER BY name`,
    )
    .all<[string]>()
  return new Map(tables.map(([name]) => [name, JSON.stringify(index.sql(`SELECT * FROM ${name}`).all())]))
}
