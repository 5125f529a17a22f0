import { MailboxError } from '../base/errors.ts'
import { identifyProcess } from '../base/process.ts'
import { findDeaths, isRunning } from '../command/due/deaths.ts'
import {
  decideJoin,
  decideLeave,
  decideSeed,
  decideUpdate,
  type JoinInput,
  requireAgent,
  type UpdateInput,
} from '../command/roster.ts'
import { decideSeat, type SeatInput } from '../command/seat.ts'
import { type Agent, person } from '../model/agent.ts'
import { checkName } from '../model/name.ts'
import { presence, type RosterAgent } from '../query/presence.ts'
import { agentByName } from '../query/roster.ts'
import { mustBeGranted } from './acting.ts'
import type { MailboxOptions } from './api.ts'
import type { SpaceCore } from './core.ts'
import { processStates, queryNow, runDue } from './due.ts'

/** Makes sure that whoever opens a mailbox is in the roster: it is the agent for as long as its process runs. */
export async function comeToMailbox(core: SpaceCore, name: string, options: MailboxOptions): Promise<void> {
  const known = typeof name === 'string' ? await core.query((source) => agentByName(source, name)) : undefined
  if (known === undefined) checkName(name, 'agent name')
  if (options.join === false) {
    if (known === undefined) await core.query((source) => requireAgent(core.viewOf(source).directory, name))
  } else if (known === undefined || !isRunning(known, processStates([known]))) {
    await join(core, name, { session: { pid: process.pid }, ...options.join })
  }
}

/**
 * The agent that runs in a client's process, whichever way that client reaches us. It joins when it is not in
 * the roster yet.
 */
export async function joinAs(core: SpaceCore, input: SeatInput): Promise<string> {
  const session = withProcess(input.session)
  // An agent that died without a word must not be taken for one that runs here.
  await runDue(core)
  const { name: wanted } = input
  const processes = await core.query((source) => {
    const { agents } = core.viewOf(source).directory
    const mayBeIt = ({ name, session: { id, pid } }: Agent) =>
      name === wanted || pid === session.pid || (id !== undefined && id === session.id)
    return processStates([...agents.values()].filter(mayBeIt))
  })
  const { result: name } = await core.decide('index', (view, context) =>
    decideSeat(view, { ...input, session }, processes, context),
  )
  return name
}

export async function join(core: SpaceCore, name: string, input: JoinInput): Promise<Agent> {
  await mustBeGranted(core, name, input.roles)
  const session = input.session === undefined ? {} : { session: withProcess(input.session) }
  const before = core.agents.get(name)
  const { gone } = processStates(before === undefined ? [] : [before])
  const agent = await changeAgent(core, 'index', (view, context) =>
    decideJoin(view, name, { ...input, ...session }, context, gone),
  )
  // What was for an earlier run must not reach this one.
  await runDue(core)
  return agent
}

export async function update(core: SpaceCore, name: string, input: UpdateInput): Promise<Agent> {
  await mustBeGranted(core, name, input?.addRoles)
  const agent = await changeAgent(core, 'directory', (view, context) =>
    decideUpdate(view, name, input, context),
  )
  if (agent.state !== 'dead') return agent
  // It was taken for dead; now that it has spoken it comes back.
  await runDue(core)
  return (await core.query((source) => agentByName(source, name))) ?? agent
}

export async function leave(
  core: SpaceCore,
  name: string,
  { frozen = false, frees = false }: { frozen?: boolean; frees?: boolean },
): Promise<Agent> {
  const agent = await changeAgent(core, 'index', (view, context) =>
    decideLeave(view, name, frozen, context, frees),
  )
  await runDue(core)
  return agent
}

export async function seedSwarm(core: SpaceCore, dir: string): Promise<Agent[]> {
  const { membersOf } = await import('./swarm.ts')
  const { swarm, names } = membersOf(dir)
  const tag = `swarm:${swarm}`
  const agents: Agent[] = []
  for (const name of names)
    agents.push(await changeAgent(core, 'directory', (view, context) => decideSeed(view, name, tag, context)))
  return agents
}

export async function agents(core: SpaceCore): Promise<RosterAgent[]> {
  return queryNow(core, (source) => {
    const everybody = presence(source, core.now())
    const deaths = findDeaths(core.viewOf(source), processStates(everybody), core.context)
    return everybody.map((agent) => deaths.find(({ agent: { name } }) => name === agent.name)?.agent ?? agent)
  })
}

/** Who leads from an agent's point of view: the first leading role that another holds, or the person. */
export async function leadOf(core: SpaceCore, name: string): Promise<string> {
  const { leads, deadLetterAfterMs } = core.settings
  // One that has just died may be back in a moment, and its mail waits for it as long.
  const mayCome = ({ state, gone, lastSeenAt }: Agent) =>
    state !== 'dead' || (gone !== 'left' && core.now() - Date.parse(lastSeenAt) < deadLetterAfterMs)
  const others = (await agents(core)).filter((agent) => agent.name !== name && mayCome(agent))
  const role = leads.find((one) => others.some((agent) => agent.roles.includes(one)))
  return role === undefined ? person : `role:${role}`
}

async function changeAgent(
  core: SpaceCore,
  ...[on, decide]: Parameters<SpaceCore['record']>
): Promise<Agent> {
  const placed = await core.record(on, decide)
  for (const { entry } of placed) if (entry.kind === 'agent') return entry.agent
  throw new MailboxError('internal', 'the roster did not change')
}

/** A session with what tells its process from others. The process of another host is described by its caller. */
function withProcess(session: NonNullable<JoinInput['session']>): NonNullable<JoinInput['session']> {
  const { pid, host } = session
  const isOurs = Number.isSafeInteger(pid) && pid! > 0 && host === undefined
  return isOurs ? { ...session, ...identifyProcess(pid!) } : session
}
