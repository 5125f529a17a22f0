import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { listIfAny, readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { type ProcessIdentity, processState } from '../base/process.ts'

/**
 * A program beside the space that brings agents their mail. It describes itself in `helpers/ID.json`, so that `stats`
 * and `doctor` can warn when it is down without knowing what it is. Paths are relative to the space.
 */
export interface HelperDescription {
  /** What people call it. */
  name: string
  /** The directory with one JSON file for each agent that depends on it. */
  agentsDir: string
  /** The JSON file with its process identity. Gone when it has stopped properly. */
  processFile: string
  /** The JSON file whose `at` is the time of its last sign of life, by the clock of the space. */
  heartbeatFile: string
  /** The commands that start it, show its status, and detach an agent from it. */
  start: string
  status: string
  detach: string
}

export interface Helper extends HelperDescription {
  id: string
  /** `silent`: its process is running but has shown no sign of life for a while. */
  state: 'up' | 'silent' | 'down'
  /** How many agents depend on it. */
  agents: number
  process?: ProcessIdentity
  /** What a person should know about it. */
  warning?: string
}

const silentAfterMs = 20_000

const helpersDir = (space: string): string => join(space, 'helpers')

export function describeHelper(space: string, id: string, description: HelperDescription): void {
  const path = join(helpersDir(space), `${id}.json`)
  if (JSON.stringify(readJsonIfAny(path)) === JSON.stringify(description)) return
  mkdirSync(helpersDir(space), { recursive: true, mode: 0o700 })
  writeFileAtomically(path, JSON.stringify(description))
}

/** The helpers that agents depend on, with their state. */
export const helpersOf = (space: string, now: number): Helper[] =>
  jsonFilesIn(helpersDir(space)).flatMap((file) => {
    const description = readJsonIfAny<HelperDescription>(join(helpersDir(space), file))
    if (description === undefined) return []
    const agents = jsonFilesIn(join(space, description.agentsDir)).length
    if (agents === 0) return []
    const helper = { ...description, id: file.slice(0, -'.json'.length), agents }
    return [{ ...helper, ...stateOf(space, helper, now) }]
  })

function stateOf(
  space: string,
  { name, processFile, heartbeatFile, agents, start, status }: HelperDescription & { agents: number },
  now: number,
): Pick<Helper, 'state' | 'process' | 'warning'> {
  const whose = `${agents} ${agents === 1 ? 'agent gets its' : 'agents get their'} mail from it`
  const process = readJsonIfAny<ProcessIdentity>(join(space, processFile))
  if (process === undefined || processState(process) === 'gone')
    return { state: 'down', warning: `${name} down: ${whose}; start it: ${start}` }
  const { at = 0 } = readJsonIfAny<{ at?: number }>(join(space, heartbeatFile)) ?? {}
  if (Math.abs(now - at) < silentAfterMs) return { state: 'up', process }
  return { state: 'silent', process, warning: `${name} silent: ${whose}; see ${status}` }
}

const jsonFilesIn = (dir: string): string[] => listIfAny(dir).filter((file) => file.endsWith('.json'))
