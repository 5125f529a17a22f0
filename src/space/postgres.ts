import { type Clock, wallClock } from '../base/clock.ts'
import type { PostgresAddress } from '../journal/postgres/address.ts'
import { PostgresJournal } from '../journal/postgres/postgres-journal.ts'
import type { OpenSpaceOptions } from './api.ts'
import { SpaceCore } from './core.ts'
import { readSettings } from './settings.ts'

/** Opens a space whose journal is in a database; its directory has the copy of this machine. */
export async function openPostgres(
  address: PostgresAddress,
  { dir, now, settings: given, creates = true }: OpenSpaceOptions,
): Promise<SpaceCore> {
  let core: SpaceCore | undefined
  const journal = await PostgresJournal.open({
    ...{ address, dir, creates },
    now: clockFor(now),
    onWritten: () => core?.written(),
  })
  // All machines have the same: the journal has brought them.
  const settings = { ...readSettings(dir), ...given }
  journal.rotateBy({
    segmentBytes: settings.segmentBytes,
    segmentEntries: settings['retention.segmentEntries'],
    rotate: settings['retention.rotate'],
  })
  core = new SpaceCore(dir, journal, settings, journal.now)
  return core
}

/** See {@link OpenSpaceOptions.now}; undefined: that of the database. */
function clockFor(now: (() => number) | undefined): Clock | undefined {
  if (now !== undefined) return wallClock(now)
  return process.env['MAILBOX_CLOCK'] === 'wall' ? wallClock() : undefined
}
