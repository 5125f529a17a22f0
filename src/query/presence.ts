import type { Agent } from '../model/agent.ts'
import type { Source } from './message.ts'
import { waiting } from './owed.ts'
import { roster } from './roster.ts'

/** An agent as the roster shows it. */
export type RosterAgent = Agent & {
  /** Questions it sent that have no answer yet. */
  waitingFor?: string[]
}

/** All agents. One that has asked a question and has no answer yet is waiting, whatever else it does. */
export function presence(source: Source, now: number): RosterAgent[] {
  const waits = waiting(source, now)
  return roster(source).map((agent) => {
    const waitingFor = waits.get(agent.name)
    if (waitingFor === undefined) return agent
    const isFree = agent.state === 'alive' || agent.state === 'idle'
    return { ...agent, ...(isFree ? { state: 'waiting' as const } : {}), waitingFor }
  })
}
