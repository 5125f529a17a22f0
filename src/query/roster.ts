import { type Agent, implicitPerson, person } from '../model/agent.ts'
import type { Source } from './message.ts'

/** Everybody, by name; the person is always there. */
export function roster({ index }: Source): Agent[] {
  const agents = index
    .sql('SELECT json FROM agent ORDER BY name')
    .all()
    .map(([json]) => JSON.parse(json as string) as Agent)
  return agents.some(({ name }) => name === person) ? agents : [implicitPerson(), ...agents]
}

export function agentByName({ index }: Source, name: string): Agent | undefined {
  const row = index.sql('SELECT json FROM agent WHERE name = ?').get([name])
  if (row !== undefined) return JSON.parse(row[0] as string) as Agent
  return name === person ? implicitPerson() : undefined
}
