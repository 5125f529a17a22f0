import { homedir } from 'node:os'
import { quoteForShell } from '../../base/shell.ts'
import type { Client } from '../../model/client.ts'
import type { Hooks } from './json-hooks.ts'
import { installJson, type JsonEntries, uninstallJson } from './json-settings.ts'

/**
 * Setting up a client means adding entries to files that belong to somebody else. This describes which files, and
 * how to add our entries to their text and remove them again. Everything that touches the disk is the same for all
 * clients (install.ts, uninstall.ts).
 */
export interface ClientSetup {
  name: Client
  /** The product name. */
  label: string
  /** The command that starts it. */
  binary: string
  /** The directory that exists once the client has been used. */
  home(env: NodeJS.ProcessEnv): string
  files(place: Place): SettingsFile[]
  /** What the person still has to do after `init`, if anything. */
  next?: string
  /** Whether our plugin is installed, which does the same as `init`. */
  hasPlugin?(place: Place): boolean
  /** The command that removes that plugin. */
  removePlugin?: string
  /** What keeps the client from running hooks that are set up. */
  obstacle?(place: Place): Promise<{ found: string; next: string } | undefined>
}

export type Scope = 'user' | 'project'

export interface Place {
  scope: Scope
  /** The project's directory; unused for the user's own settings. */
  project: string
  env: NodeJS.ProcessEnv
  /** Where the package's `hook.sh` and `cli.cjs` are. */
  dist: string
  /** A space other than the one found from the agent's working directory. */
  space?: string | undefined
}

export interface SettingsFile {
  client: Client
  /** Identifies it among the client's files, whatever its path. */
  id: string
  path: string
  /** Returns the text with our entries; '' stands for an empty or missing file. Throws if that is impossible. */
  install(text: string): string
  /** Returns the text without our entries; '' when nothing is left. Throws likewise. */
  uninstall(text: string): string
}

export const jsonFile = (client: Client, id: string, path: string, entries: JsonEntries): SettingsFile => ({
  ...{ client, id, path },
  install: (text) => installJson(text, entries),
  uninstall: uninstallJson,
})

export const userHome = (env: NodeJS.ProcessEnv): string => env['HOME'] ?? homedir()

/** The hook that a client runs at one of its events. The unit of the timeout depends on the client. */
export function commandHook(client: Client, event: string, timeout: number, { dist, space }: Place) {
  const variable = space === undefined ? '' : `MAILBOX_SPACE=${quoteForShell(space)} `
  const command = `${variable}${quoteForShell(`${dist}/hook.sh`)} ${client} ${event}`
  return { type: 'command', command, timeout }
}

/** How many seconds a hook may take before the client continues without it. */
export const hookSeconds = 30
const claudeEvents = ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'Stop', 'SubagentStop', 'PreCompact']

export function claudeHooks(client: Client, place: Place, endSeconds: number): Hooks {
  const groups = (event: string, seconds = hookSeconds) => [
    { hooks: [commandHook(client, event, seconds, place)] },
  ]
  const hooks = Object.fromEntries(claudeEvents.map((event) => [event, groups(event)]))
  return { ...hooks, SessionEnd: groups('SessionEnd', endSeconds) }
}

/** The MCP server as most clients describe it. */
export const stdioServer = ({ dist, space }: Place) => ({
  command: 'node',
  args: [`${dist}/cli.cjs`, 'mcp'],
  ...(space !== undefined && { env: { MAILBOX_SPACE: space } }),
})
