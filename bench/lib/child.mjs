/** Child processes that answer questions: every contestant works in a process of its own. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isEnding, onCleanup } from './scratch.mjs'

let children = 0

function profiling(label) {
  const dir = process.env['BENCH_PROFILE']
  if (dir === undefined) return []
  const name = `${String(++children).padStart(3, '0')}-${label.replaceAll(/[^a-z0-9]+/gi, '-')}.cpuprofile`
  return ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-name=${name}`]
}

export class Child {
  #process
  #waiting = new Map()
  #number = 0
  #exited = false
  #errors = ''

  /**
   * @param {string} script Name of a file in lib/ that calls {@link serve}.
   * @param {string} [label] What it is for, in the name of its profile.
   */
  constructor(script, label = script) {
    this.#process = fork(fileURLToPath(new URL(script, import.meta.url)), [], {
      execArgv: profiling(label),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.#process.stderr.on('data', (chunk) => {
      this.#errors = (this.#errors + chunk).slice(-2_000)
    })
    this.#process.on('message', ({ number, value, error, note }) => {
      const waiting = this.#waiting.get(number)
      if (note !== undefined) return waiting?.onNote?.(note)
      this.#waiting.delete(number)
      if (error === undefined) waiting?.resolve(value)
      else waiting?.reject(new Error(error))
    })
    this.#process.on('exit', (code, signal) => {
      this.#exited = true
      if (isEnding()) return
      const error = new Error(
        `a child (${script}) ended early (${signal ?? code}): ${this.#errors.trim().split('\n').at(-1)}`,
      )
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    })
    onCleanup(() => this.stop())
  }

  get pid() {
    return this.#process.pid
  }

  /** Asks the child to do something; `onNote` hears what it says meanwhile. */
  ask(verb, input = {}, onNote = undefined) {
    if (isEnding()) return new Promise(() => {})
    if (this.#exited) return Promise.reject(new Error('the child has ended'))
    return new Promise((resolve, reject) => {
      const number = ++this.#number
      this.#waiting.set(number, { resolve, reject, onNote })
      this.#process.send({ number, verb, input })
    })
  }

  async stop() {
    if (this.#exited) return
    const gone = new Promise((resolve) => this.#process.once('exit', resolve))
    if (this.#process.connected) this.#process.disconnect()
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), 5_000)
    await gone
    clearTimeout(timer)
  }
}

/** The child's half: answers every question with what the verb returns. */
export function serve(verbs) {
  process.on('message', async ({ number, verb, input }) => {
    try {
      const value = await verbs[verb](input, (note) => process.send({ number, note }))
      process.send({ number, value })
    } catch (error) {
      process.send({ number, error: error?.message || String(error) })
    }
  })
  // The run's end, expected or not, is the child's end.
  process.on('disconnect', () => process.exit(0))
  // Ctrl-C reaches the whole group; the parent decides when we go.
  process.on('SIGINT', () => {})
}
