import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { linkTo } from '../../src/journal/copy/origin.ts'
import { FileJournal, type FileJournalOptions } from '../../src/journal/file/file-journal.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { parseAddress } from '../../src/journal/postgres/address.ts'
import { PostgresJournal, type PostgresJournalOptions } from '../../src/journal/postgres/postgres-journal.ts'
import type { Settings } from '../../src/model/settings.ts'
import type { OpenSpaceOptions } from '../../src/space/api.ts'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { freshAddress } from './postgres.ts'
import { removeTree } from './remove-tree.ts'
import { skipTest } from './skip.ts'
import { withDesk } from './with-desk.ts'

/** A directory for one test, gone when the test is over. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'mailbox-test-'))
  onTestFinished(() => removeTree(dir))
  return dir
}

/** Most tests kill nothing, and send as much as they like. */
export const testSettings = { durability: 'os', 'limits.ratePerMinute': 0, 'limits.inbox': 0 } as const

/** For stories over months: nobody dies of silence, and nothing is escalated. */
export const patientSettings = {
  ...{ silentAfterMs: 0, heartbeatMs: 0, urgentAfterMs: 0, staleAfterMs: 0, ackTimeoutMs: 0 },
} as const

let encrypts = false

/** Whether the spaces of tests are encrypted, so that the same stories can be told in them: test/encrypted. */
export function encryptSpaces(on: boolean): void {
  encrypts = on
}

/** The settings of a test's space that hold for every process that opens it. */
export const sharedSettings = (): Partial<Settings> => (encrypts ? { encrypt: 'space' } : {})

/** Whether the suites that can run over any journal run over PostgreSQL: TEST_JOURNAL=postgres. */
export const isOnPostgres = (): boolean => process.env['TEST_JOURNAL'] === 'postgres'

/** Skips a test that changes the files of the journal, is about their copies, or about the clock of a machine: over PostgreSQL there are none of these. */
export function needFiles(): void {
  if (isOnPostgres()) skipTest('needs a journal on files')
}

/** Gives a directory, which need not exist yet, a space in the database of the tests, if they run over PostgreSQL. */
export async function placeSpace(dir: string): Promise<string> {
  if (isOnPostgres()) linkTo(parseAddress(await freshAddress()), dir)
  return dir
}

/** Opens a space for the length of a test. */
export async function tempSpace(options: Partial<OpenSpaceOptions> = {}): Promise<DiskSpace> {
  const dir = options.dir ?? (await placeSpace(tempDir()))
  const settings = { ...sharedSettings(), ...testSettings, ...options.settings }
  const space = await openDisk({ ...options, dir, settings })
  await withDesk(space, { ...options, settings })
  onTestFinished(() => space.close())
  return space
}

/** Opens a file journal for the length of a test. */
export function tempJournal(options: Partial<FileJournalOptions> = {}): FileJournal {
  return untilEnd(new FileJournal({ durability: 'os', ...options, dir: options.dir ?? tempDir() }))
}

/** A test may close it early; closing again at the end must not disturb. */
function untilEnd<J extends Journal>(journal: J): J {
  let closed: Promise<void> | undefined
  const close = journal.close.bind(journal)
  journal.close = () => (closed ??= close())
  onTestFinished(() => journal.close())
  return journal
}

/** Opens a journal on PostgreSQL for the length of a test, of a space of its own unless one is named. */
export async function tempPostgres({
  url,
  dir = tempDir(),
  ...options
}: Partial<PostgresJournalOptions> & { url?: string } = {}): Promise<PostgresJournal> {
  const address = parseAddress(url ?? (await freshAddress()))
  return untilEnd(await PostgresJournal.open({ ...options, dir, address }))
}
