import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A space for a run that changes nothing, where there is none yet. */
export function drySpace(): { dir: string; remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'mailbox-bridge-'))
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

/** A copy of what a bridge knows, for a run that changes nothing. */
export function dryMemory(file: string): { path: string; remove: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'mailbox-bridge-'))
  const path = join(dir, 'memory.db')
  for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, path + end)
  return { path, remove: () => rmSync(dir, { recursive: true, force: true }) }
}
