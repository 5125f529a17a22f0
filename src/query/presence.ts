import type { Agent } from '../model/agent.ts'
import type { Source } from './message.ts'
import { waiting } from './owed.ts'
import { roster } from './roster.ts'

/** An agent as the roster shows it. */
export type RosterAgent = Agent & {
  /** Messages it waits for an answer to. */
  waitingFor?: string[]
}

/** Everybody, and who waits for an answer: whoever has asked something and has none yet, whatever else it does. */
export function presence(source: Source, now: number): RosterAgent[] {
  const waits = waiting(source, now)
  return roster(source).map((agent) => {
    const waitingFor = waits.get(agent.name)
    if (waitingFor === undefined) return agent
    const isFree = agent.state === 'alive' || agent.state === 'idle'
    return { ...agent, ...(isFree ? { state: 'waiting' as const } : {}), waitingFor }
  })
}
