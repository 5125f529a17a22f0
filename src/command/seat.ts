import { MailboxError } from '../base/errors.ts'
import type { View } from '../conversation/view.ts'
import type { Agent, Session } from '../model/agent.ts'
import { hasOneSession, isRemote } from '../model/client.ts'
import type { Directory } from '../model/directory.ts'
import { type AgentDraft, agentDraft } from '../model/entry.ts'
import type { Context, Decision } from './context.ts'
import { isRunning, type ProcessStates } from './due/deaths.ts'
import { decideJoin, decideLeave, findAgent, type JoinInput } from './roster.ts'

export interface SeatInput {
  /** The required agent. If omitted, the agent already in this process, or a new one. */
  name?: string | undefined
  /** The client, after which new agents are named. */
  client: string
  session: NonNullable<JoinInput['session']>
  /** Whether it may join or resume. `false`: only an agent that is already there. @default true */
  joins?: boolean
}

type Running = Pick<ProcessStates, 'gone'>

/**
 * Finds the agent of a process. A client connects in several ways (hooks, tools), in any order, and not all of them
 * know its session; they must all find the same agent. It is, in this order:
 *
 * 1. the one that was named: by the caller, or by joining from this process under a name of its own
 * 2. the one whose session this is, here or resumed after it has ended elsewhere
 * 3. the one that joined from this process, if it is of no other session
 * 4. one of this process whose session has ended
 * 5. a new one
 *
 * An agent of this process learns its session as soon as anybody knows it. If the session turns out to belong to
 * another agent, the one that was made up meanwhile is given up.
 */
export function decideSeat(
  view: View,
  { name, client, session, joins = true }: SeatInput,
  processes: Running,
  context: Context,
): Decision<string> {
  const { directory } = view
  const seats = seatsOf(directory, session)
  const isOurs = ({ session: { id } }: Agent) =>
    session.id === undefined || id === undefined || id === session.id || hasOneSession(client)
  const own =
    seats.find((agent) => isRunning(agent, processes) && isOurs(agent) && !isMadeUp(agent, client)) ??
    ownerOf(directory, client, session, processes) ??
    seats.find(isOurs) ??
    seats.find(({ state }) => state === 'frozen')
  const found = name ?? own?.name ?? freeName(client, directory)
  const before = findAgent(directory, found)
  if (before !== undefined && isRunning(before, processes))
    return { drafts: tellSession(before, client, session), result: found }
  if (!joins)
    throw new MailboxError('conflict', `the session of ${found} has ended`, { hint: 'start a new session' })
  const others = name === undefined ? seats.filter((agent) => agent.name !== found && isOurs(agent)) : []
  const left = others.filter((agent) => isRunning(agent, processes))
  return {
    drafts: [
      // One whose session is known can be resumed; one without was made up before anybody knew the session.
      ...left.flatMap((agent) => decideLeave(view, agent.name, agent.session.id !== undefined, context)),
      ...decideJoin(view, found, { session: { ...session, client } }, context, processes.gone),
    ],
    result: found,
  }
}

/** The agents that joined from a process: those at work first, then the latest. */
const seatsOf = ({ agents }: Directory, session: SeatInput['session']): Agent[] =>
  [...agents.values()]
    .filter((agent) => agent.state !== 'dead' && isSameProcess(agent.session, session))
    .sort(
      (a, b) =>
        Number(b.state !== 'frozen') - Number(a.state !== 'frozen') ||
        b.session.startedAt.localeCompare(a.session.startedAt),
    )

/** The agent of a session: in this process, or not at work any more. The latest, if its name has changed. */
function ownerOf(
  { agents }: Directory,
  client: string,
  session: SeatInput['session'],
  processes: Running,
): Agent | undefined {
  if (session.id === undefined) return undefined
  return [...agents.values()]
    .filter((agent) => agent.session.id === session.id && agent.session.client === client)
    .filter((agent) => !isRemote(agent.session))
    .filter((agent) => isSameProcess(agent.session, session) || !isRunning(agent, processes))
    .sort((a, b) => b.session.startedAt.localeCompare(a.session.startedAt))[0]
}

/** What an agent's record lacks of its session. A name can be in use elsewhere: then it is not its session. */
function tellSession(agent: Agent, client: string, session: SeatInput['session']): AgentDraft[] {
  const { id } = session
  if (id === undefined || agent.session.id === id || !isSameProcess(agent.session, session)) return []
  return [agentDraft('updated', agent.name, { ...agent, session: { client, ...agent.session, id } })]
}

/** Whoever came over HTTP can name any process as its own, and is not believed. */
const isSameProcess = (one: Session, other: SeatInput['session']): boolean =>
  !isRemote(one) &&
  other.pid !== undefined &&
  one.pid === other.pid &&
  one.pidStart === other.pidStart &&
  one.host === other.host

/** Whether we named it ourselves. */
const isMadeUp = ({ name }: Agent, client: string): boolean =>
  name.startsWith(`${client}-`) && /^\d+$/.test(name.slice(client.length + 1))

/** The first of `claude-1`, `claude-2` … that no living or frozen agent has, and that looks like no other's. */
function freeName(client: string, directory: Directory): string {
  for (let n = 1; ; n++) {
    const name = `${client}-${n}`
    const agent = directory.agents.get(name)
    const isFree = agent === undefined ? directory.lookAlike(name) === undefined : agent.state === 'dead'
    if (isFree) return name
  }
}
