import { basename } from 'node:path'

/**
 * `/any/where/dist/hook.sh claude Stop`, however it is quoted and whatever precedes it; or what our plugins run,
 * `…/scripts/mailbox.sh hook claude Stop`.
 */
const hookPattern =
  /(?:^|[\s/'"])(?:dist\/hook\.sh['"]?|scripts\/mailbox\.sh['"]?\s+hook)\s+[a-z]+\s+(\w+)\s*$/

/** The event that a hook's command is for, if it is one of ours, of any version. */
export const ourEvent = (command: unknown): string | undefined =>
  typeof command === 'string' ? hookPattern.exec(command)?.[1] : undefined

/** The path of hook.sh in one of our commands. */
export function hookPath(command: string): string | undefined {
  const words = /(?:'((?:[^']|'\\'')*)'|"([^"]*)"|(\S*hook\.sh))\s+\w+\s+\w+\s*$/.exec(command)
  const path = words?.[1]?.replaceAll(`'\\''`, "'") ?? words?.[2] ?? words?.[3]
  return path?.endsWith('hook.sh') ? path : undefined
}

/**
 * Our server, brought up to date. What the person has added stays, except for the space, which is the one given
 * this time, or none.
 */
export function updateServer<T extends object>(there: T | undefined, wanted: T): T {
  const updated = { ...there, ...wanted } as Record<string, unknown>
  for (const key of ['env', 'environment']) {
    const [was, is] = [there, wanted].map((server) => (server as Record<string, object> | undefined)?.[key])
    const { MAILBOX_SPACE: _, ...others } = { ...was } as Record<string, unknown>
    const variables = { ...others, ...is }
    if (Object.keys(variables).length > 0) updated[key] = variables
    else delete updated[key]
  }
  return updated as T
}

/** Whether an MCP server, as any client describes it, is ours. */
export function isOurServer(server: unknown): boolean {
  if (server === null || typeof server !== 'object') return false
  const { command, args } = server as { command?: unknown; args?: unknown }
  const words = [command, args].flat().filter((word): word is string => typeof word === 'string')
  const at = words.indexOf('mcp')
  return at > 0 && /^(cli\.cjs|mailbox)$/.test(basename(words[at - 1]!))
}
