import { type Command, Option } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import type { BridgeOptions } from '../../bridges/bridge.ts'
import { describeProblem } from '../../bridges/problem.ts'
import type { Remembered, Runner } from '../../bridges/remembered.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { BridgedSpace } from '../../space/bridged.ts'
import type { HubPlace } from '../../space/place.ts'
import type { DiskSpace } from '../../space/space.ts'
import type { Cli } from '../cli.ts'
import { describeLag, describeRunner, describeTally } from '../format/bridge.ts'
import { examples } from '../help.ts'
import { serviceSignal } from '../interrupt.ts'
import { openFiles, personAction, spaceDir, spaceExists } from '../open.ts'

export interface BridgeFlags {
  once?: boolean
  direction: 'in' | 'out' | 'both'
  dryRun?: boolean
}

export function bridge(command: Command): void {
  command
    .description(
      'Connect a folder of another mailbox system with the space: its messages and states appear here, and yours there, until the bridge is stopped. Nothing changes for whoever uses the other system. Without arguments, list the bridges of the space and the folders found on this machine.',
    )
    .argument('[format]', 'the format of the other system, or stop')
    .argument('[path]', 'its folder: see docs/bridges.md')
    .option('--once', 'bring both sides up to date and exit')
    .addOption(
      new Option('--direction <direction>', 'in: only read the folder; out: only write to it')
        .choices(['in', 'out', 'both'])
        .default('both'),
    )
    .option('--dry-run', 'say what would be done, and change nothing')
    .addHelpText(
      'after',
      examples(
        'mailbox bridge',
        'mailbox bridge ao ~/.ao-sessions',
        'mailbox bridge adr003 ./workspace --once --dry-run',
        'mailbox --space work bridge ao ~/.ao-sessions',
        'mailbox bridge stop ao',
      ),
    )
  type Words = [first: string | undefined, second: string | undefined, flags: BridgeFlags]
  const here = async (cli: Cli, ...[first, second, flags]: Words) => {
    if (first === undefined) return list(cli, spaceDir(cli))
    if (first === 'stop') {
      await using space = await openFiles(cli)
      return stop(cli, space.dir, second)
    }
    return start(cli, first, second, flags)
  }
  const atHub = async (cli: Cli, place: HubPlace, ...words: Words) =>
    (await import('./bridge-hub.ts')).bridgeAtHub(cli, place, ...words)
  personAction(command, 'bridge to another system', here, atHub)
}

async function start(
  cli: Cli,
  formatName: string,
  given: string | undefined,
  { once = false, direction, dryRun = false }: BridgeFlags,
): Promise<void> {
  const { format, path } = await folderFor(cli, formatName, given)
  const { remember, runnerOf } = await import('../../bridges/remembered.ts')
  if (dryRun && !spaceExists(spaceDir(cli))) return tryWithout(cli, { format, path, direction })
  await using space = await openFiles(cli, { creates: true, runsBridges: false })
  // The space is closed when this returns.
  if (once || dryRun) return await lookOnce(cli, { space, format, path, direction, dry: dryRun })
  const stopped = serviceSignal()
  const remembered = remember(space.dir, { format: format.name, path, direction, runs: true })
  const runner = await staysElsewhere(space.dir, remembered.id, runnerOf)
  if (runner !== undefined) {
    cli.confirm({ ...remembered, ...runner }, () => `${describeRunner(runner)} runs the bridge to ${path}`)
    return
  }
  await runHere(cli, space, remembered, stopped)
  if (stopped.aborted)
    cli.hint(
      `a hub or another process of this space goes on with it; to end it: ${cli.command(`bridge stop ${format.name}`)}`,
    )
}

/** Runs a bridge, as soon as no other process does, until it is stopped. */
export async function runHere(
  cli: Cli,
  space: DiskSpace | BridgedSpace,
  { id, ...remembered }: Remembered,
  stopped: AbortSignal,
): Promise<void> {
  const { keepBridges } = await import('../../bridges/keeper.ts')
  const failing = new AbortController()
  let isSaid = false
  const say = (runner: Runner, text: string) => {
    if (!isSaid) cli.confirm({ id, ...remembered, ...runner }, () => `${text}; stop with Ctrl-C`)
    isSaid = true
  }
  const { format, path } = remembered
  const there = 'core' in space ? '' : ` with ${space.place}`
  await keepBridges(space.dir, {
    ...{ signal: AbortSignal.any([stopped, failing.signal]), program: 'bridge', only: id },
    space: async () => space,
    onStart: () =>
      say({ process: process.pid, where: 'mailbox bridge' }, `bridged ${format} ${path}${there}`),
    onTaken: (_, runner) =>
      say(
        runner,
        `${describeRunner(runner)} runs the bridge to ${path}, and this process when that one ends`,
      ),
    onProblem: (_, problem) => cli.warn(describeProblem(problem)),
    onError: (_, error) => failing.abort(error),
  })
  if (failing.signal.aborted && !stopped.aborted) throw failing.signal.reason
}

/** The folder of a bridge, named on the command line or at its usual place. */
export async function folderFor(
  cli: Cli,
  formatName: string,
  given: string | undefined,
): Promise<Pick<BridgeOptions, 'format' | 'path'>> {
  const { formatNamed } = await import('../../bridges/registry.ts')
  const { resolveFolder } = await import('../../bridges/remembered.ts')
  const { fits, pathFor } = await import('../../bridges/discover.ts')
  const format = formatNamed(formatName)
  const path = resolveFolder(given ?? pathFor(format, process.env, process.cwd()))
  if (!fits(format, path))
    cli.hint(`nothing of ${format.name} is in ${path} yet; docs/bridges.md says which folder it is`)
  return { format, path }
}

interface OneLook extends Pick<BridgeOptions, 'space' | 'format' | 'path'> {
  direction: BridgeFlags['direction']
  dry: boolean
}

/** Brings both sides up to date, with what the bridge knew before. */
export async function lookOnce(cli: Cli, look: OneLook): Promise<void> {
  const { bridgeId, memoryPath, remember, rememberedBridges } = await import('../../bridges/remembered.ts')
  const { dryMemory } = await import('../../bridges/dry.ts')
  const { space, format, path, direction, dry } = look
  const id = bridgeId(format.name, path)
  if (!dry && rememberedBridges(space.dir).every((one) => one.id !== id))
    remember(space.dir, { format: format.name, path, direction, runs: false })
  const file = memoryPath(space.dir, id)
  const memory = dry ? dryMemory(file) : { path: file, remove: () => {} }
  await runOnce(cli, { ...look, memory: memory.path }).finally(memory.remove)
}

async function runOnce(cli: Cli, options: BridgeOptions & { dry: boolean }): Promise<void> {
  const { Bridge } = await import('../../bridges/bridge.ts')
  const { format, path, dry: dryRun } = options
  const work = new Bridge({ ...options, onProblem: (problem) => cli.warn(describeProblem(problem)) })
  const tally = await work.once().finally(() => work.close())
  const problems = work.problems.map((one) => ({ ...one }))
  cli.confirm({ format: format.name, path, dryRun, ...tally, problems }, () => describeTally(tally, dryRun))
}

/** What would be done with a space that is not there yet. */
async function tryWithout(
  cli: Cli,
  options: Pick<BridgeOptions, 'format' | 'path' | 'direction'>,
): Promise<void> {
  const { drySpace } = await import('../../bridges/dry.ts')
  const { openDisk } = await import('../../space/open.ts')
  const { dir, remove } = drySpace()
  try {
    await using space = await openDisk({ dir, creates: true })
    await runOnce(cli, { ...options, space, dry: true, memory: ':memory:' })
  } finally {
    remove()
  }
}

/**
 * What runs a bridge, and needs no help: a hub, which looks for new ones every second, or this command elsewhere. Any
 * other process may end at any time.
 */
async function staysElsewhere(
  space: string,
  id: string,
  runnerOf: (space: string, id: string) => Runner | undefined,
): Promise<Runner | undefined> {
  const { hasKeeper } = await import('../../bridges/remembered.ts')
  if (!hasKeeper(space)) {
    const runner = runnerOf(space, id)
    return runner?.where === 'mailbox bridge' ? runner : undefined
  }
  const { setTimeout: sleep } = await import('node:timers/promises')
  for (let n = 0; n < 50; n++) {
    const runner = runnerOf(space, id)
    if (runner !== undefined) return runner
    await sleep(100)
  }
  return undefined
}

export async function stop(cli: Cli, dir: string, which: string | undefined): Promise<void> {
  const { rememberedBridges, resolveFolder, stopRemembered } = await import('../../bridges/remembered.ts')
  const bridges = rememberedBridges(dir).filter(({ runs }) => runs)
  const isMeant = ({ id, format, path }: Remembered) =>
    which === undefined || [id, format, path].includes(which) || path === pathOrNothing(which, resolveFolder)
  const meant = bridges.filter(isMeant)
  if (meant.length === 0)
    throw new MailboxError('not_found', which === undefined ? 'no bridge is set up' : `no bridge ${which}`, {
      hint: 'see `mailbox bridge`',
    })
  if (which === undefined && meant.length > 1)
    throw new MailboxError('invalid', 'there are several bridges', {
      hint: `name one: ${meant.map(({ id }) => id).join(', ')}`,
    })
  const stopped = meant.map((one) => stopRemembered(dir, one))
  cli.confirm({ stopped }, () => stopped.map(({ format, path }) => `stopped ${format} ${path}`).join('\n'))
}

function pathOrNothing(path: string, resolveFolder: (path: string) => string): string | undefined {
  try {
    return resolveFolder(path)
  } catch {
    return undefined
  }
}

export async function list(cli: Cli, dir: string): Promise<void> {
  const { rememberedBridges, runnerOf, statusOf } = await import('../../bridges/remembered.ts')
  const { discover } = await import('../../bridges/discover.ts')
  const bridges = rememberedBridges(dir).map((one) => {
    const { tally, linked, problems, lag, error } = statusOf(dir, one.id) ?? {}
    const runner = runnerOf(dir, one.id)
    const state = runner === undefined ? (one.runs ? 'waiting' : 'stopped') : 'running'
    return { ...one, state, ...runner, tally, linked, problems, lag, error }
  })
  const known = new Set(bridges.map(({ format, path }) => `${format} ${path}`))
  const found = discover(process.env, process.cwd()).filter(
    ({ format, path }) => !known.has(`${format} ${path}`),
  )
  cli.answer({ bridges, found }, () =>
    [
      ...bridges.map(({ id, state, path, tally, problems = [], lag = {}, ...rest }) => {
        const words = [
          rest.process === undefined ? '' : `in ${describeRunner(rest as Runner)}`,
          tally === undefined ? '' : describeTally(tally, false),
          describeLag(lag) && `lag ${describeLag(lag)}`,
          problems.length === 0 ? '' : `last problem: ${describeProblem(problems.at(-1)!)}`,
        ]
        return toPrintableLine(
          [`${id}  ${state}  ${path}`, words.filter(Boolean).join('; ')].join('  ').trim(),
        )
      }),
      ...found.map(({ format, path }) =>
        toPrintableLine(`found ${format} in ${path}; to bridge it: mailbox bridge ${format} ${path}`),
      ),
      ...(bridges.length + found.length === 0
        ? ['no bridges, and no folder of another system was found']
        : []),
    ].join('\n'),
  )
}
