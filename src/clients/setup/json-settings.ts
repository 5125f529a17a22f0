import { isDeepStrictEqual } from 'node:util'
import { MailboxError } from '../../base/errors.ts'
import { isObject } from '../../base/objects.ts'
import { type Hooks, hooksWithoutOurs, installHooks, removeHooks, removeIfEmpty } from './json-hooks.ts'
import { addAt, removeAt, replaceValue } from './json-text.ts'
import { type Json, parseSettings } from './json-value.ts'
import { isOurServer, updateServer } from './our-entries.ts'

/** The entries that we add to a JSON settings file. */
export interface JsonEntries {
  hooks?: Hooks
  /** The MCP server, under the client's key for its servers. */
  server?: { under: string; value: Json }
}

const serverName = 'mailbox'
const serverKeys = ['mcpServers', 'mcp']

/** Adds what is missing and updates what is outdated. Everything else keeps its bytes. */
export function installJson(text: string, { hooks, server }: JsonEntries): string {
  const start = text.trim() === '' ? '{}\n' : text
  const before = parseSettings(start)
  let now = start
  if (hooks !== undefined) now = installHooks(now, hooks)
  if (server !== undefined) now = installServer(now, server.under, server.value)
  checkRest(before, parseSettings(now))
  return now
}

/** Removes all our entries, and objects that become empty. */
export function uninstallJson(text: string): string {
  if (text.trim() === '') return text
  const before = parseSettings(text)
  let now = removeHooks(text)
  for (const key of serverKeys) {
    const servers = before[key]
    if (!(isObject(servers) && isOurServer(servers[serverName]))) continue
    now = removeIfEmpty(removeAt(now, [key, serverName]), [key])
  }
  checkRest(before, parseSettings(now))
  return now
}

function installServer(text: string, under: string, value: Json): string {
  const servers = parseSettings(text)[under]
  if (servers === undefined) return addAt(text, [], { [serverName]: value }, under)
  if (!isObject(servers)) throw new MailboxError('invalid', `its ${JSON.stringify(under)} is not an object`)
  const there = servers[serverName]
  if (there === undefined) return addAt(text, [under], value, serverName)
  if (!isOurServer(there)) throw foreignServer(`${under}.${serverName}`)
  const updated = updateServer(there as Json, value)
  return isDeepStrictEqual(updated, there) ? text : replaceValue(text, [under, serverName], updated)
}

export const foreignServer = (name: string): MailboxError =>
  new MailboxError('conflict', `its ${name} belongs to another program`, { hint: 'rename that server' })

/** Whatever an edit does, everything that is not ours must stay the same, in the same order. */
function checkRest(before: Json, after: Json): void {
  if (JSON.stringify(withoutOurs(before)) === JSON.stringify(withoutOurs(after))) return
  throw new MailboxError('internal', 'editing it would change more than our own entries')
}

function withoutOurs(settings: Json): Json {
  const rest: Json = { ...settings, hooks: hooksWithoutOurs(settings['hooks']) }
  for (const key of serverKeys) {
    const servers = settings[key]
    if (!isObject(servers)) continue
    const { [serverName]: ours, ...others } = servers
    const kept = isOurServer(ours) ? others : servers
    rest[key] = Object.keys(kept).length === 0 ? undefined : kept
  }
  return rest
}
