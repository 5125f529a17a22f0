import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Client } from '../../model/client.ts'

const pathOf = (space: string, client: Client): string => join(space, 'hooks', `${client}.last`)

/** Records for `doctor` that a hook of this client has run: a client that skips its hooks does so silently. */
export function recordRun(space: string, client: Client, event: string): void {
  const path = pathOf(space, client)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, `${event}\n`, { mode: 0o600 })
  } catch {
    // The hook matters more than the record.
  }
}

/** When a hook of this client last ran in a space, in ms; undefined when none has. */
export const lastRunOf = (space: string, client: Client): number | undefined =>
  statSync(pathOf(space, client), { throwIfNoEntry: false })?.mtimeMs
