import { basename, dirname, sep } from 'node:path'
import { readFileIfAny } from '../../base/files.ts'
import { type Agent, person, systemAgent } from '../../model/agent.ts'
import type { Folder } from '../folder.ts'
import { leadName, type Member, ourType, type Team, teamsIn } from './team-files.ts'

/** Names that speak for somebody else there. */
const reservedThere = new Set([leadName, 'main', 'user', 'system'])

/** A name of ours as a team can have it, unless somebody else has it there. */
export function plainName(name: string): string {
  if (name === person) return 'mailbox-user'
  if (name === systemAgent) return 'mailbox'
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 120)
  return reservedThere.has(plain) || !/^\w/.test(plain) ? `mailbox-${plain}` : plain
}

/** The teams that are the business of this space: those of its project, or all where it belongs to none. */
export function ownTeams(folder: Folder): Team[] {
  const { dir = '' } = folder.host ?? {}
  const project = basename(dir) === '.mailbox' ? dirname(dir) : undefined
  return teamsIn(folder).filter(
    ({ cwd }) => project === undefined || cwd === project || cwd.startsWith(project + sep),
  )
}

const agentsOf = (folder: Folder): Agent[] => [...(folder.host?.agents.values() ?? [])]

/** The agent here that the process of a member is, if its own hooks bring it its mail. */
export function hookedAgent(folder: Folder, team: Team, member: string): Agent | undefined {
  const isIt = ({ session }: Agent) =>
    member === leadName
      ? session.id === team.sessionId || (session.pid !== undefined && session.pid === team.leadPid)
      : session.pid !== undefined && isPaneOf(session.pid, `${member}@${team.name}`)
  return agentsOf(folder).find(
    (agent) => agent.session.client === 'claude' && agent.state !== 'dead' && isIt(agent),
  )
}

/** A member with a terminal of its own is a process that was told who it is. */
function isPaneOf(pid: number, agentId: string): boolean {
  const words = (readFileIfAny(`/proc/${pid}/cmdline`) ?? '').split('\0')
  const at = words.indexOf('--agent-id')
  return at >= 0 && words[at + 1] === agentId
}

/** What a member of theirs is called here: as the agent that it is already, or with its team before its name. */
export const nameHere = (folder: Folder, team: Team, member: string): string =>
  hookedAgent(folder, team, member)?.name ?? `${team.label}/${member}`

/** The member that a name here stands for. */
export function memberOf(folder: Folder, name: string): { team: Team; member: Member } | undefined {
  const slash = name.indexOf('/')
  const teams = slash < 0 ? [] : ownTeams(folder).filter((one) => one.label === name.slice(0, slash))
  const team = teams.find(({ isAlive }) => isAlive) ?? teams[0]
  const member = team?.members.find((one) => one.name === name.slice(slash + 1) && one.agentType !== ourType)
  return team === undefined || member === undefined ? undefined : { team, member }
}

/** Which of our agents are members of a team: all that are here, except those that are in it already as themselves. */
export function guestsOf(folder: Folder, team: Team): { name: string; agent: Agent }[] {
  const theirs = team.members.filter(({ agentType }) => agentType !== ourType).map(({ name }) => name)
  const own = new Set(theirs.map((name) => hookedAgent(folder, team, name)?.name))
  const taken = new Set(theirs)
  const isGuest = (agent: Agent) =>
    agent.session.client !== 'bridge' &&
    agent.name !== person &&
    agent.state !== 'dead' &&
    !own.has(agent.name)
  return agentsOf(folder)
    .filter(isGuest)
    .map((agent) => {
      const name = freeName(agent.name, taken)
      taken.add(name)
      return { name, agent }
    })
}

/** What one of us is called in a team: never what somebody else is called there. */
export function nameInTeam(folder: Folder, team: Team, name: string): string {
  const guests = guestsOf(folder, team)
  const guest = guests.find(({ agent }) => agent.name === name)
  if (guest !== undefined) return guest.name
  const theirs = team.members.filter(({ agentType }) => agentType !== ourType)
  return freeName(name, new Set([...theirs, ...guests].map((one) => one.name)))
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  const plain = plainName(name)
  const others = Array.from({ length: taken.size }, (_, n) => `mailbox-${plain}${n === 0 ? '' : `-${n}`}`)
  return [plain, ...others].find((one) => !taken.has(one))!
}
