import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const program = fileURLToPath(new URL('./a2a-client.mjs', import.meta.url))

export type Transport = 'rpc' | 'rest' | 'legacy'

// biome-ignore lint/suspicious/noExplicitAny: answers have every shape
type Line = any

/** A client that is running, with the lines that it prints. */
function startClient(base: string, token: string, transport: Transport, verb: string, params: object) {
  const child = spawn(process.execPath, [program, base, transport, verb, JSON.stringify(params)], {
    env: { ...process.env, TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = once(child, 'close')
  return {
    /** The next line; undefined at the end. */
    async next(): Promise<Line> {
      const { value, done } = await lines.next()
      return done ? undefined : JSON.parse(value)
    },
    async rest(): Promise<Line[]> {
      const all: Line[] = []
      for (let line = await this.next(); line !== undefined; line = await this.next()) all.push(line)
      await ended
      return all
    },
  }
}

/** Calls of one client, each in a process of its own. */
export function clientOf(base: string, token: string, transport: Transport = 'rpc') {
  const start = (verb: string, params: object = {}) => startClient(base, token, transport, verb, params)
  return {
    start,
    async call(verb: string, params: object = {}): Promise<Line> {
      return (await start(verb, params).rest())[0]
    },
  }
}
