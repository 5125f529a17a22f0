import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * A separate process for one of the agents, so that it can really die: the others notice by its pid, as with
 * a client that crashed. All other agents live in this process.
 */
export class KillableProcess {
  #child: ChildProcess | undefined

  /** Its pid; starts it if it is not running. */
  async pid(): Promise<number> {
    if (this.#child === undefined) {
      // It exits when this process ends, however that happens, because its standard input closes.
      this.#child = spawn(process.execPath, ['-e', 'process.stdin.resume()'])
      await once(this.#child, 'spawn')
    }
    return this.#child.pid!
  }

  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child?.kill('SIGKILL')) await once(child, 'exit')
  }
}
