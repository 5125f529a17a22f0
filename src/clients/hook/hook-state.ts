import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readFileIfAny, readJsonIfAny, writeFileAtomically } from '../../base/files.ts'
import { nameToFile } from '../../model/name.ts'

/**
 * What the hooks of one agent remember from one to the next. It is kept outside the journal: nobody else needs it,
 * it changes with every turn, and losing it costs one reminder too many or too few.
 */
export interface HookState {
  /** How often the agent has continued because of mail instead of stopping, since its last prompt. */
  turns: number
  /** Its context was compacted: remind it of what is open at the next opportunity. */
  recall: boolean
  /** How often it has started to work, as far as hooks can tell: because of a prompt, or of mail. */
  works: number
  /** Open questions that the lead was told of. */
  reported: readonly string[]
}

const initialState: HookState = { turns: 0, recall: false, works: 0, reported: [] }

const pathOf = (space: string, agent: string, ending: string): string =>
  join(space, 'hooks', 'agents', `${nameToFile(agent)}.${ending}`)

export const readHookState = (space: string, agent: string): HookState => ({
  ...initialState,
  ...readJsonIfAny<Partial<HookState>>(pathOf(space, agent, 'json')),
})

export function updateHookState(space: string, agent: string, change: Partial<HookState>): void {
  write(pathOf(space, agent, 'json'), JSON.stringify({ ...readHookState(space, agent), ...change }))
}

/**
 * The process that waits for mail while the agent is idle: the last one to start. In a file of its own, because it
 * starts at the same moment as the hook that records whether the agent is idle.
 */
export const waiterOf = (space: string, agent: string): string =>
  readFileIfAny(pathOf(space, agent, 'waiter')) ?? ''

export const setWaiter = (space: string, agent: string, token: string): void =>
  write(pathOf(space, agent, 'waiter'), token)

export function removeHookState(space: string, agent: string): void {
  for (const ending of ['json', 'waiter']) rmSync(pathOf(space, agent, ending), { force: true })
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileAtomically(path, text)
}
