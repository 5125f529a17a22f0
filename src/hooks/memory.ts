import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nameToFile } from '../model/name.ts'

/**
 * What hooks of one agent remember from one to the next. It lies outside the journal: nobody else is
 * interested, it changes with every turn, and losing it costs nothing but a reminder too many or too few.
 */
export interface Memory {
  /** How often it went on because of mail instead of stopping, since somebody last prompted it. */
  turns: number
  /** Its context was shortened: the next thing it is told is what is open. */
  recall: boolean
  /** Whether it works, as far as hooks have seen. */
  isBusy: boolean
  /** Who waits for its mail while it is idle: the latest to say so. */
  waiter: string
  /** Open questions that whoever coordinates was told of. */
  reported: readonly string[]
}

const blank: Memory = { turns: 0, recall: false, isBusy: false, waiter: '', reported: [] }

const pathOf = (space: string, agent: string): string =>
  join(space, 'hooks', 'agents', `${nameToFile(agent)}.json`)

export function recollect(space: string, agent: string): Memory {
  try {
    return { ...blank, ...(JSON.parse(readFileSync(pathOf(space, agent), 'utf8')) as Partial<Memory>) }
  } catch {
    return { ...blank }
  }
}

export function remember(space: string, agent: string, change: Partial<Memory>): void {
  const path = pathOf(space, agent)
  mkdirSync(join(space, 'hooks', 'agents'), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, JSON.stringify({ ...recollect(space, agent), ...change }), { mode: 0o600 })
  renameSync(temporary, path)
}

export const forget = (space: string, agent: string): void => rmSync(pathOf(space, agent), { force: true })
