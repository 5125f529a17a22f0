import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { listIfAny, readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { given, isObject } from '../base/objects.ts'
import { identifyProcess, type ProcessIdentity, processState } from '../base/process.ts'
import type { LagFigures } from './lag.ts'
import { type Direction, directions, noTally, type Tally } from './parts.ts'
import { describeProblem, type Problem } from './problem.ts'

/** A bridge that the space has, whether it runs or not. */
export interface Remembered {
  id: string
  format: string
  path: string
  direction: Direction
  /** A process that stays runs it. Otherwise it was run once, and only what it knows is kept. */
  runs: boolean
}

/** What a bridge that runs, or ran, says of itself. */
export interface BridgeStatus {
  process: ProcessIdentity
  /** The verb that the process runs, such as `serve` or `mcp`. */
  program?: string
  /** By the clock of the space, in ms. */
  at: number
  tally: Tally
  /** Copies that both sides know. */
  linked: number
  /** The last things that were left where they are. */
  problems: Problem[]
  lag?: LagFigures
  /** Why it does not run. */
  error?: string
}

export const bridgesDir = (space: string): string => join(space, 'bridges')
const bridgeDir = (space: string, id: string): string => join(bridgesDir(space), id)

export const memoryPath = (space: string, id: string): string => join(bridgeDir(space, id), 'memory.db')
const rememberedPath = (space: string, id: string): string => join(bridgeDir(space, id), 'bridge.json')
const statusPath = (space: string, id: string): string => join(bridgeDir(space, id), 'status.json')

/** The folder that a path means, or why it cannot be bridged. */
export function resolveFolder(path: string): string {
  try {
    const full = realpathSync(resolve(path))
    if (statSync(full).isDirectory()) return full
  } catch (cause) {
    throw new MailboxError('not_found', `there is no folder ${path}`, {
      cause,
      hint: 'pass the folder of the other system: see docs/bridges.md',
    })
  }
  throw new MailboxError('invalid', `${path} is not a folder`, {
    hint: 'pass the folder of the other system: see docs/bridges.md',
  })
}

export const bridgeId = (format: string, path: string): string =>
  `${format}-${createHash('sha256').update(path).digest('hex').slice(0, 8)}`

export function remember(space: string, bridge: Omit<Remembered, 'id'>): Remembered {
  const id = bridgeId(bridge.format, bridge.path)
  mkdirSync(bridgeDir(space, id), { recursive: true, mode: 0o700 })
  writeFileAtomically(rememberedPath(space, id), `${JSON.stringify(bridge, null, 2)}\n`)
  return { id, ...bridge }
}

/** All bridges of a space. */
export function rememberedBridges(space: string): Remembered[] {
  return listIfAny(bridgesDir(space))
    .sort()
    .flatMap((id) => {
      const found = readJsonIfAny<unknown>(rememberedPath(space, id))
      return isRemembered(found) ? [{ ...found, id }] : []
    })
}

const isRemembered = (value: unknown): value is Omit<Remembered, 'id'> =>
  isObject(value) &&
  typeof value['format'] === 'string' &&
  typeof value['path'] === 'string' &&
  typeof value['runs'] === 'boolean' &&
  directions.includes(value['direction'] as Direction)

/** Lets a bridge run no more. What it knows is kept, so that nothing is doubled if it is started again. */
export const stopRemembered = (space: string, { id: _, ...bridge }: Remembered): Remembered =>
  remember(space, { ...bridge, runs: false })

export const statusOf = (space: string, id: string): BridgeStatus | undefined =>
  readJsonIfAny<BridgeStatus>(statusPath(space, id))

export function writeStatus(space: string, id: string, status: Omit<BridgeStatus, 'process'>): void {
  const whole = { process: identifyProcess(process.pid), ...status }
  writeFileAtomically(statusPath(space, id), `${JSON.stringify(whole, null, 2)}\n`, { expendable: true })
}

/** What runs a bridge, if anything does. */
export interface Runner {
  process: number
  /** In words: `mailbox serve`. */
  where: string
  /** It has said nothing for so long: it is stopped, or has no processor. */
  silentForMs?: number
}

/** A process that runs a bridge says so every two seconds. */
const silentMs = 15_000

export function runnerOf(space: string, id: string): Runner | undefined {
  const status = statusOf(space, id)
  if (status === undefined || status.error !== undefined || status.tally === undefined) return undefined
  if (processState(status.process) !== 'running') return undefined
  const { program } = status
  const silentForMs = Date.now() - (statSync(statusPath(space, id), { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return {
    process: status.process.pid,
    where: program === undefined ? 'mailbox' : `mailbox ${program}`,
    ...given({ silentForMs: silentForMs > silentMs ? Math.round(silentForMs) : undefined }),
  }
}

/** A bridge that has ended runs nowhere, whatever its process does next. */
export function endStatus(space: string, id: string, error = 'not running'): void {
  const status = statusOf(space, id) ?? { at: Date.now(), tally: noTally(), linked: 0, problems: [] }
  writeStatus(space, id, { ...status, error })
}

const keeperPath = (space: string): string => join(bridgesDir(space), 'keeper.json')

/** This process is a hub, and runs the bridges of the space from now on. */
export function beKeeper(space: string): void {
  mkdirSync(bridgesDir(space), { recursive: true, mode: 0o700 })
  const text = `${JSON.stringify(identifyProcess(process.pid))}\n`
  writeFileAtomically(keeperPath(space), text, { expendable: true })
}

/** Whether a hub runs the bridges of the space. */
export function hasKeeper(space: string): boolean {
  const keeper = readJsonIfAny<ProcessIdentity>(keeperPath(space))
  return keeper !== undefined && processState(keeper) === 'running'
}

/** The bridges of a space as a person sees them. */
export const bridgeLines = (space: string) =>
  rememberedBridges(space).map(({ id, format, path, direction }) => {
    const {
      linked = 0,
      problems = [],
      lag = {},
      error,
    } = statusOf(space, id) ?? ({} as Partial<BridgeStatus>)
    const last = problems.at(-1)
    const runner = runnerOf(space, id)
    return {
      ...{ id, format, path, direction, isRunning: runner !== undefined, ...runner },
      ...{ linked, problems: problems.length, ...lag },
      ...given({ lastProblem: last && describeProblem(last), error }),
    }
  })
