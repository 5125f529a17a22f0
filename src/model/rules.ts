import { type Address, writeAddress } from './address.ts'
import { type Agent, person, systemAgent } from './agent.ts'
import type { Directory } from './directory.ts'

/** One permission. Both sides take an agent, `role:x`, a tag or `*`. */
export interface Rule {
  from: string
  to: string
  /** @default true */
  allow?: boolean
}

/** Who may write to whom. Of a list the first rule that fits decides; what none fits is refused. */
export type Rules = 'open' | 'hub' | readonly Rule[]

/** Roles that lead unless the space says otherwise. To everything else they are roles like any other. */
export const leadRoles = ['lead', 'orchestrator', 'coordinator', 'coo', 'ceo']

export function isRules(value: unknown): value is Rules {
  if (value === 'open' || value === 'hub') return true
  return (
    Array.isArray(value) &&
    value.every(
      (rule: unknown) =>
        rule !== null &&
        typeof rule === 'object' &&
        Object.entries(rule).every(([key, of]) =>
          key === 'allow' ? typeof of === 'boolean' : ['from', 'to'].includes(key) && typeof of === 'string',
        ) &&
        'from' in rule &&
        'to' in rule,
    )
  )
}

/**
 * The rule that forbids this sender this address, in words; undefined when it may write there. The person
 * and the system may write to all, and everybody may write to the person.
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
    return 'hub: agents write to a lead or the person, and leads to all'
  }
  for (const { from, to, allow = true } of rules) {
    const fits = (from === '*' || isCalled(sender, from)) && (to === '*' || isMeant(address, to, directory))
    if (!fits) continue
    return allow ? undefined : `rule { from: ${from}, to: ${to}, allow: false }`
  }
  return 'no rule of the space allows it'
}

export const isLead = (agent: Agent, leads: readonly string[]): boolean =>
  agent.roles.some((role) => leads.includes(role))

function leadsTo(address: Address, leads: readonly string[], directory: Directory): boolean {
  if (address.kind === 'role') return leads.includes(address.name)
  const agent = address.kind === 'agent' ? directory.agents.get(address.name) : undefined
  return agent !== undefined && isLead(agent, leads)
}

const isCalled = ({ name, roles, tags }: Agent, pattern: string): boolean =>
  pattern === name ||
  tags.includes(pattern) ||
  (pattern.startsWith('role:') && roles.includes(pattern.slice('role:'.length)))

function isMeant(address: Address, pattern: string, directory: Directory): boolean {
  if (writeAddress(address) === pattern) return true
  const agent = address.kind === 'agent' ? directory.agents.get(address.name) : undefined
  return agent !== undefined && isCalled(agent, pattern)
}
