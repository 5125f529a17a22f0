import { type Clock, wallClock } from '../base/clock.ts'
import type { PostgresAddress } from '../journal/postgres/address.ts'
import { PostgresJournal } from '../journal/postgres/postgres-journal.ts'
import type { OpenSpaceOptions } from './api.ts'
import { SpaceCore } from './core.ts'
import type { OpenedCore } from './open.ts'
import { configText, readSettings } from './settings.ts'

/** Opens a space whose journal is in a database; its directory has the copy of this machine. */
export async function openPostgres(
  address: PostgresAddress,
  { dir, now, settings: given, creates = true }: OpenSpaceOptions,
): Promise<OpenedCore> {
  let core: SpaceCore | undefined
  const journal = await PostgresJournal.open({
    ...{ address, dir, creates },
    now: clockFor(now),
    onWritten: () => core?.written(),
  })
  // All machines have the same: the journal has brought them.
  const file = configText(dir)
  const settings = { ...readSettings(dir), ...given }
  journal.rotateBy({
    segmentBytes: settings.segmentBytes,
    segmentEntries: settings['retention.segmentEntries'],
    rotate: settings['retention.rotate'],
  })
  core = new SpaceCore(dir, journal, settings, journal.now)
  if (journal.sourceArchive.first.segment > 1) (await import('./retention.ts')).followRemoval(core)
  return { core, file }
}

/** See {@link OpenSpaceOptions.now}; undefined: that of the database. */
function clockFor(now: (() => number) | undefined): Clock | undefined {
  if (now !== undefined) return wallClock(now)
  return process.env['MAILBOX_CLOCK'] === 'wall' ? wallClock() : undefined
}
