import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readFileIfAny, readJsonIfAny, writeFileAtomically } from '../../base/files.ts'
import { nameToFile } from '../../model/name.ts'
import type { HookContext } from './respond.ts'

/**
 * What the hooks of one agent remember from one to the next. It is kept outside the journal: nobody else needs it,
 * it changes with every turn, and losing it costs one reminder too many or too few.
 */
export interface HookState {
  /** How often the agent has continued because of mail instead of stopping, since its last prompt. */
  turns: number
  /** Its session has started, and nothing was said yet: the first prompt brings that. */
  untold: boolean
  /** Its context was compacted: remind it of what is open at the next opportunity. */
  recall: boolean
  /** How often it has started to work, as far as hooks can tell: because of a prompt, or of mail. */
  works: number
  /** Open questions that the lead was told of. */
  reported: readonly string[]
  /** The process that the last hook ran for, and when, in ms. The end of a session removes all of this. */
  run: string
  at: number
  /** When the turn that has not ended yet began, in ms; 0 while the agent is idle. */
  turnSince: number
}

const initialState: HookState = {
  ...{ turns: 0, untold: false, recall: false, works: 0, reported: [] },
  ...{ run: '', at: 0, turnSince: 0 },
}

interface Owner {
  space: Pick<HookContext['space'], 'stateDir'>
  mailbox: Pick<HookContext['mailbox'], 'name'>
}

const pathOf = ({ space, mailbox }: Owner, ending: 'json' | 'waiter' | 'ringer'): string =>
  join(space.stateDir, 'hooks', 'agents', `${nameToFile(mailbox.name)}.${ending}`)

export const readHookState = (owner: Owner): HookState => ({
  ...initialState,
  ...readJsonIfAny<Partial<HookState>>(pathOf(owner, 'json')),
})

export const updateHookState = (owner: Owner, change: Partial<HookState>): void =>
  write(pathOf(owner, 'json'), JSON.stringify({ ...readHookState(owner), ...change }))

/**
 * The process that waits for mail while the agent is idle: the last one to start. In a file of its own, because it
 * starts at the same moment as the hook that records whether the agent is idle.
 */
export const waiterOf = (owner: Owner): string => readFileIfAny(pathOf(owner, 'waiter')) ?? ''

export const setWaiter = (owner: Owner, token: string): void => write(pathOf(owner, 'waiter'), token)

/**
 * The MCP server that announces mail to the agent while it is idle, by the client's own means. It is there as long as its
 * process: a client can begin another session with the same one.
 */
export const ringerOf = (owner: Owner): string => readFileIfAny(pathOf(owner, 'ringer')) ?? ''

export const setRinger = (owner: Owner, token: string): void => write(pathOf(owner, 'ringer'), token)

export function removeHookState(owner: Owner): void {
  for (const ending of ['json', 'waiter'] as const) rmSync(pathOf(owner, ending), { force: true })
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileAtomically(path, text, { expendable: true })
}
