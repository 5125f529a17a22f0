import { MailboxError } from '../base/errors.ts'
import { checkName } from '../model/name.ts'
import { foreground } from './foreground.ts'
import { programFor } from './programs.ts'
import { promptPattern } from './screen.ts'
import type { PanePlace, Registration } from './store.ts'
import { Tmux } from './tmux.ts'
import type { RosterAgent, WatchedSpace } from './watched.ts'

/** Options for both panes and commands. */
export interface DeliveryOptions extends Omit<Registration, 'agent' | 'place' | 'exec'> {
  /** A tmux server: a name (-L) or the path of its socket (-S). */
  socket?: string
}

/** `ada=%3` means pane %3 for ada; `ada` alone is for a command. */
export function parseTarget(word: string): { agent: string; pane?: string } {
  const at = word.lastIndexOf('=')
  const agent = at < 0 ? word : word.slice(0, at)
  checkName(agent, 'agent name')
  if (at < 0) return { agent }
  const pane = word.slice(at + 1)
  if (pane !== '') return { agent, pane }
  throw new MailboxError('invalid', `no pane in ${word}`, {
    hint: 'for example ada=%3 or ada=work:1.0; list them with: tmux list-panes -a',
  })
}

/** The server that this process runs in, if it runs in one. */
const ownSocket = (): string => (process.env['TMUX'] ?? '').split(',')[0]!

/**
 * Determines where an agent's mail goes. An agent that is not running joins, and lives as long as the process of its
 * pane. If a program that reads messages is in the pane, mail is for that program only: whatever replaces it, most
 * likely the shell it was started from, gets none.
 */
export async function registerPane(
  space: WatchedSpace,
  agent: string,
  target: string,
  { socket = ownSocket(), ...options }: DeliveryOptions,
): Promise<Registration & { place: PanePlace }> {
  promptPattern(options.prompt) // Throws if it is not valid.
  const place = await new Tmux(socket).find(target)
  const look = await new Tmux(place.socket).look(place.pane)
  const name = await foreground(place.panePid, look?.command ?? '')
  const isTalkedTo = programFor(name, false).takes === 'talk'
  const program = options.program ?? (isTalkedTo ? name : undefined)
  const known = await agentIn(space, agent)
  const isRunning = known?.session.pid !== undefined && !['dead', 'frozen'].includes(known.state)
  // An agent that joined by hand would count as dead after a day without activity.
  if (!isRunning) await space.join(agent, { session: { pid: place.panePid, client: program ?? 'tmux' } })
  return { ...options, agent, place, ...(program === undefined ? {} : { program }) }
}

export async function registerCommand(
  space: WatchedSpace,
  agent: string,
  exec: string,
  { socket: _, ...options }: DeliveryOptions,
): Promise<Registration> {
  const known = await agentIn(space, agent)
  const isThere = known !== undefined && !['dead', 'frozen'].includes(known.state)
  if (!isThere) await space.join(agent, { session: { client: 'exec' } })
  return { ...options, agent, exec }
}

async function agentIn(space: WatchedSpace, name: string): Promise<RosterAgent | undefined> {
  const found = (await space.agentsNamed([name])).get(name)
  if (found instanceof Error) throw found
  return found
}
