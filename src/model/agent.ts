import type * as z from 'zod/mini'
import { boxOfTag } from './address.ts'
import type { agentSchema, sessionSchema } from './schemas.ts'

/** `frozen` agents are expected back, so their mail is kept. */
export const agentStates = ['alive', 'idle', 'waiting', 'frozen', 'dead'] as const

/** The person: in every roster, never dead. */
export const person = 'user'
/** Sends mail but never receives any. */
export const systemAgent = 'system'

/** One run of an agent. */
export type Session = z.infer<typeof sessionSchema>
export type Agent = z.infer<typeof agentSchema>

/** The person, before any entry mentions it. */
export function implicitPerson(): Agent {
  const epoch = new Date(0).toISOString()
  return {
    name: person,
    state: 'alive',
    roles: [],
    tags: [],
    session: { generation: 0, startedAt: epoch },
    lastSeenAt: epoch,
  }
}

/** Not here, and expected back: it is frozen, or its process ended without a word. */
export const isAway = ({ state, gone }: Pick<Agent, 'state' | 'gone'>): boolean =>
  state === 'frozen' || (state === 'dead' && gone !== 'left')

/** Its process has ended. */
export const hasDied = ({ state, gone }: Pick<Agent, 'state' | 'gone'>): boolean =>
  state === 'dead' && gone === 'ended'

/** Since when an agent has been here without a break, in ms. */
export const presentSince = ({ lastAway, session }: Pick<Agent, 'lastAway' | 'session'>): number =>
  Math.max(Date.parse(session.startedAt), lastAway === undefined ? 0 : Date.parse(lastAway.to))

/** Mail in the own box of an agent that is away does not expire, whatever its age when that was found out. */
export const clockOf = (agent: Pick<Agent, 'state' | 'gone'> | undefined, now: number): number =>
  agent !== undefined && isAway(agent) ? 0 : now

/** The boxes an agent reads besides its own: those of its roles, its tags, and `all`. */
export function boxesOf(agent: Pick<Agent, 'roles' | 'tags'>): { roles: string[]; groups: string[] } {
  return { roles: agent.roles.map((role) => `role:${role}`), groups: [...agent.tags.map(boxOfTag), 'all'] }
}
