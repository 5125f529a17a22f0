import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readFileIfAny, readJsonIfAny, writeFileAtomically } from '../../base/files.ts'
import { nameToFile } from '../../model/name.ts'

/**
 * What hooks of one agent remember from one to the next. It lies outside the journal: nobody else is
 * interested, it changes with every turn, and losing it costs nothing but a reminder too many or too few.
 */
export interface Memory {
  /** How often it went on because of mail instead of stopping, since somebody last prompted it. */
  turns: number
  /** Its context was shortened: the next thing it is told is what is open. */
  recall: boolean
  /** How often it got to work, as far as hooks have seen: by a prompt, or by mail. */
  works: number
  /** Open questions that whoever coordinates was told of. */
  reported: readonly string[]
}

const blank: Memory = { turns: 0, recall: false, works: 0, reported: [] }

const pathOf = (space: string, agent: string, ending: string): string =>
  join(space, 'hooks', 'agents', `${nameToFile(agent)}.${ending}`)

export function recollect(space: string, agent: string): Memory {
  return { ...blank, ...readJsonIfAny<Partial<Memory>>(pathOf(space, agent, 'json')) }
}

export function remember(space: string, agent: string, change: Partial<Memory>): void {
  write(pathOf(space, agent, 'json'), JSON.stringify({ ...recollect(space, agent), ...change }))
}

/**
 * Who waits for an agent's mail while it is idle: the latest to say so. Apart from the rest, because the one
 * who waits starts at the same moment as the hook that says whether the agent is idle.
 */
export const waiterOf = (space: string, agent: string): string =>
  readFileIfAny(pathOf(space, agent, 'waiter')) ?? ''

export const setWaiter = (space: string, agent: string, token: string): void =>
  write(pathOf(space, agent, 'waiter'), token)

export function forget(space: string, agent: string): void {
  for (const ending of ['json', 'waiter']) rmSync(pathOf(space, agent, ending), { force: true })
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileAtomically(path, text)
}
