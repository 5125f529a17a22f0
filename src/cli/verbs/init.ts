import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { MailboxError } from '../../errors.ts'
import { toPrintable, toPrintableLine } from '../../model/text.ts'
import type { ClientSetup, Place, Scope } from '../../setup/client.ts'
import { clientNamed, clientSetups, findClients } from '../../setup/clients.ts'
import { type DiffLine, diffOf } from '../../setup/diff.ts'
import { install } from '../../setup/install.ts'
import { setupDir } from '../../setup/manifest.ts'
import { type PlannedFile, planInstall } from '../../setup/plan.ts'
import { type UndoneFile, uninstall } from '../../setup/uninstall.ts'
import { action, type Cli } from '../cli.ts'
import { examples } from '../help.ts'
import { collect } from '../options.ts'

interface SetupFlags {
  client?: string[]
  scope: Scope
  yes?: boolean
  dryRun?: boolean
}

const addFlags = (command: Command): Command =>
  command
    .option(
      '--client <name>',
      `only this one: ${clientSetups.map(({ name }) => name).join(', ')}; repeatable`,
      collect,
    )
    .addOption(
      new Option('--scope <scope>', 'your own settings, or those of the project in this directory')
        .choices(['user', 'project'])
        .default('user'),
    )
    .option('--dry-run', 'show what would change, and change nothing')

export function init(command: Command): void {
  addFlags(command)
    .description(
      'Set up the agent clients on this machine: their settings get hooks that bring mail to the agent, and the MCP server.\n' +
        'Shows what would change, asks, keeps a copy of each file, and changes nothing but its own entries.',
    )
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      examples(
        'mailbox init',
        'mailbox init --dry-run',
        'mailbox init --client claude --client codex --yes',
        'mailbox init --scope project --space .mailbox',
      ),
    )
  action(command, async (cli, flags: SetupFlags) => {
    const place = placeOf(cli, flags)
    const clients = chosen(flags, place)
    const plan = planInstall(clients, place)
    const isNeeded = plan.some(({ isChanged }) => isChanged)
    if (isNeeded && !flags.dryRun) {
      if (flags.yes !== true) await ask(cli, plan)
      install(plan, place)
    }
    const isDone = isNeeded && !flags.dryRun
    cli.answer(asJson(plan, isDone), () => {
      if (!isNeeded) return `Everything is set up already: ${labels(clients)}.`
      return isDone
        ? afterInit(cli, clients, plan, place)
        : `${shown(cli, plan)}\n\nNothing was changed. To go on: ${cli.command('init')}`
    })
    warnOfPlace(cli, place)
  })
}

export function uninit(command: Command): void {
  addFlags(command)
    .description(
      'Undo `mailbox init`: every file that is still as it left it is put back byte for byte;\n' +
        'from one that was changed since, only its own entries are taken out.',
    )
    .option('--yes', 'accepted, because init takes it: uninit never asks')
    .addHelpText(
      'after',
      examples('mailbox uninit', 'mailbox uninit --client gemini', 'mailbox uninit --dry-run'),
    )
  action(command, (cli, flags: SetupFlags) => {
    const clients = (flags.client ?? clientSetups.map(({ name }) => name)).map(
      (name) => clientNamed(name).name,
    )
    const dryRun = flags.dryRun === true
    const files = uninstall(placeOf(cli, flags), { clients, dryRun })
    const touched = files.filter(({ how }) => how !== 'untouched')
    cli.answer({ files: touched, applied: !dryRun && touched.length > 0 }, () => afterUninit(touched, dryRun))
    if (touched.some(({ olderEntries }) => olderEntries))
      cli.hint('a file held entries of an earlier set-up before: `mailbox uninit` once more takes them out')
  })
}

function placeOf({ globals }: Cli, { scope }: SetupFlags): Place {
  const project = realpathSync(process.cwd())
  const dist = dirname(realpathSync(process.argv[1]!))
  const space = globals.space === undefined ? undefined : resolve(globals.space)
  return { scope, project, env: process.env, dist, space }
}

function chosen({ client, scope }: SetupFlags, { env, dist }: Place): ClientSetup[] {
  if (!existsSync(join(dist, 'hook.sh'))) {
    throw new MailboxError('damaged', `${dist} has no hook.sh`, {
      hint: 'in a checkout, build it: npm run build; otherwise install the package anew',
    })
  }
  if (client !== undefined)
    return clientSetups.filter(({ name }) => client.map(clientNamed).some((one) => one.name === name))
  const found = findClients(env)
  if (found.length > 0) return found
  const names = clientSetups.map(({ name }) => name).join(', ')
  throw new MailboxError(
    'not_found',
    `there is no agent client here that ${scope === 'user' ? 'we' : 'a project'} can set up`,
    {
      hint: `name one all the same: --client NAME (${names})`,
    },
  )
}

async function ask(cli: Cli, plan: readonly PlannedFile[]): Promise<void> {
  if (cli.json || !process.stdin.isTTY || !process.stdout.isTTY) {
    if (!cli.json) process.stdout.write(`${shown(cli, plan)}\n\n`)
    throw new MailboxError('invalid', 'nothing was changed: there is nobody to ask', {
      hint: `to make these changes: ${cli.command('init --yes')}; to see them only: --dry-run`,
    })
  }
  process.stdout.write(`${shown(cli, plan)}\n\n`)
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({ message: 'Make these changes?' })
  if (isCancel(answer) || !answer) throw new MailboxError('interrupted', 'nothing was changed')
}

const changed = (plan: readonly PlannedFile[]) => plan.filter(({ isChanged }) => isChanged)
const labels = (clients: readonly ClientSetup[]) => clients.map(({ label }) => label).join(', ')

function shown({ colors }: Cli, plan: readonly PlannedFile[]): string {
  const paint = { added: colors.green, removed: colors.red, context: colors.dim, place: colors.cyan }
  const signs = { added: '+ ', removed: '- ', context: '  ', place: '@ ' }
  const lineOf = ({ kind, text }: DiffLine) => paint[kind](signs[kind] + toPrintable(text))
  return changed(plan)
    .map(({ file, state, after }) => {
      const head = `${tilde(file.path)}${state.bytes === undefined ? ' (new)' : ''}`
      const lines = diffOf(state.bytes?.toString() ?? '', after.toString())
      return [colors.bold(toPrintableLine(head)), ...lines.map(lineOf)].join('\n')
    })
    .join('\n\n')
}

const tilde = (path: string): string => {
  const home = process.env['HOME'] ?? homedir()
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

function asJson(plan: readonly PlannedFile[], applied: boolean): object {
  const files = plan.map(({ file, state, isChanged, after }) => ({
    client: file.client,
    path: file.path,
    change: isChanged ? (state.bytes === undefined ? 'create' : 'edit') : 'none',
    diff: isChanged ? diffOf(state.bytes?.toString() ?? '', after.toString()) : [],
  }))
  return { files, applied }
}

function afterInit(
  cli: Cli,
  clients: readonly ClientSetup[],
  plan: readonly PlannedFile[],
  place: Place,
): string {
  const files = changed(plan).map(
    ({ file, state }) => `  ${tilde(file.path)}${state.bytes === undefined ? ' (new)' : ''}`,
  )
  const kept = tilde(setupDir(place.env, place.scope, place.project))
  return [
    `Set up ${labels(clients)}:`,
    ...files.map(toPrintableLine).map((line) => `  ${line}`),
    `The files as they were are kept in ${toPrintableLine(kept)}; ${cli.command('uninit')} puts them back.`,
    'Next:',
    '  start the client anew: a running one has read its settings already',
    ...clients.flatMap(({ next }) => (next === undefined ? [] : [`  ${next}`])),
    `  ${cli.command('doctor')} tells whether the hooks fire`,
  ].join('\n')
}

const undoneWords: Record<UndoneFile['how'], string> = {
  restored: 'as it was, byte for byte',
  removed: 'removed; there was none before',
  edited: 'changed since, so only our entries were taken out',
  untouched: 'nothing of ours in it',
}

function afterUninit(files: readonly UndoneFile[], dryRun: boolean): string {
  if (files.length === 0) return 'There is nothing to undo.'
  const lines = files.map(({ path, how }) => `  ${toPrintableLine(tilde(path))}: ${undoneWords[how]}`)
  const head = dryRun ? 'Nothing was changed. It would become:' : 'Undone:'
  const next = dryRun ? [] : ['Next: start running clients anew. Mail and spaces stay where they are.']
  return [head, ...lines, ...next].join('\n')
}

/** Paths in the settings are this copy's: one that may vanish is worth a word. */
function warnOfPlace(cli: Cli, { dist, scope }: Place): void {
  if (dist.includes('/_npx/'))
    cli.warn(
      'this copy belongs to npx and may be cleared away; install it for good: npm install -g agent-mailbox',
    )
  if (scope === 'project')
    cli.hint(
      'the entries name paths of this machine: others on the project run `mailbox init --scope project` themselves',
    )
}
