// An OpenCode plugin: brings an agent's mail into its sessions, and wakes an idle one when mail comes.
//
// OpenCode loads it into its own process (Bun). Everything about mail is decided elsewhere: this asks
// `mailbox hook opencode EVENT` and puts the answer where OpenCode takes it. Whatever goes wrong there, the
// session goes on without its mail.
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cli = join(dirname(fileURLToPath(import.meta.url)), 'cli.cjs')
const node = process.env.MAILBOX_NODE || 'node'
/** Some things become due without anybody writing: now and then one looks all the same. */
const lookAgainMs = 60_000

export const MailboxPlugin = async ({ client, directory }) => {
  /** Sessions that have been told who they are. */
  const begun = new Set()
  /** Sessions of subagents: they have no mail of their own. */
  const children = new Set()
  /** Sessions that we have just prompted ourselves. */
  const invited = new Set()
  /** How the journal ended when there was nothing to say, by session. */
  const quiet = new Map()

  const options = { cwd: directory, stdio: ['pipe', 'pipe', 'ignore'] }
  const wordsFor = (event) => [cli, 'hook', 'opencode', event, '--pid', String(process.pid)]

  /** What the mailbox says; `isLost` when it could not say anything. */
  const ask = (event, id) =>
    new Promise((resolve) => {
      const child = spawn(node, wordsFor(event), options)
      let said = ''
      child.stdout.on('data', (data) => {
        said += data
      })
      child.on('error', () => resolve({ isLost: true }))
      child.on('close', () => resolve(parse(said)))
      child.stdin.on('error', () => {})
      child.stdin.end(JSON.stringify({ session_id: id }))
    })

  const invite = async (id, text) => {
    invited.add(id)
    const parts = [{ type: 'text', text, synthetic: true }]
    await client.session.promptAsync({ path: { id }, body: { parts } }).catch(() => invited.delete(id))
  }

  const stopped = async (id) => {
    const { prompt } = await ask('session.idle', id)
    if (prompt) return invite(id, prompt)
    // From now on one process waits for its mail; it ends by itself when the session gets to work.
    const { prompt: later } = await ask('session.wait', id)
    if (later) await invite(id, later)
  }

  // Its mail waits for a session that may come back. There is no event for this.
  process.once('exit', () => {
    for (const id of begun)
      spawnSync(node, wordsFor('session.deleted'), {
        ...options,
        input: JSON.stringify({ session_id: id }),
        timeout: 3_000,
      })
  })

  return {
    event: async ({ event }) => {
      const { info, sessionID: id } = event.properties ?? {}
      if (event.type === 'session.created' && info?.parentID) children.add(info.id)
      if (event.type === 'session.idle' && begun.has(id)) void stopped(id)
      if (event.type === 'session.deleted' && begun.delete(info?.id)) await ask('session.deleted', info.id)
    },

    'chat.message': async ({ sessionID: id }, { message, parts }) => {
      if (children.has(id)) return
      const event = !begun.has(id) ? 'session.created' : invited.has(id) ? 'chat.invited' : 'chat.message'
      begun.add(id)
      invited.delete(id)
      const { context } = await ask(event, id)
      if (context) parts.push({ ...partOf(id, message.id), type: 'text', text: context, synthetic: true })
    },

    'tool.execute.after': async ({ sessionID: id }, output) => {
      if (!begun.has(id)) return
      const end = endOfJournal(directory)
      const known = quiet.get(id)
      if (end !== undefined && known?.end === end && Date.now() - known.at < lookAgainMs) return
      const { context, isLost } = await ask('tool.execute.after', id)
      if (context === undefined) {
        if (!isLost) quiet.set(id, { end, at: Date.now() })
      } else if (typeof output.output === 'string') output.output += `\n\n${context}`
      else if (Array.isArray(output.content)) output.content.push({ type: 'text', text: context })
    },

    'experimental.session.compacting': async ({ sessionID: id }, output) => {
      if (!begun.has(id)) return
      const { context } = await ask('session.compacting', id)
      if (context) output.context.push(context)
    },
  }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return { isLost: true }
  }
}

let count = 0

/** Parts are sorted by their ids: ours comes last. */
const partOf = (sessionID, messageID) => ({
  ...{
    id: `prt_zz${Date.now().toString(36)}${(++count).toString(36).padStart(4, '0')}`,
    sessionID,
    messageID,
  },
})

/**
 * The last segment of the journal and its length. Read before the mailbox is asked, and every append makes it
 * longer: as long as it stays the same there is nothing new. No clock is involved.
 */
function endOfJournal(directory) {
  try {
    const journal = join(spaceOf(directory), 'journal')
    const last = readdirSync(journal)
      .filter((file) => file.endsWith('.jsonl'))
      .sort()
      .at(-1)
    return `${last} ${statSync(join(journal, last)).size}`
  } catch {
    return undefined
  }
}

/** As the command line finds it. */
function spaceOf(directory) {
  if (process.env.MAILBOX_SPACE) return process.env.MAILBOX_SPACE
  for (let at = directory; ; at = dirname(at)) {
    if (isThere(join(at, '.mailbox'))) return join(at, '.mailbox')
    if (at === dirname(at)) return join(process.env.HOME ?? '', '.mailbox')
  }
}

function isThere(path) {
  try {
    return Boolean(statSync(path))
  } catch {
    return false
  }
}
