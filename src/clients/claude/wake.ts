import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Mailbox } from '../../space/mailbox/api.ts'
import { Arrivals, newMailNotice } from '../hook/arrivals.ts'
import { setRinger } from '../hook/hook-state.ts'
import { ownToken } from '../hook/process.ts'
import { claudeSession } from './session.ts'

/** Mail is left to the hooks of a running turn for this long, and we check this often whether the turn is over. */
const lookMs = 1_000
/** A socket that has refused this often in a row is not coming back. */
const maxFailures = 10

export interface WakeOptions {
  /** Joins the agent that the MCP server speaks for, and returns its mailbox. It may be another one later. */
  mailbox: () => Promise<Mailbox>
  /** Where the hooks of the client keep what they remember. */
  stateDir: string
  pid: number
  signal: AbortSignal
}

/**
 * Wakes an idle Claude Code from its MCP server: Claude Code has a socket of its own, at which it takes messages from
 * its child processes into its turn without asking anybody. A running turn gets its mail from the hooks. Resolves
 * when the signal aborts, or at once in any other client.
 */
export async function wakeClaude(options: WakeOptions): Promise<void> {
  const { mailbox: openMailbox, stateDir, pid, signal } = options
  const { CLAUDE_CODE_MESSAGING_SOCKET: path, CLAUDE_CODE_MESSAGING_TOKEN: token } = process.env
  if (!path) return
  const say = (notice: string) => post(path, token, notice)
  try {
    let watched: Watched | undefined
    for (let failures = 0; ; ) {
      await sleep(lookMs, undefined, { signal })
      // A client that only lists our tools has no session, and no agent joins for it.
      if (claudeSession(pid)?.isIdle !== true) continue
      const mailbox = await openMailbox()
      if (watched?.mailbox.name !== mailbox.name) {
        watched?.stop()
        watched = watch(mailbox, signal)
        leaveItToUs({ space: { stateDir }, mailbox })
      }
      if (watched.problem !== undefined) throw watched.problem
      failures = (await announce(watched, say)) ? 0 : failures + 1
      if (failures === maxFailures) throw new Error('its socket refuses messages')
    }
  } catch (error) {
    // Without waking, the mail is shown at the next turn. Only unexpected problems are reported.
    if (!signal.aborted) process.stderr.write(`mailbox: cannot wake this client: ${String(error)}\n`)
  }
}

/** A hook that waits in the background leaves the mail to us. If this cannot be written, both announce it. */
function leaveItToUs(owner: Parameters<typeof setRinger>[0]): void {
  try {
    setRinger(owner, ownToken())
  } catch {
    // A full disk is no reason not to wake anybody.
  }
}

interface Watched {
  mailbox: Mailbox
  arrivals: Arrivals
  /** Why the mailbox cannot be watched any longer. */
  problem?: unknown
  stop: () => void
}

function watch(mailbox: Mailbox, signal: AbortSignal): Watched {
  const ending = new AbortController()
  const arrivals = new Arrivals(mailbox, AbortSignal.any([signal, ending.signal]))
  const watched: Watched = { mailbox, arrivals, stop: () => ending.abort() }
  arrivals.ended.catch((problem: unknown) => (watched.problem = problem))
  return watched
}

/** Announces what has arrived. False when the client did not take it; it is tried again. */
async function announce(
  { mailbox, arrivals }: Watched,
  say: (notice: string) => Promise<void>,
): Promise<boolean> {
  const unseen = await arrivals.take()
  if (unseen.length === 0) return true
  try {
    await say(newMailNotice(unseen))
  } catch {
    arrivals.putBack(unseen)
    return false
  }
  await mailbox.notified(unseen.map(({ id }) => id))
  return true
}

/** The socket answers nothing; that it accepts the lines is all we can know. */
function post(path: string, token: string | undefined, content: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      const lines = [
        ...(token === undefined ? [] : [{ type: 'auth', token }]),
        { type: 'user', message: { role: 'user', content } },
      ]
      // Not its close: Claude Code starts the turn before that, and may have read the mail by then.
      socket.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), resolve)
    })
    socket.on('error', reject)
    socket.resume()
  })
}
