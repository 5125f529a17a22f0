import type * as z from 'zod/mini'
import type { agentSchema, sessionSchema } from './schemas.ts'

/** `frozen` agents are expected back: their mail waits. */
export const agentStates = ['alive', 'idle', 'waiting', 'frozen', 'dead'] as const

/** The person: in every roster, never dead. */
export const person = 'user'
/** May send, is never addressed. */
export const systemAgent = 'system'

/** One run of an agent. */
export type Session = z.infer<typeof sessionSchema>
export type Agent = z.infer<typeof agentSchema>

/** The person before anything was said of it. */
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

/** Mail to a frozen agent waits: for its own box the time stands still. */
export const clockOf = (agent: Pick<Agent, 'state' | 'lastSeenAt'> | undefined, now: number): number =>
  agent?.state === 'frozen' ? Math.min(now, Date.parse(agent.lastSeenAt)) : now

/** Everything an agent reads besides its own box: the boxes of its roles, tags, and everybody's. */
export function boxesOf(agent: Pick<Agent, 'roles' | 'tags'>): { roles: string[]; groups: string[] } {
  return { roles: agent.roles.map((role) => `role:${role}`), groups: [...agent.tags, 'all'] }
}
