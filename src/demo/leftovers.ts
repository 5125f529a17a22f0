import { mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identifyProcess, type ProcessIdentity, processState } from '../base/process.ts'

const prefix = 'mailbox-demo-'
/** Whose demo it is. One that is kept has none. */
const ownerFile = 'demo-owner.json'
/** A demo that has made its directory says so at once. */
const unnamedAtMostMs = 60_000

/** A new directory for a demo, which the next demo removes if this process is killed. */
export function makeDemoDir({ keep }: { keep: boolean }): string {
  removeLeftovers()
  const dir = mkdtempSync(join(tmpdir(), prefix))
  if (!keep)
    writeFileSync(join(dir, ownerFile), JSON.stringify(identifyProcess(process.pid)), { mode: 0o600 })
  return dir
}

/** Removes what demos left behind that were killed. */
function removeLeftovers(): void {
  for (const { name } of readdirSync(tmpdir(), { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name.startsWith(prefix),
  )) {
    const dir = join(tmpdir(), name)
    try {
      const { uid, mtimeMs } = statSync(dir)
      if (uid !== process.getuid?.()) continue
      const owner = ownerOf(dir)
      if (owner !== undefined && processState(owner) === 'gone')
        rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
      // Only an empty one goes: it was killed before it could say whose it is.
      else if (owner === undefined && Date.now() - mtimeMs > unnamedAtMostMs) rmdirSync(dir)
    } catch {
      // Not ours to remove, or another demo is faster.
    }
  }
}

function ownerOf(dir: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(join(dir, ownerFile), 'utf8')) as ProcessIdentity
  } catch {
    return undefined
  }
}
