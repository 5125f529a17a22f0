import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { until } from './wait.ts'

/**
 * Removes a directory of a test. A process that the test's own processes left behind (a hook that waits for mail,
 * a server of a client) may still write into it: then it is killed first. `maxRetries` of Node is of no use here,
 * because it does not list the directory again.
 */
export async function removeTree(dir: string): Promise<void> {
  await until(`${dir} can be removed`, () => {
    try {
      rmSync(dir, { recursive: true, force: true })
      return true
    } catch (error) {
      if (!['ENOTEMPTY', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
      killResidents(dir)
      return false
    }
  })
}

/** Kills every process that works in the directory, or whose environment names it. */
function killResidents(dir: string): void {
  if (!existsSync('/proc')) return
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const pid = Number(name)
    if (pid === process.pid || !livesIn(pid, dir)) continue
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has just ended.
    }
  }
}

function livesIn(pid: number, dir: string): boolean {
  try {
    if (readlinkSync(`/proc/${pid}/cwd`).startsWith(dir)) return true
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(dir)
  } catch {
    return false
  }
}
