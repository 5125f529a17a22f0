import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from './temp.ts'

/** A Node for hooks that notes each of its starts. */
export function countingNode(): { env: Record<string, string>; starts: () => number } {
  const dir = tempDir()
  const program = join(dir, 'node')
  writeFileSync(program, `#!/bin/sh\necho started >>'${dir}/starts'\nexec '${process.execPath}' "$@"\n`)
  chmodSync(program, 0o755)
  const starts = () => {
    try {
      return readFileSync(join(dir, 'starts'), 'utf8').split('\n').length - 1
    } catch {
      return 0
    }
  }
  return { env: { MAILBOX_NODE: program }, starts }
}
