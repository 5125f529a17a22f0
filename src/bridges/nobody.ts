import type { Agent } from '../model/agent.ts'

/** Whether an address is of a role or a tag that nobody has. */
export function isForNobodyIn(agents: ReadonlyMap<string, Agent>, to: string): boolean {
  const [space, word] = [to.slice(0, to.indexOf(':')), to.slice(to.indexOf(':') + 1)]
  if (!to.includes(':') || space === 'agent' || space === 'broadcast') return false
  const has = ({ roles, tags }: Agent) => (space === 'role' ? roles.includes(word) : tags.includes(to))
  return ![...agents.values()].some((agent) => agent.gone !== 'left' && has(agent))
}
