import { readSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { Client } from '../model/client.ts'
import { openSpace } from '../space.ts'
import { answer } from './answer.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import type { Dialect, Input } from './dialect.ts'
import { gemini } from './gemini.ts'
import { log } from './log.ts'
import { opencode } from './opencode.ts'
import { clientAbove, processOf } from './process.ts'

export const dialects: Record<Client, Dialect> = { claude, codex, gemini, opencode }

export interface HookOptions {
  client: string
  /** As the client calls it. */
  event: string
  /** The space's directory; it exists. */
  space: string
  /** The client's process, or one below it. */
  pid: number
}

/** A client waits for its hooks. Claude Code gives the end of a session 1.5 s. */
const limitMs = 10_000
const endLimitMs = 1_300

/**
 * Answers one event of a client. Never throws and never takes long: whatever goes wrong stands in the space's
 * `hooks.log`, and the client goes on as if it had no mailbox. Resolves with the exit code.
 */
export async function runHook({ client, event, space: dir, pid }: HookOptions): Promise<number> {
  const words = `${client} ${event}`
  try {
    const dialect = dialects[client as Client] as Dialect | undefined
    const call = dialect?.understand(event, readInput())
    if (dialect === undefined || call === undefined) return 0
    if (call.moment === 'wait') return 0
    // Giving up is safe at any point: what is marked and not printed comes again (handing.ts).
    const timer = setTimeout(
      () => {
        log(dir, words, 'took too long; nothing was said')
        process.exit(0)
      },
      call.moment === 'end' ? endLimitMs : limitMs,
    )
    const own = processOf(client === 'claude' || client === 'opencode' ? pid : clientAbove(pid))
    await using space = await openSpace({ dir })
    const name = process.env['MAILBOX_AGENT'] || undefined
    const session = { pid: own.pid, ...(call.sessionId === undefined ? {} : { id: call.sessionId }) }
    const mailbox = await space.seat({ name, client, session })
    await answer({ space, mailbox, client, process: own }, call, (said) => print(dialect.say(event, said)))
    clearTimeout(timer)
  } catch (error) {
    log(dir, words, error)
  }
  return 0
}

/** What the client says. A hand at a terminal says nothing. */
function readInput(): Input {
  if (isatty(0)) return {}
  const chunks: Buffer[] = []
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536)
    const count = retrying(() => readSync(0, chunk))
    if (count === 0) break
    chunks.push(chunk.subarray(0, count))
  }
  const found: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8').trim() || '{}')
  return found !== null && typeof found === 'object' ? (found as Input) : {}
}

/** All of it, before we end: a stream would hand it to the event loop. */
function print(text: string, fd = 1): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += retrying(() => writeSync(fd, bytes, at))
}

const pause = new Int32Array(new SharedArrayBuffer(4))

/** Pipes of some clients do not block; then we do. */
function retrying(act: () => number): number {
  for (;;) {
    try {
      return act()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(pause, 0, 0, 1)
    }
  }
}
