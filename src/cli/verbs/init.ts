import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { clientNamed, clientSetups, findClients } from '../../clients/registry.ts'
import type { ClientSetup, Place, Scope } from '../../clients/setup/client-setup.ts'
import { diffOf } from '../../clients/setup/diff.ts'
import { install } from '../../clients/setup/install.ts'
import { setupDir } from '../../clients/setup/manifest.ts'
import { type PlannedFile, planInstall } from '../../clients/setup/plan.ts'
import { uninstall } from '../../clients/setup/uninstall.ts'
import { clients } from '../../model/client.ts'
import { action, type Cli } from '../cli.ts'
import { changesText, type FileChange, initText, uninitText } from '../format/setup.ts'
import { examples } from '../help.ts'
import { foundPlace } from '../open.ts'
import { collect } from '../options.ts'

interface SetupFlags {
  client?: string[]
  scope: Scope
  yes?: boolean
  dryRun?: boolean
  diff?: boolean
}

const addFlags = (command: Command): Command =>
  command
    .option('--client <name>', `only this client: ${clients.join(', ')}; repeatable`, collect)
    .addOption(
      new Option('--scope <scope>', 'your own settings, or those of the project in the current directory')
        .choices(['user', 'project'])
        .default('user'),
    )
    .option('--dry-run', 'show what would change without changing anything')

export function init(command: Command): void {
  addFlags(command)
    .description(
      'Set up the agent clients on this machine: adds hooks that bring mail to their agents, and the MCP server.\n' +
        'Shows the changes, asks first, backs up each file, and touches nothing but its own entries.',
    )
    .option('--yes', 'do not ask')
    .option('--diff', 'show every line that changes')
    .addHelpText(
      'after',
      examples(
        'mailbox init',
        'mailbox init --dry-run --diff',
        'mailbox init --client claude --client codex --yes',
        'mailbox init --scope project --space .mailbox',
      ),
    )
  action(command, async (cli, flags: SetupFlags) => {
    const place = placeOf(cli, flags)
    const clients = chosen(cli, flags, place)
    const plan = planInstall(clients, place)
    const files = plan.map(describe)
    const again = wordsOf(flags)
    const isWanted = flags.dryRun !== true && plan.some(({ isChanged }) => isChanged)
    const applied = isWanted && (flags.yes === true || (await ask(cli, files, again, flags.diff)))
    if (applied) install(plan, place)
    const keptIn = setupDir(place)
    cli.answer({ files, applied }, () =>
      initText(cli, { clients, files, applied, keptIn, again, diff: flags.diff === true }),
    )
    warnOfPlace(cli, place)
    // It lists the agents of the space where other sessions can see them, so it is not part of the setup.
    if (applied && clients.some(({ name }) => name === 'claude'))
      cli.tip(
        `to let Claude Code's own SendMessage reach the agents here: ${cli.command('bridge claude-sessions')}`,
      )
  })
}

export function uninit(command: Command): void {
  addFlags(command)
    .description(
      'Undo `mailbox init`: restores every file byte for byte if nothing else has changed it since;\n' +
        'otherwise removes only its own entries.',
    )
    .option('--yes', 'accepted for symmetry with init; uninit never asks')
    .addHelpText(
      'after',
      examples('mailbox uninit', 'mailbox uninit --client gemini', 'mailbox uninit --dry-run'),
    )
  action(command, (cli, flags: SetupFlags) => {
    const named = (flags.client ?? clients).map((name) => clientNamed(name).name)
    const dryRun = flags.dryRun === true
    const files = uninstall(placeOf(cli, flags), { clients: named, dryRun })
    const touched = files.filter(({ how }) => how !== 'untouched')
    cli.answer({ files: touched, applied: !dryRun && touched.length > 0 }, () => uninitText(touched, dryRun))
    if (touched.some(({ olderEntries }) => olderEntries))
      cli.hint(
        'a restored file still has entries from an earlier setup; run `mailbox uninit` again to remove them',
      )
  })
}

function placeOf(cli: Cli, { scope }: SetupFlags): Place {
  const { space: named } = cli.globals
  const project = realpathSync(process.cwd())
  const dist = dirname(realpathSync(process.argv[1]!))
  // A hub is named as it was typed: its token is not for settings files.
  const isHub = named !== undefined && foundPlace(cli).kind === 'hub'
  const space = named === undefined || isHub ? named : resolve(named)
  return { scope, project, env: process.env, dist, space }
}

function chosen(cli: Cli, { client }: SetupFlags, place: Place): ClientSetup[] {
  const { env, dist } = place
  if (!existsSync(join(dist, 'hook.sh'))) {
    throw new MailboxError('damaged', `${dist} has no hook.sh`, {
      hint: 'in a checkout, run npm run build; otherwise reinstall the package',
    })
  }
  const named = client?.map(clientNamed)
  const wanted = clientSetups.filter((one) => (named ?? findClients(env)).includes(one))
  // Nothing to do is no mistake: a script sets up whatever is there.
  if (wanted.length === 0)
    cli.hint(
      `No agent client was found on this machine. To set one up anyway: ${cli.command('init --client NAME')} (${clients.join(', ')})`,
    )
  return wanted.filter((one) => isWithoutPlugin(cli, one, place, named !== undefined))
}

/** Our plugin does the same. With both, every hook would run twice. */
function isWithoutPlugin(cli: Cli, client: ClientSetup, place: Place, isNamed: boolean): boolean {
  if (client.hasPlugin?.(place) !== true) return true
  const found = `${client.label} already has the mailbox plugin`
  if (isNamed)
    throw new MailboxError('conflict', found, { hint: `keep it, or remove it first: ${client.removePlugin}` })
  cli.warn(`${found}; skipping it`)
  return false
}

/** The command line that was given. */
const wordsOf = ({ client = [], scope }: SetupFlags): string =>
  [
    'init',
    ...(scope === 'user' ? [] : ['--scope', scope]),
    ...client.flatMap((name) => ['--client', name]),
  ].join(' ')

async function ask(cli: Cli, files: readonly FileChange[], again: string, diff = false): Promise<boolean> {
  if (cli.json || !process.stdin.isTTY || !process.stdout.isTTY) {
    if (!cli.json) process.stdout.write(`${changesText(cli, files, diff)}\n\n`)
    throw new MailboxError('invalid', 'nothing was changed: cannot ask without a terminal', {
      hint: `to make these changes: ${cli.command(`${again} --yes`)}; to only see them: --dry-run`,
    })
  }
  process.stdout.write(`${changesText(cli, files, diff)}\n\n`)
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({ message: 'Make these changes?' })
  if (isCancel(answer)) throw new MailboxError('interrupted', 'nothing was changed')
  return answer
}

function describe({ file, state, isChanged, after }: PlannedFile): FileChange {
  return {
    client: file.client,
    path: file.path,
    change: isChanged ? (state.bytes === undefined ? 'create' : 'edit') : 'none',
    diff: isChanged ? diffOf(state.bytes?.toString() ?? '', after.toString()) : [],
  }
}

/** The entries contain paths to this copy of the package, which may not last. */
function warnOfPlace(cli: Cli, { dist, scope }: Place): void {
  if (dist.includes('/_npx/'))
    cli.warn(
      'this copy is in the npx cache and may be deleted; install it permanently: npm install -g agent-mailbox',
    )
  if (scope === 'project')
    cli.hint(
      'the entries contain paths of this machine; everybody else on the project has to run `mailbox init --scope project` too',
    )
}
