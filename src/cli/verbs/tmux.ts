import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { DiskSpace } from '../../space/space.ts'
import type { Event } from '../../tmux/courier.ts'
import type { Manner } from '../../tmux/register.ts'
import type { Registration } from '../../tmux/store.ts'
import { action, type Cli } from '../cli.ts'
import { table } from '../format/table.ts'
import { examples } from '../help.ts'
import { interruptSignal } from '../interrupt.ts'
import { open, spaceDir } from '../open.ts'
import { given, whole } from '../options.ts'

interface MannerFlags {
  socket?: string
  program?: string
  prompt?: string
  quietMs?: number
  seenMs?: number
  budget?: number
  multiline?: boolean
  ack: boolean
  exec?: string
}

function addManner(command: Command): Command {
  return command
    .option('--socket <name>', 'the tmux server: a name (tmux -L) or a path (tmux -S)')
    .option('--program <name>', 'type only while this program is in front, and type whole messages to it')
    .option('--prompt <regex>', 'what the line up to the cursor looks like while nothing is typed')
    .option('--quiet-ms <n>', 'the screen must not change for so long first (default 500)', whole(0))
    .option('--seen-ms <n>', 'how long what was typed may stay unseen (default 30000)', whole(100))
    .option('--budget <bytes>', 'cut what is longer (default 2000)', whole(200))
    .option('--multiline', 'keep line breaks; only for programs that take bracketed pastes')
    .option('--no-ack', 'do not ack mail that wants it when it was seen on the screen')
    .option('--exec <command>', 'run this instead of typing: the message as JSON on its standard input')
}

function mannerOf({ ack, exec: _, budget, ...flags }: MannerFlags): Manner {
  return { ...given({ ...flags, budgetBytes: budget }), ...(ack ? {} : { noAck: true }) }
}

export function tmux(command: Command): void {
  command
    .description(
      'Type mail into the terminals of agents that have no hooks: Aider, plain shells, anything in a tmux pane. ' +
        'It waits for an empty prompt, pastes one message, and presses Enter when it has seen it. A shell only gets a line that says that mail is there.',
    )
    .helpCommand(false)
    .addHelpText(
      'after',
      examples(
        'mailbox tmux watch ada=%3 bob=work:1.0',
        'mailbox tmux attach ada --program aider      (inside the pane)',
        'mailbox tmux watch ada --exec ./deliver.sh',
        'mailbox tmux status',
      ),
    )
  watch(command)
  attach(command)
  action(
    command.command('detach').summary('stop bringing an agent its mail').argument('<agent>', 'whose'),
    async (cli, agent: string) => {
      const { Store } = await import('../../tmux/store.ts')
      await using space = await open(cli, { existing: true })
      if (!new Store(space.dir).forget(agent))
        throw new MailboxError('not_found', `${agent} is not attached`, { hint: 'mailbox tmux status' })
      cli.confirm({ agent }, () => `${toPrintableLine(agent)} is detached; its mail waits in its inbox`)
    },
  )
  status(command)
  worker(command)
}

function watch(command: Command): void {
  const sub = command
    .command('watch')
    .summary('run the watcher, until Ctrl-C')
    .argument('[agents...]', 'AGENT=PANE, or AGENT with --exec (default: those attached before)')
  action(addManner(sub), async (cli, words: string[], flags: MannerFlags) => {
    const { takeWatch, supervise } = await import('../../tmux/supervisor.ts')
    const { parseTarget } = await import('../../tmux/register.ts')
    const targets = words.map(parseTarget)
    const space = await open(cli)
    // First the right to watch, then the panes: a second watcher must not take them from the first.
    const store = takeWatch(space)
    const signal = interruptSignal()
    try {
      const found: Registration[] = []
      for (const target of targets) found.push(await register(space, target, flags))
      for (const one of found) store.register(one)
      const all = store.registrations()
      if (all.length === 0) throw nobody()
      cli.hint(`watching for ${all.map(({ agent }) => toPrintableLine(agent)).join(', ')}; Ctrl-C ends it`)
      await space.close()
      await supervise(store, {
        command: [process.execPath, process.argv[1]!, 'tmux', 'work', '--space', spaceDir(cli)],
        signal,
        onLine: (line) => report(cli, line),
        onDeath: (why, pauseMs) =>
          cli.warn(`the worker ended (${why}); the next one starts in ${pauseMs} ms`),
      })
    } finally {
      store.giveUpWatch()
      await space.close()
    }
  })
}

const nobody = () =>
  new MailboxError('invalid', 'there is nobody to watch for', {
    hint: 'name agents and panes: mailbox tmux watch ada=%3; or attach them: mailbox tmux attach ada',
  })

async function register(
  space: DiskSpace,
  { agent, pane }: { agent: string; pane?: string },
  flags: MannerFlags,
): Promise<Registration> {
  const { registerCommand, registerPane } = await import('../../tmux/register.ts')
  if (pane !== undefined) return registerPane(space, agent, pane, mannerOf(flags))
  if (flags.exec !== undefined) return registerCommand(space, agent, flags.exec, mannerOf(flags))
  throw new MailboxError('invalid', `no pane is named for ${agent}`, {
    hint: `${agent}=%3 for a pane, or --exec for a command`,
  })
}

/** What the worker says, a line each: a beat for us, or an event for whoever watches. */
function report(cli: Cli, line: string): void {
  if (line === 'beat') return
  if (cli.json) process.stdout.write(`${line}\n`)
  else if (!cli.quiet) process.stdout.write(`${toPrintableLine(eventLine(JSON.parse(line) as Event))}\n`)
}

function eventLine({ event, agent, ids, note }: Event): string {
  return `${event.padEnd(8)} ${agent}  ${ids.join(' ')}${note === undefined ? '' : `  ${note}`}`
}

function attach(command: Command): void {
  const sub = command
    .command('attach')
    .summary('bring an agent its mail in this pane')
    .argument('<agent>', 'whose mail')
    .option('--pane <pane>', 'another pane: %3, work:1.0 (default: the one this is typed in)')
  action(addManner(sub), async (cli, agent: string, { pane, ...flags }: MannerFlags & { pane?: string }) => {
    const { Store } = await import('../../tmux/store.ts')
    const own = flags.exec === undefined ? (pane ?? process.env['TMUX_PANE']) : undefined
    if (own === undefined && flags.exec === undefined)
      throw new MailboxError('invalid', 'this is no tmux pane', { hint: 'name one: --pane %3' })
    await using space = await open(cli)
    const target = own === undefined ? { agent } : { agent, pane: own }
    const registration = await register(space, target, flags)
    new Store(space.dir).register(registration)
    const where = registration.place?.pane ?? 'the command'
    cli.confirm({ registration }, () => `mail for ${toPrintableLine(agent)} goes to ${where}`)
    for (const warning of space.watcherWarnings()) cli.warn(warning)
  })
}

function status(command: Command): void {
  action(
    command.command('status').summary('how the watcher is, and what each agent waits for'),
    async (cli) => {
      const { Store } = await import('../../tmux/store.ts')
      await using space = await open(cli, { existing: true })
      const health = space.watcher()
      const registrations = new Store(space.dir).registrations()
      const agents = registrations.map(({ agent, place, exec }) => {
        const seen = health?.heartbeat?.agents.find((one) => one.agent === agent)
        const where = place === undefined ? (exec ?? '') : `${place.pane} of ${place.socket}`
        return { agent, where, waiting: seen?.waiting ?? 0, doing: seen?.doing ?? 'nobody watches' }
      })
      const state = health?.state ?? 'none'
      cli.answer({ watcher: state, supervisor: health?.supervisor ?? null, agents }, () => {
        const { colors, width } = cli
        if (agents.length === 0) return 'nobody is attached: mailbox tmux attach AGENT (inside its pane)'
        const lines = table(
          [
            { head: 'AGENT', flexible: true, paint: colors.cyan },
            { head: 'WAITING', right: true },
            { head: 'NOW', flexible: true },
            { head: 'WHERE', flexible: true, optional: true, paint: colors.dim },
          ],
          agents.map(({ agent, where, waiting, doing }) => [agent, String(waiting), doing, where]),
          width,
          colors,
        )
        const head = health?.supervisor === undefined ? '' : `, process ${health.supervisor.pid}`
        return [`watcher ${state}${head}`, '', ...lines].join('\n')
      })
      for (const warning of space.watcherWarnings()) cli.warn(warning)
    },
  )
}

/** What the watcher starts and starts again. It ends with its standard input. */
function worker(command: Command): void {
  const sub = command.command('work', { hidden: true })
  action(sub, async (cli) => {
    const { work } = await import('../../tmux/worker.ts')
    await using space = await open(cli, { existing: true })
    const ending = new AbortController()
    const signal = AbortSignal.any([interruptSignal(), ending.signal])
    process.stdin.once('close', () => ending.abort())
    process.stdin.once('end', () => ending.abort())
    process.stdin.resume()
    // Nobody is there to read any more: the supervisor was killed.
    process.stdout.on('error', () => ending.abort())
    const print = (line: string) => process.stdout.write(`${line}\n`)
    await work(space, { signal, tell: (event) => print(JSON.stringify(event)), beat: () => print('beat') })
  })
}
