import type { ChartAgent, Pair } from './types.ts'

/** A participant: an agent, or an address for several agents. */
export interface Party {
  name: string
  kind: 'agent' | 'person' | 'group'
  state: string
  sent: number
  received: number
}

export const volume = ({ sent, received }: Party): number => sent + received

/** All agents and all addresses that received messages, busiest first. */
export function parties(agents: readonly ChartAgent[], pairs: readonly Pair[]): Party[] {
  const found = new Map<string, Party>()
  const party = (name: string): Party => {
    const known = found.get(name)
    if (known !== undefined) return known
    const made: Party = { name, kind: kindOf(name), state: '', sent: 0, received: 0 }
    found.set(name, made)
    return made
  }
  for (const { name, state = '' } of agents) party(name).state = state
  for (const { from, to, messages } of pairs) {
    party(from).sent += messages
    party(to).received += messages
  }
  return [...found.values()].sort(byVolume)
}

export const byVolume = (a: Party, b: Party): number => volume(b) - volume(a) || byName(a, b)
export const byName = (a: Party, b: Party): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

function kindOf(name: string): Party['kind'] {
  if (name === 'user') return 'person'
  return name === 'all' || name === '*' || /^[^/:]+:/.test(name) ? 'group' : 'agent'
}

/** The traffic in one sentence, for screen readers. */
export function summary(all: readonly Party[], pairs: readonly Pair[]): string {
  const messages = pairs.reduce((sum, pair) => sum + pair.messages, 0)
  const busiest = pairs.reduce<Pair | undefined>(
    (best, pair) => ((best?.messages ?? 0) < pair.messages ? pair : best),
    undefined,
  )
  const most = busiest === undefined ? '' : ` Busiest: ${busiest.from} to ${busiest.to}, ${busiest.messages}.`
  return `Traffic: ${messages} messages between ${all.length} participants.${most}`
}
