import { quoteForShell } from '../../base/shell.ts'
import type { Client } from '../../model/client.ts'

/**
 * Setting up a client means adding entries to files that are somebody else's. A descriptor says which
 * files, and how their text gets our entries and loses them again; everything that touches the disk is
 * done by others, the same for all clients.
 */
export interface ClientSetup {
  name: Client
  /** As its makers call it. */
  label: string
  /** The command that starts it. */
  binary: string
  /** The directory that is there when the client has been used. */
  home(env: NodeJS.ProcessEnv): string
  files(place: Place): SettingsFile[]
  /** What the person still has to do after `init`, if anything. */
  next?: string
  /** Whether it has our plugin, which does the same as `init`. */
  hasPlugin?(place: Place): boolean
  /** How to get rid of that plugin. */
  withoutPlugin?: string
  /** What keeps the client from running hooks that are set up. */
  obstacle?(place: Place): Promise<Obstacle | undefined>
}

interface Obstacle {
  found: string
  next: string
}

export type Scope = 'user' | 'project'

export interface Place {
  scope: Scope
  /** The directory of the project; for the user's own settings it is not looked at. */
  project: string
  env: NodeJS.ProcessEnv
  /** Where the package's `hook.sh` and `cli.cjs` are. */
  dist: string
  /** A space other than the one that is found from where the agent works. */
  space?: string | undefined
}

export interface SettingsFile {
  client: Client
  /** Which of the client's files it is, whatever its path. */
  id: string
  path: string
  /** The text with our entries; '' is a file that is empty or not there. Throws when it will not do. */
  install(text: string): string
  /** The text without any entry of ours; '' when nothing is left of the file. Throws likewise. */
  uninstall(text: string): string
}

/** What a client runs at one of its events. */
export function hookCommand(client: Client, event: string, { dist, space }: Place): string {
  const where = space === undefined ? '' : `MAILBOX_SPACE=${quoteForShell(space)} `
  return `${where}${quoteForShell(`${dist}/hook.sh`)} ${client} ${event}`
}

/** How a client starts the MCP server. */
export const serverCommand = ({ dist }: Place): string[] => ['node', `${dist}/cli.cjs`, 'mcp']

export const serverEnv = ({ space }: Place): Record<string, string> | undefined =>
  space === undefined ? undefined : { MAILBOX_SPACE: space }
