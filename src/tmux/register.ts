import { MailboxError } from '../base/errors.ts'
import { checkName } from '../model/name.ts'
import type { DiskSpace } from '../space/space.ts'
import { foreground } from './foreground.ts'
import { programFor } from './programs.ts'
import type { PanePlace, Registration } from './store.ts'
import { Tmux } from './tmux.ts'

/** What is the same for a pane and for a command. */
export interface Manner extends Omit<Registration, 'agent' | 'place' | 'exec'> {
  /** A tmux server: a name (-L) or the path of its socket (-S). */
  socket?: string
}

/** `ada=%3` is the pane %3 for ada; `ada` alone is for a command. */
export function parseTarget(word: string): { agent: string; pane?: string } {
  const at = word.lastIndexOf('=')
  const agent = at < 0 ? word : word.slice(0, at)
  checkName(agent, 'agent name')
  if (at < 0) return { agent }
  const pane = word.slice(at + 1)
  if (pane !== '') return { agent, pane }
  throw new MailboxError('invalid', `${word} names no pane`, {
    hint: 'such as ada=%3 or ada=work:1.0; tmux list-panes -a shows them',
  })
}

/** The server that this process runs in, if it runs in one. */
const ownSocket = (): string => (process.env['TMUX'] ?? '').split(',')[0]!

/**
 * Settles where an agent's mail goes. An agent that is not here joins: the process of its pane is its life.
 * A program that is talked to and is there already becomes the one that mail is for: whatever takes its
 * place, most likely the shell it was started from, gets none.
 */
export async function registerPane(
  space: DiskSpace,
  agent: string,
  target: string,
  { socket = ownSocket(), ...manner }: Manner,
): Promise<Registration & { place: PanePlace }> {
  checkPrompt(manner.prompt)
  const tmux = new Tmux(socket)
  const place = await tmux.find(target)
  const look = await new Tmux(place.socket).look(place.pane)
  const name = await foreground(place.panePid, look?.command ?? '')
  const isTalkedTo = programFor(name, false).takes === 'talk'
  const program = manner.program ?? (isTalkedTo ? name : undefined)
  const isRunning = (await space.agents()).some(
    ({ name: known, state, session }) =>
      known === agent && !['dead', 'frozen'].includes(state) && session.pid !== undefined,
  )
  // One that had joined by hand would be taken for dead after a day without a word.
  if (!isRunning) await space.join(agent, { session: { pid: place.panePid, client: program ?? 'tmux' } })
  return { ...manner, agent, place, ...(program === undefined ? {} : { program }) }
}

export async function registerCommand(
  space: DiskSpace,
  agent: string,
  exec: string,
  { socket: _, ...manner }: Manner,
): Promise<Registration> {
  await space.mailbox(agent, { join: { session: { client: 'exec' } } })
  return { ...manner, agent, exec }
}

function checkPrompt(prompt: string | undefined): void {
  try {
    if (prompt !== undefined) new RegExp(`^(?:${prompt})$`, 'u')
  } catch (cause) {
    throw new MailboxError('invalid', `${JSON.stringify(prompt)} is no regular expression`, {
      hint: 'it describes the whole line up to the cursor while nothing is typed: --prompt "myagent> "',
      cause,
    })
  }
}
