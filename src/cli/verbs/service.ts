import { hash } from 'node:crypto'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { makeHubDir } from '../../hub/hub-dir.ts'
import { toPrintable, toPrintableLine } from '../../model/text.ts'
import { mustBePerson } from '../../space/acting.ts'
import type { Cli } from '../cli.ts'
import { openFiles } from '../open.ts'
import {
  changedFiles,
  installedFiles,
  installFiles,
  type PlannedFile,
  uninstallFiles,
} from '../service/files.ts'
import { managerOf } from '../service/manager.ts'
import { type Failed, runAll, toLine } from '../service/run.ts'
import type { Service } from '../service/units.ts'

export interface ServiceFlags {
  host: string
  port?: number
  allowHost?: string[]
  tls?: boolean
  webhook: boolean
  yes?: boolean
}

const usualPort = 7337

/** `mailbox` for the space in the home directory, otherwise with the name of its directory. */
function nameOf(dir: string): string {
  if (dir === join(process.env['HOME'] || homedir(), '.mailbox')) return 'mailbox'
  const shown = basename(dir) === '.mailbox' ? basename(dirname(dir)) : basename(dir)
  return `mailbox-${shown.replace(/[^\w-]+/g, '-').slice(0, 40)}-${hash('sha256', dir, 'hex').slice(0, 6)}`
}

function serviceFor(dir: string, flags: ServiceFlags): Service {
  const { host, port = usualPort, allowHost = [], tls = false, webhook } = flags
  const words = [
    ...['--space', dir, 'serve', '--host', host, '--port', String(port)],
    ...allowHost.flatMap((name) => ['--allow-host', name]),
    ...(tls ? ['--tls'] : []),
    ...(webhook ? [] : ['--no-webhook']),
  ]
  return {
    ...{ name: nameOf(dir), dir, host, port, log: join(dir, 'hub', 'serve.log') },
    command: [process.execPath, resolve(process.argv[1]!), ...words],
  }
}

/** Makes the service manager of this machine run the hub of the space. Shows the files, asks, and can be undone. */
export async function installService(cli: Cli, flags: ServiceFlags): Promise<void> {
  const manager = managerOf(process.env)
  await using space = await openFiles(cli, { creates: true })
  await mustBePerson(space.core, 'install a service')
  const service = serviceFor(resolve(space.dir), flags)
  const files = manager.units(service).map(({ file, text }) => ({ path: join(manager.dir, file), text }))
  const commands = manager.begin(files.map(({ path }) => path))
  const changed = changedFiles(files)
  if (changed.length > 0) await show(cli, changed, flags.yes === true)
  if (service.command[1]!.includes('/_npx/'))
    cli.warn(
      'this copy is in the npx cache and may be deleted; install it permanently: npm install -g agent-mailbox',
    )
  makeHubDir(space.dir)
  installFiles(space.dir, files)
  const failed = runAll(commands)
  const answer = { service: service.name, manager: manager.label, files: files.map(({ path }) => path) }
  cli.answer({ ...answer, isRunning: failed === undefined, commands: commands.map(toLine) }, () =>
    failed === undefined
      ? `${service.name} runs at http${flags.tls ? 's' : ''}://${service.host}:${service.port}`
      : `installed ${service.name}; it does not run yet`,
  )
  if (failed !== undefined) sayFailed(cli, failed, commands)
  cli.tip(manager.tip)
  cli.tip(`for the link to the console: ${cli.command('token user --link')}`)
}

/** Undoes that: every file is as it was before. */
export async function uninstallService(cli: Cli): Promise<void> {
  const manager = managerOf(process.env)
  await using space = await openFiles(cli)
  await mustBePerson(space.core, 'uninstall a service')
  const paths = installedFiles(space.dir)
  const commands = paths.length === 0 ? [] : manager.end(paths)
  // Before the files go: afterwards the manager does not know any more what to stop.
  const failed = runAll(commands.slice(0, 1))
  const files = uninstallFiles(space.dir)
  if (failed === undefined) runAll(commands.slice(1))
  cli.answer({ files }, () =>
    files.length === 0
      ? 'no service is installed'
      : files.map(({ path, how }) => `${how} ${toPrintableLine(path)}`).join('\n'),
  )
  if (failed !== undefined) cli.warn(`${toLine(failed.command)}: ${failed.reason}`)
}

async function show(cli: Cli, files: readonly PlannedFile[], isAgreed: boolean): Promise<void> {
  const text = files.map(({ path, text }) => `${toPrintableLine(path)}\n${indented(text)}`).join('\n\n')
  if (!cli.json && !cli.quiet) process.stdout.write(`${text}\n\n`)
  if (isAgreed) return
  if (cli.json || !process.stdin.isTTY || !process.stdout.isTTY)
    throw new MailboxError('invalid', 'nothing was changed: cannot ask without a terminal', {
      hint: `to write these files: ${cli.command('serve --install --yes')}`,
    })
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({ message: 'Write these files, and start the service?' })
  if (isCancel(answer) || !answer) throw new MailboxError('interrupted', 'nothing was changed')
}

const indented = (text: string): string =>
  toPrintable(text)
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')

function sayFailed(cli: Cli, { command, reason }: Failed, commands: readonly string[][]): void {
  cli.warn(`${toLine(command)}: ${reason}`)
  cli.hint(`the files are in place; to start it: ${commands.map(toLine).join(' && ')}`)
}
