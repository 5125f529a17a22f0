import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * A separate process for one of the agents, so that it can really die: the others notice by its pid, as with
 * a client that crashed. All other agents live in this process.
 */
export class KillableProcess {
  readonly name: string
  #child: ChildProcess | undefined

  constructor(name: string) {
    this.name = name
  }

  /** The pid of an agent: that of the separate process for the one that can die. */
  async pidFor(name: string): Promise<number> {
    if (name !== this.name) return process.pid
    if (this.#child === undefined) {
      // It exits when this process ends, however that happens, because its standard input closes.
      this.#child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
        stdio: ['pipe', 'ignore', 'ignore'],
      })
      await once(this.#child, 'spawn')
    }
    return this.#child.pid ?? process.pid
  }

  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
}
