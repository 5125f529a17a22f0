import { mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { isObject } from '../base/objects.ts'
import type { Agent } from '../model/agent.ts'
import { sessionAsSaid } from '../model/client.ts'

/**
 * An agent as this machine sees it: its own sessions without the mark of those that came over HTTP, and no processes of
 * other machines, whose numbers are the same as ours.
 */
export function asSeenHere(agent: Agent): Agent {
  if (agent.session.host === hostname()) return { ...agent, session: sessionAsSaid(agent.session) }
  const { pid: _, ...session } = agent.session
  return { ...agent, session }
}

/** What this machine is called in the names of its folders. A container has another host name each time. */
export function machineIn(dir: string): string {
  const file = join(dir, 'machine.json')
  const known = readJsonIfAny<unknown>(file)
  if (isObject(known) && typeof known['name'] === 'string') return known['name']
  const name = hostname()
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  writeFileAtomically(file, `${JSON.stringify({ name })}\n`)
  return name
}
