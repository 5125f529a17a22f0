import { type Agent, implicitPerson, isAway, person } from '../model/agent.ts'
import type { Settings } from '../model/settings.ts'
import type { Source } from './message.ts'

/** All agents by name; the person is always among them. */
export function roster({ index }: Source): Agent[] {
  const agents = index
    .sql('SELECT a.json, s.at FROM agent a LEFT JOIN seen s ON s.agent = a.name ORDER BY a.name')
    .all<[string, string | null]>()
    .map(([json, at]) => withSeen(JSON.parse(json) as Agent, at))
  return agents.some(({ name }) => name === person) ? agents : [implicitPerson(), ...agents]
}

/** Boxes of agents that are expected back, as a JSON list: their mail does not expire. */
export const awayBoxes = (source: Source): string =>
  JSON.stringify(roster(source).flatMap((agent) => (isAway(agent) ? agent.name : [])))

/** Whether another agent that is here holds the role. */
export const isShared = ({ index }: Source, role: string, agent: string): boolean =>
  index.sql('SELECT 1 FROM holder WHERE role = ? AND agent <> ? LIMIT 1').get([role, agent]) !== undefined

/** When an agent last did something. For a frozen or dead agent, since when it has been so. */
function withSeen(agent: Agent, at: string | null): Agent {
  const isHere = agent.state !== 'dead' && agent.state !== 'frozen'
  return at !== null && isHere && at > agent.lastSeenAt ? { ...agent, lastSeenAt: at } : agent
}

export function agentByName({ index }: Source, name: string): Agent | undefined {
  const row = index.sql('SELECT json FROM agent WHERE name = ?').get<[string]>([name])
  if (row !== undefined) return JSON.parse(row[0]) as Agent
  return name === person ? implicitPerson() : undefined
}

/** Whether an agent should report that it is there: it has been silent for a good part of what is allowed. */
export function isLongSilent(source: Source, agent: Agent, settings: Settings, now: number): boolean {
  if (agent.name === person || agent.state === 'frozen') return false
  if (agent.state === 'dead') return agent.gone === 'silent'
  const [at] = source.index.sql('SELECT at FROM seen WHERE agent = ?').get<[string]>([agent.name]) ?? []
  const seen = Date.parse(at !== undefined && at > agent.lastSeenAt ? at : agent.lastSeenAt)
  const allowed = agent.session.pid === undefined ? settings.silentAfterMs : settings.heartbeatMs
  return allowed > 0 && now - seen > allowed / 4
}
