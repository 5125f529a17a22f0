import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toPrintableLine } from '../model/text.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import type { Identity } from './identity.ts'

/** A client that only asks what we offer is gone again by then, and no agent has joined for it. */
const settleMs = 1_500
/** Mail is left to the hooks of a running turn for this long; and so often we look whether the turn is over. */
const lookMs = 1_000
/** A socket that refuses so often in a row is not coming back. */
const triesAtMost = 10

/**
 * Wakes an idle Claude Code: it takes a message into its turn at a socket of its own, and from its own child,
 * which we are, without asking anybody. Only while it is idle: a running turn gets its mail from the hooks.
 * Resolves when the signal says so, or at once in any other client.
 */
export async function ringClaude(identity: Identity, pid: number, signal: AbortSignal): Promise<void> {
  const { CLAUDE_CODE_MESSAGING_SOCKET: path, CLAUDE_CODE_MESSAGING_TOKEN: token } = process.env
  if (!path) return
  try {
    await sleep(settleMs, undefined, { signal })
    const mailbox = await identity.mailbox({ name: 'claude' })
    const waiting = new Set<string>()
    const collecting = (async () => {
      for await (const message of mailbox.watch({ minPriority: 'normal', signal })) waiting.add(message.id)
    })()
    await Promise.race([collecting, ringWhileIdle({ mailbox, waiting, pid, path, token, signal })])
  } catch (error) {
    // Waking is a courtesy: without it the mail is shown at the next turn. Only what is unexpected is told.
    if (!signal.aborted) process.stderr.write(`mailbox: cannot wake this client: ${String(error)}\n`)
  }
}

interface Bell {
  mailbox: Mailbox
  waiting: Set<string>
  pid: number
  path: string
  token: string | undefined
  signal: AbortSignal
}

async function ringWhileIdle({ mailbox, waiting, pid, path, token, signal }: Bell): Promise<void> {
  for (let failures = 0; ; ) {
    await sleep(lookMs, undefined, { signal })
    if (waiting.size === 0 || !isIdle(pid)) continue
    const { messages } = await mailbox.inbox({ unread: true, limit: 200 })
    // Somebody else may have taken it, or a hook may have shown it, since it came.
    const unread = messages.filter(({ id, state }) => waiting.has(id) && state === 'stored')
    waiting.clear()
    if (unread.length === 0) continue
    const ids = unread.map(({ id }) => id)
    try {
      await post(path, token, invitation(unread))
    } catch (error) {
      if (++failures === triesAtMost) throw error
      for (const id of ids) waiting.add(id)
      continue
    }
    failures = 0
    await mailbox.notified(ids)
  }
}

/** What Claude Code says of itself beside its settings; one that says nothing is taken for busy. */
function isIdle(pid: number): boolean {
  const home = process.env['CLAUDE_CONFIG_DIR'] || join(homedir(), '.claude')
  try {
    return JSON.parse(readFileSync(join(home, 'sessions', `${pid}.json`), 'utf8')).status === 'idle'
  } catch {
    return false
  }
}

/**
 * Our words only: what the mail says comes fenced, when it is read. The id is there because Claude Code drops
 * what it has been told before in the same words, and nobody would wake.
 */
function invitation(messages: readonly InboxMessage[]): string {
  const [first] = messages as [InboxMessage]
  const count = messages.length === 1 ? 'a new message' : `${messages.length} new messages`
  const from = toPrintableLine(JSON.stringify(first.from))
  return `The mailbox has ${count} for you, the first from ${from} (${first.priority}, ${first.id}). Read your mail with the mailbox's check tool and deal with it.`
}

/** The socket answers nothing; that it takes the lines is all there is to see. */
function post(path: string, token: string | undefined, content: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      const lines = [
        ...(token === undefined ? [] : [{ type: 'auth', token }]),
        { type: 'user', message: { role: 'user', content } },
      ]
      socket.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    })
    socket.once('error', reject)
    socket.once('close', (failed) => failed || resolve())
    socket.resume()
  })
}
