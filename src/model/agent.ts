import * as z from 'zod/mini'

/** `frozen` agents are expected back: their mail waits. */
export const agentStates = ['alive', 'idle', 'waiting', 'frozen', 'dead'] as const
export type AgentState = (typeof agentStates)[number]

/** An agent without a process to look at lives until it leaves or has been silent this long. */
export const agentLeaseMs = 24 * 3_600_000

/** The person: in every roster, never dead. */
export const person = 'user'
/** May send, is never addressed. */
export const systemAgent = 'system'

export const sessionSchema = z.strictObject({
  /** Rises with every run of the agent. */
  generation: z.int(),
  startedAt: z.string(),
  pid: z.optional(z.int()),
  /** Start of the process as the system reports it, so that a reused pid is not the old agent. */
  pidStart: z.optional(z.string()),
  host: z.optional(z.string()),
  client: z.optional(z.string()),
})
export type Session = z.infer<typeof sessionSchema>

export const agentSchema = z.strictObject({
  name: z.string(),
  state: z.enum(agentStates),
  roles: z.array(z.string()),
  tags: z.array(z.string()),
  session: sessionSchema,
  lastSeenAt: z.string(),
  note: z.optional(z.string()),
})
export type Agent = z.infer<typeof agentSchema>

/** Everything an agent reads besides its own box: the boxes of its roles, tags, and everybody's. */
export function boxesOf(agent: Pick<Agent, 'roles' | 'tags'>): { roles: string[]; groups: string[] } {
  return { roles: agent.roles.map((role) => `role:${role}`), groups: [...agent.tags, 'all'] }
}
