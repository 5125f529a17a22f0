import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const tries = 20

/**
 * Removes a directory of a test. A process that the test's own processes left behind (a hook that waits for mail,
 * a server of a client) may still write into it: then it is killed first. `maxRetries` of Node is of no use here,
 * because it does not list the directory again.
 */
export async function removeTree(dir: string): Promise<void> {
  for (let n = 1; ; n++) {
    try {
      rmSync(dir, { recursive: true, force: true })
      return
    } catch (error) {
      if (n === tries) throw error
      killResidents(dir)
      await sleep(20 * n)
    }
  }
}

/** Kills every process that works in the directory, or has been told of it by its environment. */
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
