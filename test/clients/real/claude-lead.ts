import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LocalSpace } from '../../../src/mod.ts'
import { until } from '../../helpers/wait.ts'
import { anthropic } from './anthropic.ts'
import { bareEnv, type ClientHome, claudeEnv, cli, setUpClaude, startClient } from './claude.ts'
import { isAside } from './mail-stage.ts'
import {
  type ModelRequest,
  type Script,
  type ScriptedModel,
  scriptedModel,
  type Turn,
} from './scripted-model.ts'
import { openTerminal, type Terminal } from './terminal.ts'

interface Roster {
  name: string
  leadSessionId: string
  leadProcess?: { pid: number }
  members: { name: string }[]
}

/** A lead of an agent team in the real Claude Code, in terminals one after another, with a bridge beside it. */
export interface Lead {
  model: ScriptedModel
  open(...args: string[]): Terminal
  bridge(): void
  rosters(): Roster[]
  /** Who is on a roster. */
  names(): string[]
  /** The name of its team, once it has one. */
  team(): Promise<string>
  /** Where the inboxes of a team are. */
  inboxes(team: string): string
}

type Moves = Record<string, (request: ModelRequest) => Turn | Promise<Turn>>

/** A model that makes each move once, when it has read the word for it. */
function mover(moves: Moves): Script {
  const made = new Set<string>()
  return (request) => {
    if (isAside(request)) return { text: 'a title' }
    // The lead has the words for its mate in its own conversation as well.
    const isMate = request.text.includes('MATE-PROMPT') && !request.text.includes('STEP-')
    const isMeant = (word: string) => word.startsWith('MATE-') === isMate && request.text.includes(word)
    const word = Object.keys(moves).find((one) => !made.has(one) && isMeant(one))
    if (word === undefined) return { text: 'Nothing more to do.' }
    made.add(word)
    return moves[word]!(request)
  }
}

export const calls = (name: string, input: Record<string, unknown>): Turn => ({ calls: [{ name, input }] })

export const says = (to: string, message: unknown, summary = 'a note'): Turn =>
  calls('SendMessage', { to, message, ...(typeof message === 'string' ? { summary } : {}) })

/** The lead starts a teammate. */
export const startsMate = (): Turn =>
  calls('Agent', {
    ...{ description: 'mate', name: 'alice', subagent_type: 'general-purpose' },
    prompt: 'MATE-PROMPT work',
  })

/** It is written in place, so it may be half there. */
function readTeam(path: string): Roster {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Roster
  } catch {
    return { name: '', leadSessionId: '', members: [] }
  }
}

export async function claudeLead(
  home: ClientHome,
  space: LocalSpace,
  moves: Moves,
  settings: object = {},
): Promise<Lead> {
  const config = join(home.home, '.claude')
  const model = await scriptedModel(anthropic, mover(moves))
  const env = { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' }
  const options = { home, modelUrl: model.url, env, settings }
  const teams = () => readdirSync(join(config, 'teams')).filter((name) => name.startsWith('session-'))
  const rosters = () => teams().map((name) => readTeam(join(config, 'teams', name, 'config.json')))
  return {
    model,
    rosters,
    open: (...args) =>
      openTerminal(
        setUpClaude({
          ...options,
          args: ['--permission-mode', 'default', ...args],
          allowedTools: ['Agent', 'SendMessage', 'ListAgents', 'ToolSearch'],
        }),
        { cwd: home.project, env: claudeEnv(options), temp: home.temp },
      ),
    bridge() {
      const words = [cli, '--space', space.dir, 'bridge', 'claude-teams', config]
      startClient(process.execPath, words, { cwd: home.project, env: bareEnv(home) })
    },
    names: () => rosters().flatMap(({ members }) => members.map(({ name }) => name)),
    team: () => until(() => teams()[0]),
    inboxes: (team) => join(config, 'teams', team, 'inboxes'),
  }
}
