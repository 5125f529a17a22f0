import { type ChildProcess, spawn } from 'node:child_process'

/**
 * A process that stands for a session: the mailbox sees by its pid whether the session is still there. It reads from
 * a pipe that nobody writes to, so it also ends when the test does.
 */
export class Sleeper {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #ended: Promise<void>

  constructor() {
    this.#child = spawn('cat', [], { stdio: ['pipe', 'ignore', 'ignore'] })
    this.#ended = new Promise((resolve) => this.#child.once('close', () => resolve()))
    this.pid = this.#child.pid!
  }

  /** kill -9, and the end of it. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}
