import { isObject } from '../base/objects.ts'
import { type Address, boxOfTag, writeAddress } from './address.ts'
import { type Agent, person, systemAgent } from './agent.ts'
import type { Directory } from './directory.ts'

/** One permission. Both sides accept an agent, `role:x`, a tag or `*`. */
export interface Rule {
  from: string
  to: string
  /** @default true */
  allow?: boolean
}

/** Who may write to whom. In a list, the first matching rule decides; without a match, mail is rejected. */
export type Rules = 'open' | 'hub' | readonly Rule[]

/** Lead roles, unless a space sets others. In all other respects they are ordinary roles. */
export const leadRoles = ['lead', 'orchestrator', 'coordinator', 'coo', 'ceo']

export function isRules(value: unknown): value is Rules {
  return value === 'open' || value === 'hub' || (Array.isArray(value) && value.every(isRule))
}

function isRule(value: unknown): boolean {
  if (!isObject(value)) return false
  const { from, to, allow = true, ...others } = value
  const isWritten = typeof from === 'string' && typeof to === 'string' && typeof allow === 'boolean'
  return isWritten && Object.keys(others).length === 0
}

/**
 * The rule that forbids this sender to write to this address, in words, or undefined. The person and the
 * system may write to everyone, and everyone may write to the person.
 */
export function forbidden(
  rules: Rules,
  leads: readonly string[],
  directory: Directory,
  sender: Agent,
  address: Address,
): string | undefined {
  if (rules === 'open' || sender.name === person || sender.name === systemAgent) return undefined
  if (address.kind === 'agent' && address.name === person) return undefined
  if (rules === 'hub') {
    if (isLead(sender, leads) || leadsTo(address, leads, directory)) return undefined
    return 'hub: agents may write only to a lead or the person'
  }
  for (const { from, to, allow = true } of rules) {
    const fits = isCalled(sender, from) && isMeant(address, to, directory)
    if (!fits) continue
    return allow ? undefined : `rule { from: ${from}, to: ${to}, allow: false }`
  }
  return 'no rule allows it'
}

export const isLead = (agent: Agent, leads: readonly string[]): boolean =>
  agent.roles.some((role) => leads.includes(role))

function leadsTo(address: Address, leads: readonly string[], directory: Directory): boolean {
  if (address.kind === 'role') return leads.includes(address.name)
  const agent = address.kind === 'agent' ? directory.agents.get(address.name) : undefined
  return agent !== undefined && isLead(agent, leads)
}

/** Whether a pattern means this agent: by its name, `role:NAME`, one of its tags or `*`. */
export const isCalled = (
  { name, roles, tags }: Pick<Agent, 'name' | 'roles' | 'tags'>,
  pattern: string,
): boolean =>
  pattern === '*' ||
  pattern === name ||
  tags.some((tag) => boxOfTag(tag) === pattern) ||
  (pattern.startsWith('role:') && roles.includes(pattern.slice('role:'.length)))

/** Whether a pattern means this address: as it is written, by what is known of its agent, or `*`. */
export function isMeant(address: Address, pattern: string, directory: Directory): boolean {
  if (pattern === '*' || writeAddress(address) === pattern) return true
  const agent = address.kind === 'agent' ? directory.agents.get(address.name) : undefined
  return agent !== undefined && isCalled(agent, pattern)
}
