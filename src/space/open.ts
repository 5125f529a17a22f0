import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Clock, createClock, wallClock } from '../base/clock.ts'
import { MailboxError, typed } from '../base/errors.ts'
import { dirForAddress, linkTo, originOf } from '../journal/copy/origin.ts'
import { FileJournal } from '../journal/file/file-journal.ts'
import { type PostgresAddress, parseAddress } from '../journal/postgres/address.ts'
import type { HubOptions } from '../remote/connection.ts'
import type { DatabaseOptions, LocalSpace, OpenedSpace, OpenSpaceOptions, Space } from './api.ts'
import type { BridgedSpace } from './bridged.ts'
import { SpaceCore } from './core.ts'
import { doubtBells } from './desk/bells.ts'
import { DeskSide } from './desk/side.ts'
import { helpersOf } from './helpers.ts'
import { stateDirFor } from './place.ts'
import { configText, ensureSpaceDir, readSettings } from './settings.ts'
import { DiskSpace } from './space.ts'
import { isTrusted, spaceDirName, trustSpace } from './trust.ts'

/** Opens a space: one behind a hub or in a database by its address, one on this disk by its directory. */
export function openSpace(options: HubOptions): Promise<Space>
export function openSpace(options: OpenSpaceOptions | DatabaseOptions): Promise<LocalSpace>
export async function openSpace(options: OpenSpaceOptions | DatabaseOptions | HubOptions): Promise<Space> {
  if (typeof placeIn(options) !== 'string')
    throw new MailboxError('invalid', 'openSpace requires the directory or the address of a space', {
      hint: "openSpace({ dir: '.mailbox' }), or openSpace({ url }), with a token for a hub",
    })
  if (!('token' in options)) {
    const space = await openDisk(isAddressed(options) ? placeOf(options) : options)
    space.core.desk?.stay()
    if (space.clockWarning !== undefined) process.emitWarning(space.clockWarning, 'MailboxWarning')
    return space
  }
  return openRemote(options)
}

const isAddressed = (options: OpenSpaceOptions | DatabaseOptions): options is DatabaseOptions =>
  'url' in options && options.url !== undefined

const placeIn = (options: Partial<OpenSpaceOptions & HubOptions> | undefined): unknown =>
  options?.url ?? options?.dir

/** Opens a space behind a hub, for rims. */
export async function openRemote(
  options: HubOptions,
): Promise<OpenedSpace & { you: string; version: string }> {
  const { openHub } = await import('../remote/space.ts')
  return openHub(options, here)
}

/** What this machine has of a space behind a hub. */
const here = {
  stateDirOf: (url: string) => stateDirFor(url, process.env),
  helpersIn: helpersOf,
}

/** Opens a space behind a hub for a bridge on this machine. */
export async function openRemoteForBridge(
  options: HubOptions,
): Promise<{ space: BridgedSpace; close: () => void }> {
  const [{ openHubForBridge }, { BridgeEnded }] = await Promise.all([
    import('../remote/space.ts'),
    import('./bridged.ts'),
  ])
  return openHubForBridge(options, here, (cause) => new BridgeEnded(cause))
}

function placeOf({ url, dir, ...options }: DatabaseOptions): OpenDiskOptions {
  const address = parseAddress(url)
  if (dir !== undefined) linkTo(address, dir)
  return { ...options, dir: dir ?? dirForAddress(address, process.env), address }
}

interface OpenDiskOptions extends OpenSpaceOptions {
  /** With its password, which is not in the directory. */
  address?: PostgresAddress
}

/**
 * Opens a space on this disk, or one in a database by the directory that this machine has for it: the journal, then
 * what is derived from it. Rims get its core with it.
 */
export const openDisk = (options: OpenDiskOptions): Promise<DiskSpace> => typed(() => open(options))

async function open(options: OpenDiskOptions): Promise<DiskSpace> {
  const isNew = !existsSync(join(options.dir, 'journal'))
  const refusal = ensureSpaceDir(options.dir)
  const address = options.address ?? originOf(options.dir, process.env)
  const { core, file } =
    address === undefined
      ? openFiles(options, refusal)
      : await (await import('./postgres.ts')).openPostgres(address, options)
  try {
    await core.load(options.onProgress === undefined ? {} : { onProgress: options.onProgress })
  } catch (error) {
    await core.close()
    throw error
  }
  if (isNew && address === undefined) agreeTo(options.dir)
  if (mayUseDesk(core, options))
    core.desk = new DeskSide(core, options.settings === undefined ? file : undefined)
  return new DiskSpace(core)
}

/** A core, and the text of the settings that it was opened with. */
export interface OpenedCore {
  core: SpaceCore
  file: string
}

function openFiles(options: OpenSpaceOptions, refusal: MailboxError | undefined): OpenedCore {
  const file = configText(options.dir)
  const settings = { ...readSettings(options.dir), ...options.settings }
  const now = clockFor(options)
  let core: SpaceCore | undefined
  const journal = new FileJournal({
    ...settings,
    segmentEntries: settings['retention.segmentEntries'],
    rotate: settings['retention.rotate'],
    mirror: settings['journal.mirror'] || undefined,
    dir: options.dir,
    refusal,
    now,
    onWritten: () => core?.written(),
    beforeWrite: (entries) => (core?.desk?.bells ? core.desk.bells.before(entries) : doubtBells(options.dir)),
  })
  core = new SpaceCore(options.dir, journal, settings, now, refusal !== undefined)
  return { core, file }
}

/** A process with a time of its own, or that may not write, has nothing to do with the others. */
const mayUseDesk = ({ onlyLooks }: SpaceCore, { now }: OpenSpaceOptions): boolean =>
  !onlyLooks &&
  now === undefined &&
  process.env['MAILBOX_CLOCK'] !== 'wall' &&
  process.env['MAILBOX_DESK'] !== 'off'

/** Whoever creates a space where it would be found by chance has agreed to it. */
function agreeTo(dir: string): void {
  if (basename(dir) !== spaceDirName || isTrusted(dir, process.env)) return
  try {
    trustSpace(dir, process.env)
  } catch {
    // The home cannot be written to. Then it has to be named.
  }
}

/** `MAILBOX_CLOCK=wall` is for tests that run processes at another time: they go by their wall clocks alone. */
function clockFor({ dir, now }: OpenSpaceOptions): Clock {
  if (now !== undefined) return wallClock(now)
  return process.env['MAILBOX_CLOCK'] === 'wall' ? wallClock() : createClock(dir)
}
