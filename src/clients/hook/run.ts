import { fstatSync, readSync, writeSync } from 'node:fs'
import { MailboxError } from '../../base/errors.ts'
import { identifyByProc } from '../../base/process.ts'
import type { Client } from '../../model/client.ts'
import { openSpace } from '../../space/space.ts'
import { claude } from '../claude/dialect.ts'
import { codex } from '../codex/dialect.ts'
import { gemini } from '../gemini/dialect.ts'
import { opencode } from '../opencode/dialect.ts'
import type { Call, Dialect, Input } from './dialect.ts'
import { recollect } from './hook-state.ts'
import { noteFiring } from './last-run.ts'
import { log } from './log.ts'
import { clientAbove } from './process.ts'
import { answer, type Desk } from './respond.ts'

const dialects: Record<Client, Dialect> = { claude, codex, gemini, opencode }

export interface HookOptions {
  client: string
  /** As the client calls it. */
  event: string
  /** The space's directory; it exists. */
  space: string
  /** The client's process, or one below it. */
  pid: number
  /** The words after Node's that start us for another event of the same client. */
  again: (event: string) => readonly string[]
}

/** A client waits for its hooks. Claude Code gives the end of a session 1.5 s. */
const limitMs = 10_000
const endLimitMs = 1_300

/**
 * Answers one event of a client. Never throws and never takes long: whatever goes wrong stands in the space's
 * `hooks.log`, and the client goes on as if it had no mailbox. Resolves with the exit code.
 */
export async function runHook(options: HookOptions): Promise<number> {
  const { client, event, space: dir } = options
  try {
    const dialect = dialects[client as Client] as Dialect | undefined
    if (dialect !== undefined) noteFiring(dir, dialect.client, event)
    const call = dialect?.understand(event, readInput())
    return dialect === undefined || call === undefined ? 0 : await serve(options, dialect, call)
  } catch (error) {
    log(dir, `${client} ${event}`, error)
    return 0
  }
}

async function serve({ client, event, space: dir, pid, again }: HookOptions, dialect: Dialect, call: Call) {
  const limit = call.moment === 'wait' ? undefined : limitOf(dir, `${client} ${event}`, call)
  const own = identifyByProc(dialect.tellsPid ? pid : clientAbove(pid))
  await using space = await openSpace({ dir })
  const name = process.env['MAILBOX_AGENT'] || undefined
  const session = { pid: own.pid, ...(call.sessionId === undefined ? {} : { id: call.sessionId }) }
  // Whoever waits in the background may begin to when the session has just ended: it must not bring it back.
  const joins = call.moment !== 'wait'
  const mailbox = await space.seat({ name, client, session, joins }).catch((error: unknown) => {
    if (joins || !(error instanceof MailboxError)) throw error
  })
  if (mailbox === undefined) return 0
  const desk = { space, mailbox, client, process: own }
  if (call.moment === 'wait') return await wait(desk, dialect, call)
  const { works } = recollect(dir, mailbox.name)
  let isSaid = false
  await answer(desk, call, (said) => {
    isSaid = true
    print(dialect.say(event, said))
  })
  if (!isSaid) print(dialect.silence ?? '')
  const isIdle = ['start', 'stop'].includes(call.moment) && recollect(dir, mailbox.name).works === works
  // Where a client cannot wait for us in the background, we do it by ourselves.
  if (isIdle && typeof dialect.wakes === 'function') await startWaiting(again, call)
  clearTimeout(limit)
  return 0
}

/** Giving up is safe at any point: what is marked and not printed comes again (handing.ts). */
function limitOf(dir: string, words: string, { moment }: Call): NodeJS.Timeout {
  const giveUp = () => {
    log(dir, words, 'took too long; nothing was said')
    process.exit(0)
  }
  return setTimeout(giveUp, moment === 'end' ? endLimitMs : limitMs)
}

async function wait(desk: Desk, { wakes, say }: Dialect, { sessionId = '' }: Call): Promise<number> {
  const { waitForMail } = await import('./wait.ts')
  if (wakes === 'by-exit') {
    const isDelivered = await waitForMail(desk, { as: 'shown', deliver: (text) => print(text, 2) })
    return isDelivered ? 2 : 0
  }
  const deliver =
    typeof wakes === 'function'
      ? (text: string) => wakes(sessionId, text, desk.process.pid)
      : (prompt: string) => print(say('', { prompt }))
  await waitForMail(desk, { as: 'notified', deliver })
  return 0
}

async function startWaiting(again: HookOptions['again'], { sessionId }: Call): Promise<void> {
  const { spawn } = await import('node:child_process')
  const child = spawn(process.execPath, again('Rewake'), {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  await new Promise((resolve) =>
    child.stdin.end(JSON.stringify({ session_id: sessionId }), () => resolve(undefined)),
  )
  child.unref()
}

/** What the client says, unless `hook.sh` has read it already. A terminal would have us wait for a hand. */
function readInput(): Input {
  const text = process.env['MAILBOX_HOOK_INPUT'] ?? (fstatSync(0).isCharacterDevice() ? '' : readAll())
  const found: unknown = JSON.parse(text.trim() || '{}')
  return found !== null && typeof found === 'object' ? (found as Input) : {}
}

function readAll(): string {
  const chunks: Buffer[] = []
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536)
    const count = retrying(() => readSync(0, chunk))
    if (count === 0) break
    chunks.push(chunk.subarray(0, count))
  }
  return Buffer.concat(chunks).toString('utf8')
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
