import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFileIfAny, writeFileAtomically } from '../base/files.ts'
import { backoffMs } from '../base/timers.ts'
import type { Message } from '../model/message.ts'
import { withoutControls } from '../model/text.ts'
import type { InboxMessage } from '../query/inbox.ts'
import { Courier, idle, type Turn, underway, type WatcherContext, waiting } from './courier.ts'
import { psOf } from './foreground.ts'
import { type Attempt, newToken, type Registration } from './store.ts'

const firstPauseMs = 1_000
const longestPauseMs = 60_000
const timeoutMs = 120_000

/**
 * Runs the command once for a token, whoever starts it, and leaves its exit code in a file. `set -C` refuses to
 * overwrite a file, so of two starts only one continues. Nothing here contains text from the message.
 */
const runner = `set -C; { echo $$ >"$2"; } 2>/dev/null || exit 75; set +C
sh -c "$1"; code=$?; echo $code >"$3.tmp" && mv "$3.tmp" "$3"`

/**
 * Passes one agent's mail to a command, one message at a time: JSON on standard input, some fields in the
 * environment. Exit code 0 means shown. Its input comes from a file and its exit code goes to a file, so killing the
 * watcher changes nothing: the next one reads how the command ended.
 */
export class ExecCourier extends Courier {
  readonly #command: string

  constructor(context: WatcherContext, registration: Registration, command: string) {
    super(context, registration)
    this.#command = command
  }

  async turn(unread: readonly InboxMessage[]): Promise<Turn> {
    const { store, space } = this.context
    const attempt = store.attempt(this.agent)
    if (attempt === undefined) {
      const [next] = unread
      if (next === undefined) return idle
      const isRole = next.role !== undefined
      return this.#start({ token: newToken(), ids: [next.id], isRole, at: space.now(), tries: 0 })
    }
    const result = this.#read(attempt, 'result')
    if (result !== undefined) return this.#ended(attempt, Number(result))
    const started = this.#read(attempt, 'started')
    if (started !== undefined) return this.#running(attempt, Number(started))
    if ((attempt.notBefore ?? 0) > space.now())
      return waiting(`the command has failed ${attempt.tries} times; retrying soon`)
    if (!attempt.isRole && !unread.some(({ id }) => id === attempt.ids[0]))
      return this.skip(attempt, 'it was read in the meantime')
    // Recorded and apparently not started. With the same token it is started at most once.
    return this.#start({ ...attempt, at: space.now() })
  }

  #file(attempt: Attempt, what: 'started' | 'result' | 'text'): string {
    return this.context.store.file(this.agent, `${attempt.token}.${what}`)
  }

  #read(attempt: Attempt, what: 'started' | 'result'): string | undefined {
    return readFileIfAny(this.#file(attempt, what))?.trim() || undefined
  }

  async #start(attempt: Attempt): Promise<Turn> {
    const { message } = await (await this.mailbox()).show(attempt.ids[0]!)
    writeFileAtomically(this.#file(attempt, 'text'), JSON.stringify({ message }))
    if (!(await this.intend(attempt))) return waiting('another agent has taken it')
    this.#spawn(attempt, message)
    return waiting('running the command')
  }

  #spawn(attempt: Attempt, message: Message): void {
    const input = openSync(this.#file(attempt, 'text'), 'r')
    const fields = {
      MAILBOX_SPACE: this.context.space.place,
      MAILBOX_AGENT: this.agent,
      MAILBOX_ID: message.id,
      MAILBOX_FROM: message.from,
      MAILBOX_TYPE: message.type,
      MAILBOX_PRIORITY: message.priority,
      MAILBOX_SUBJECT: message.subject,
      MAILBOX_THREAD: message.threadId,
      MAILBOX_ATTEMPT: String((attempt.tries ?? 0) + 1),
    }
    const env = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, withoutControls(value)]),
    )
    // In its own process group: it can be killed as a whole, and does not end with us.
    const files = [this.#file(attempt, 'started'), this.#file(attempt, 'result')]
    const child = spawn('sh', ['-c', runner, 'sh', this.#command, ...files], {
      ...{ stdio: [input, 'ignore', 'ignore'], detached: true, env: { ...process.env, ...env } },
    })
    closeSync(input)
    // If it was not started, the next turn finds no result and tries again.
    child.once('error', () => {})
    child.unref()
  }

  async #running(attempt: Attempt, pid: number): Promise<Turn> {
    const isOver = this.context.space.now() - attempt.at > timeoutMs
    const isThere = await isRunner(pid, this.#file(attempt, 'started'))
    if (isThere && !isOver) return waiting('running the command')
    if (isThere) process.kill(-pid, 'SIGKILL')
    // It may have written its result between our two checks.
    const result = this.#read(attempt, 'result')
    return this.#ended(attempt, result === undefined ? (isThere ? 'timeout' : 'killed') : Number(result))
  }

  async #ended(attempt: Attempt, how: number | 'timeout' | 'killed'): Promise<Turn> {
    if (how === 0) return this.shown(attempt, 'a command')
    const { agent } = this
    const { store, space, tell } = this.context
    const said = how === 'timeout' ? 'took too long' : how === 'killed' ? 'was killed' : `exited with ${how}`
    const tries = (attempt.tries ?? 0) + 1
    if (tries >= space.settings.maxAttempts) {
      await this.fail(attempt, `The command for ${agent} ${said}, after ${tries} attempts.`)
      return underway('failed')
    }
    const pauseMs = backoffMs(tries - 1, firstPauseMs, longestPauseMs)
    const note = `the command ${said}; retrying in ${pauseMs / 1_000} s`
    tell({ event: 'ran', agent, ids: attempt.ids, note })
    store.intend(agent, { ...attempt, token: newToken(), tries, notBefore: space.now() + pauseMs })
    return waiting(`the command ${said}; retrying`)
  }
}

/** Whether the process is the one that wrote its pid there: pids are reused. */
const isRunner = (pid: number, started: string): Promise<boolean> =>
  psOf(pid, 'args=').then(
    (args) => args.includes(started),
    () => false,
  )
