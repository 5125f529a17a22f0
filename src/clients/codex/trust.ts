import { join } from 'node:path'
import { isObject } from '../../base/objects.ts'
import { findOurHooks } from '../setup/json-hooks.ts'
import { type Json, readSettingsFile } from '../setup/json-value.ts'

/** `SessionStart` as Codex writes it in the keys of its hooks: `session_start`. */
const snakeOf = (event: string): string => event.replace(/(?<=.)[A-Z]/g, '_$&').toLowerCase()

/** The names under which Codex keeps what it knows of our hooks: by file or plugin, event and place. */
export const hookKeysIn = (dir: string): string[] => {
  const path = join(dir, 'hooks.json')
  return findOurHooks(readSettingsFile(path) ?? {}).map(
    ({ path: [, event, group, , hook] }) => `${path}:${snakeOf(event)}:${group}:${hook}`,
  )
}

export const pluginHookKeys = (plugin: string, events: readonly string[]): string[] =>
  events.map((event) => `${plugin}:hooks/hooks.json:${snakeOf(event)}:0:0`)

/**
 * Those of our hooks that Codex skips: the person has not trusted them, or has turned them off. Its settings hold
 * the digests of what was trusted. Whether a digest is that of the hook as it is now only Codex can tell, and it is
 * not started for that: it would leave dozens of files in its home. That a hook has run is the proof.
 */
export function skippedHooks(config: Json | undefined, keys: readonly string[]): string[] {
  const hooks = config?.['hooks']
  const known = isObject(hooks) && isObject(hooks['state']) ? hooks['state'] : {}
  return keys.filter((key) => {
    const hook = known[key]
    return !(isObject(hook) && typeof hook['trusted_hash'] === 'string' && hook['enabled'] !== false)
  })
}
