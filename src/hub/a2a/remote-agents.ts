import { join } from 'node:path'
import { readJsonIfAny, writeFileAtomically } from '../../base/files.ts'
import { hubDir, makeHubDir, whileLocked } from '../hub-dir.ts'

/** An agent of another system that is in the roster: where its card is, and what it asks for. */
export interface RemoteAgent {
  /** The address of its card, as the person gave it. */
  card: string
  token?: string
}

/** The client that the session of such an agent has in the roster. */
export const a2aClient = 'a2a'

const fileIn = (dir: string): string => join(hubDir(dir), 'a2a-agents.json')

export const readRemoteAgents = (dir: string): Map<string, RemoteAgent> =>
  new Map(Object.entries(readJsonIfAny<Record<string, RemoteAgent>>(fileIn(dir)) ?? {}))

export function saveRemoteAgent(dir: string, name: string, agent: RemoteAgent): void {
  makeHubDir(dir)
  whileLocked(fileIn(dir), () => {
    const agents = { ...Object.fromEntries(readRemoteAgents(dir)), [name]: agent }
    writeFileAtomically(fileIn(dir), `${JSON.stringify(agents, null, 2)}\n`)
  })
}
