import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { OpenedSpace } from '../../space/api.ts'
import { stateDirFor } from '../../space/place.ts'
import type { Event } from '../../tmux/courier.ts'
import type { DeliveryOptions } from '../../tmux/register.ts'
import type { Registration } from '../../tmux/store.ts'
import type { WatchedSpace } from '../../tmux/watched.ts'
import { action, type Cli } from '../cli.ts'
import { table } from '../format/table.ts'
import { examples } from '../help.ts'
import { interruptSignal, serviceSignal } from '../interrupt.ts'
import { foundPlace, isOnDisk, type OpenOptions, open } from '../open.ts'
import { openAs } from '../open-hub.ts'
import { durationFrom, finiteDuration, given, whole } from '../options.ts'

interface DeliveryFlags {
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

function addDeliveryFlags(command: Command): Command {
  return command
    .option('--socket <name>', 'the tmux server: a name (tmux -L) or a path (tmux -S)')
    .option(
      '--program <name>',
      'type only while this program is in the foreground, and type whole messages into it',
    )
    .option('--prompt <regex>', 'the line up to the cursor while nothing is typed')
    .option(
      '--quiet-ms <duration>',
      'wait until the screen has not changed for this long (default 500ms)',
      finiteDuration,
    )
    .option(
      '--seen-ms <duration>',
      'fail if typed text does not appear within this time (default 30s)',
      durationFrom(100),
    )
    .option('--budget <bytes>', 'truncate longer messages (default 2000)', whole(200))
    .option('--multiline', 'keep line breaks; only for programs that support bracketed paste')
    .option('--no-ack', 'do not acknowledge mail when it appears on the screen')
    .option('--exec <command>', 'run this instead of typing, with the message as JSON on standard input')
}

function deliveryOf({ ack, exec: _, budget, ...flags }: DeliveryFlags): DeliveryOptions {
  return { ...given({ ...flags, budgetBytes: budget }), ...(ack ? {} : { noAck: true }) }
}

export function tmux(command: Command): void {
  command
    .description(
      'Type mail into the terminals of agents that have no hooks: Aider, plain shells, anything in a tmux pane. ' +
        'Waits for an empty prompt, pastes one message, and presses Enter once it appears. A shell only gets a one-line notice.',
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
    command.command('detach').summary("stop delivering an agent's mail").argument('<agent>', 'its name'),
    async (cli, agent: string) => {
      const { Store } = await import('../../tmux/store.ts')
      await using space = await open(cli, { agent })
      if (!new Store(space.stateDir).forget(agent))
        throw new MailboxError('not_found', `${agent} is not attached`, {
          hint: 'list attached agents: mailbox tmux status',
        })
      cli.confirm({ agent }, () => `detached ${toPrintableLine(agent)}; its mail stays in its inbox`)
    },
  )
  status(command)
  worker(command)
}

function watch(command: Command): void {
  const sub = command
    .command('watch')
    .summary('run the watcher until Ctrl-C')
    .argument('[agents...]', 'AGENT=PANE, or AGENT with --exec (default: those attached before)')
  action(addDeliveryFlags(sub), async (cli, words: string[], flags: DeliveryFlags) => {
    const { takeWatch, supervise } = await import('../../tmux/supervisor.ts')
    const { parseTarget } = await import('../../tmux/register.ts')
    const targets = words.map(parseTarget)
    const space = await openWatched(cli, { creates: true, agent: targets[0]?.agent })
    // First the right to watch, then the panes: a second watcher must not take panes from the first.
    const store = takeWatch(space)
    const signal = serviceSignal()
    try {
      const found: Registration[] = []
      for (const target of targets) found.push(await register(space, target, flags))
      for (const one of found) store.register(one)
      const all = store.registrations()
      if (all.length === 0) throw nobody()
      cli.hint(
        `watching for ${all.map(({ agent }) => toPrintableLine(agent)).join(', ')}; press Ctrl-C to stop`,
      )
      await space.close()
      await supervise(store, {
        command: [process.execPath, process.argv[1]!, 'tmux', 'work', '--space', space.place],
        signal,
        onLine: (line) => report(cli, line),
        onDeath: (why, pauseMs) => cli.warn(`the worker ended (${why}); restarting in ${pauseMs} ms`),
      })
    } finally {
      store.giveUpWatch()
      await space.close()
    }
  })
}

/** The space with what the watcher needs of it; at a hub each agent has a token of its own. */
async function openWatched(cli: Cli, options: OpenOptions = {}): Promise<WatchedSpace> {
  return watchedIn(cli, await openForAny(cli, options))
}

/** Opens the space with the token of an agent that is attached, unless another is named. */
async function openForAny(cli: Cli, options: OpenOptions = {}): Promise<OpenedSpace> {
  const place = foundPlace(cli)
  if (place.kind !== 'hub' || options.agent !== undefined) return open(cli, options)
  const { Store } = await import('../../tmux/store.ts')
  const [first] = new Store(stateDirFor(place.url, process.env)).registrations()
  return open(cli, { ...options, agent: first?.agent })
}

async function watchedIn(cli: Cli, space: OpenedSpace): Promise<WatchedSpace> {
  if (isOnDisk(space)) return (await import('../../tmux/watched.ts')).watchedOnDisk(space)
  const { WatchedHub } = await import('../../tmux/at-hub.ts')
  return new WatchedHub(space, (agent) => openAs(cli, agent))
}

const nobody = () =>
  new MailboxError('invalid', 'no agents to watch for', {
    hint: 'name agents and panes: mailbox tmux watch ada=%3; or attach them first: mailbox tmux attach ada',
  })

async function register(
  space: WatchedSpace,
  { agent, pane }: { agent: string; pane?: string },
  flags: DeliveryFlags,
): Promise<Registration> {
  const { registerCommand, registerPane } = await import('../../tmux/register.ts')
  if (pane !== undefined) return registerPane(space, agent, pane, deliveryOf(flags))
  if (flags.exec !== undefined) return registerCommand(space, agent, flags.exec, deliveryOf(flags))
  throw new MailboxError('invalid', `no pane given for ${agent}`, {
    hint: `use ${agent}=%3 for a pane, or --exec for a command`,
  })
}

/** A line from the worker: a heartbeat for us, or an event for the person. */
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
    .summary("deliver an agent's mail in this pane")
    .argument('<agent>', 'its name')
    .option('--pane <pane>', 'another pane: %3, work:1.0 (default: the current one)')
  action(
    addDeliveryFlags(sub),
    async (cli, agent: string, { pane, ...flags }: DeliveryFlags & { pane?: string }) => {
      const { Store } = await import('../../tmux/store.ts')
      const own = flags.exec === undefined ? (pane ?? process.env['TMUX_PANE']) : undefined
      if (own === undefined && flags.exec === undefined)
        throw new MailboxError('invalid', 'not inside a tmux pane', { hint: 'name one: --pane %3' })
      const opened = await open(cli, { creates: true, agent })
      const space = await watchedIn(cli, opened)
      const target = own === undefined ? { agent } : { agent, pane: own }
      const registration = await register(space, target, flags)
      await space.close()
      new Store(space.stateDir).register(registration)
      const where = registration.place?.pane ?? 'the command'
      cli.confirm({ registration }, () => `mail for ${toPrintableLine(agent)} goes to ${where}`)
      for (const { warning } of opened.helpers()) if (warning !== undefined) cli.warn(warning)
    },
  )
}

function status(command: Command): void {
  action(
    command.command('status').summary('show the watcher and what each agent is waiting for'),
    async (cli) => {
      const { Store } = await import('../../tmux/store.ts')
      await using space = await openForAny(cli)
      const store = new Store(space.stateDir)
      const registrations = store.registrations()
      const watcher = space.helpers().find(({ id }) => id === 'tmux')
      const state = watcher?.state ?? 'none'
      const heartbeat = state === 'down' ? undefined : store.heartbeat()
      const agents = registrations.map(({ agent, place, exec }) => {
        const seen = heartbeat?.agents.find((one) => one.agent === agent)
        const where = place === undefined ? (exec ?? '') : `${place.pane} of ${place.socket}`
        return { agent, where, waiting: seen?.waiting ?? 0, doing: seen?.doing ?? 'not watched' }
      })
      cli.answer({ watcher: state, supervisor: watcher?.process ?? null, agents }, () => {
        const { colors, width } = cli
        if (agents.length === 0)
          return 'No agents attached. Inside the pane of an agent: mailbox tmux attach AGENT'
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
        const head = watcher?.process === undefined ? '' : `, process ${watcher.process.pid}`
        return [`watcher ${state}${head}`, '', ...lines].join('\n')
      })
      for (const { warning } of space.helpers()) if (warning !== undefined) cli.warn(warning)
    },
  )
}

/** The worker that the watcher starts and restarts. It ends when its standard input closes. */
function worker(command: Command): void {
  const sub = command.command('work', { hidden: true })
  action(sub, async (cli) => {
    const { work } = await import('../../tmux/worker.ts')
    const space = await openWatched(cli)
    const ending = new AbortController()
    const signal = AbortSignal.any([interruptSignal(), ending.signal])
    process.stdin.once('close', () => ending.abort())
    process.stdin.once('end', () => ending.abort())
    process.stdin.resume()
    // Nobody reads our output any more: the supervisor was killed.
    process.stdout.on('error', () => ending.abort())
    const print = (line: string) => process.stdout.write(`${line}\n`)
    const tell = (event: Event) => print(JSON.stringify(event))
    try {
      await work(space, { signal, tell, beat: () => print('beat') })
    } finally {
      await space.close()
    }
  })
}
