import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Client, firingMark } from '../../model/client.ts'

/** Leaves a mark that a hook of this client has run, for `doctor`: a client that skips its hooks does so silently. */
export function noteFiring(space: string, client: Client, event: string): void {
  const path = firingMark(space, client)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, `${event}\n`, { mode: 0o600 })
  } catch {
    // It is for looking at only.
  }
}
