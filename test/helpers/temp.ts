import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { FileJournal, type FileJournalOptions } from '../../src/journal/file/file-journal.ts'
import type { Settings } from '../../src/model/settings.ts'
import type { OpenSpaceOptions } from '../../src/space/api.ts'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { removeTree } from './remove-tree.ts'

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

/** Opens a space for the length of a test. */
export async function tempSpace(options: Partial<OpenSpaceOptions> = {}): Promise<DiskSpace> {
  const dir = options.dir ?? tempDir()
  const space = await openDisk({
    ...options,
    dir,
    settings: { ...sharedSettings(), ...testSettings, ...options.settings },
  })
  onTestFinished(() => space.close())
  return space
}

/** Opens a file journal for the length of a test. */
export function tempJournal(options: Partial<FileJournalOptions> = {}): FileJournal {
  const journal = new FileJournal({ durability: 'os', ...options, dir: options.dir ?? tempDir() })
  let closed: Promise<void> | undefined
  const close = journal.close.bind(journal)
  // A test may close it early; closing again at the end must not disturb.
  journal.close = () => (closed ??= close())
  onTestFinished(() => journal.close())
  return journal
}
