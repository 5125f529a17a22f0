import { connect } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readJsonIfAny } from '../../base/files.ts'
import type { Mailbox } from '../../space/mailbox/api.ts'
import { Arrivals, newMailNotice } from '../hook/arrivals.ts'

/** A client that only lists our tools is gone by then, and no agent has joined for it. */
const settleMs = 1_500
/** Mail is left to the hooks of a running turn for this long, and we check this often whether the turn is over. */
const lookMs = 1_000
/** A socket that has refused this often in a row is not coming back. */
const maxFailures = 10

export interface WakeOptions {
  /** Joins the agent that the MCP server speaks for, and returns its mailbox. */
  mailbox: () => Promise<Mailbox>
  pid: number
  signal: AbortSignal
}

/**
 * Wakes an idle Claude Code from its MCP server: Claude Code has a socket of its own, at which it takes messages from
 * its child processes into its turn without asking anybody. A running turn gets its mail from the hooks. Resolves
 * when the signal aborts, or at once in any other client.
 */
export async function wakeClaude({ mailbox: openMailbox, pid, signal }: WakeOptions): Promise<void> {
  const { CLAUDE_CODE_MESSAGING_SOCKET: path, CLAUDE_CODE_MESSAGING_TOKEN: token } = process.env
  if (!path) return
  try {
    await sleep(settleMs, undefined, { signal })
    const mailbox = await openMailbox()
    const arrivals = new Arrivals(mailbox, signal)
    const say = (notice: string) => post(path, token, notice)
    await Promise.race([arrivals.ended, announceWhileIdle(arrivals, say, { mailbox, pid, signal })])
  } catch (error) {
    // Without waking, the mail is shown at the next turn. Only unexpected problems are reported.
    if (!signal.aborted) process.stderr.write(`mailbox: cannot wake this client: ${String(error)}\n`)
  }
}

async function announceWhileIdle(
  arrivals: Arrivals,
  say: (notice: string) => Promise<void>,
  { mailbox, pid, signal }: Omit<WakeOptions, 'mailbox'> & { mailbox: Mailbox },
): Promise<void> {
  for (let failures = 0; ; ) {
    await sleep(lookMs, undefined, { signal })
    if (!isIdle(pid)) continue
    const unseen = await arrivals.take()
    if (unseen.length === 0) continue
    try {
      await say(newMailNotice(unseen))
    } catch (error) {
      if (++failures === maxFailures) throw error
      arrivals.putBack(unseen)
      continue
    }
    failures = 0
    await mailbox.notified(unseen.map(({ id }) => id))
  }
}

/** Claude Code keeps its status beside its settings. Without one we assume that it is busy. */
function isIdle(pid: number): boolean {
  const home = process.env['CLAUDE_CONFIG_DIR'] || join(homedir(), '.claude')
  return readJsonIfAny<{ status?: unknown }>(join(home, 'sessions', `${pid}.json`))?.status === 'idle'
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
