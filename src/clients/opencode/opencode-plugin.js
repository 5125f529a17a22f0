// An OpenCode plugin: shows an agent its mail in its sessions, and wakes an idle session when mail comes.
//
// OpenCode loads it into its own process (Bun). Everything about mail is decided elsewhere: this runs
// `mailbox hook opencode EVENT` and passes the reply on to OpenCode. If that fails, the session continues without
// its mail.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cli = join(dirname(fileURLToPath(import.meta.url)), 'cli.cjs')
const node = process.env.MAILBOX_NODE || 'node'
/** Some things become due although nothing is written, so we check now and then all the same. */
const lookAgainMs = 60_000

export const MailboxPlugin = async ({ client, directory }) => {
  /** Sessions that have been introduced to the mailbox. */
  const begun = new Set()
  /** Whether a session is that of a subagent, which gets no mail. */
  const children = new Map()
  /** Sessions that we have just prompted. */
  const prompted = new Set()
  /** Where the journal ended when there was nothing to say, by session. */
  const quiet = new Map()

  const options = { cwd: directory, stdio: ['pipe', 'pipe', 'ignore'] }
  const wordsFor = (event) => [cli, 'hook', 'opencode', event, '--pid', String(process.pid)]

  /** The reply of the mailbox; `isLost` when there was none. */
  const ask = (event, id, more = {}) =>
    new Promise((resolve) => {
      const child = spawn(node, wordsFor(event), options)
      let said = ''
      child.stdout.on('data', (data) => {
        said += data
      })
      child.on('error', () => resolve({ isLost: true }))
      child.on('close', () => resolve(parse(said)))
      child.stdin.on('error', () => {})
      child.stdin.end(JSON.stringify({ session_id: id, ...more }))
    })

  /** We are told of new sessions; one that is resumed may be a subagent's as well. */
  const isChild = async (id) => {
    if (!children.has(id)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      children.set(id, Boolean(found?.data?.parentID))
    }
    return children.get(id)
  }

  const prompt = async (id, text) => {
    prompted.add(id)
    const parts = [{ type: 'text', text, synthetic: true }]
    await client.session.promptAsync({ path: { id }, body: { parts } }).catch(() => prompted.delete(id))
  }

  const stopped = async (id) => {
    const { prompt: now } = await ask('session.idle', id)
    if (now) return prompt(id, now)
    // From now on a process waits for mail. It ends when the session starts to work.
    const { prompt: later } = await ask('session.wait', id)
    if (later) await prompt(id, later)
  }

  /** Tells the MCP server which session calls it. Without, it acts for the one that started last. */
  const noteCaller = (id) => {
    const path = callerFile(directory)
    try {
      if (id === undefined) return rmSync(path, { force: true })
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileSync(path, id, { mode: 0o600 })
    } catch {
      // There is no space yet, or it cannot be written.
    }
  }
  // Another process may have had our number.
  noteCaller(undefined)

  // The session may be resumed, and its mail waits until then. OpenCode has no event for this.
  process.once('exit', () => {
    noteCaller(undefined)
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
      if (event.type === 'session.created') children.set(info.id, Boolean(info.parentID))
      if (event.type === 'session.idle' && begun.has(id)) void stopped(id)
      if (event.type === 'session.deleted' && begun.delete(info?.id)) await ask('session.deleted', info.id)
    },

    'chat.message': async ({ sessionID: id }, { message, parts }) => {
      if (await isChild(id)) return
      const event = !begun.has(id) ? 'session.created' : prompted.has(id) ? 'chat.invited' : 'chat.message'
      begun.add(id)
      prompted.delete(id)
      const { context } = await ask(event, id)
      if (context) parts.push({ ...partOf(id, message.id), type: 'text', text: context, synthetic: true })
    },

    'tool.execute.before': async ({ tool, sessionID: id }) => {
      if (!tool.includes('mailbox')) return
      if (!(await isChild(id))) return noteCaller(id)
      const { refusal } = await ask('tool.execute.before', id, { tool_name: tool })
      if (refusal) throw new Error(refusal)
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

/** Parts are sorted by id; ours comes last. */
const partOf = (sessionID, messageID) => ({
  ...{
    id: `prt_zz${Date.now().toString(36)}${(++count).toString(36).padStart(4, '0')}`,
    sessionID,
    messageID,
  },
})

/**
 * The last segment of the journal and its length, read before the mailbox is asked. Every append makes it longer, so
 * while it stays the same there is nothing new. No clock is involved.
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

const callerFile = (directory) => join(spaceOf(directory), 'hooks', 'callers', `opencode-${process.pid}`)

/** The same rules as the command line (space/trust.ts): what was found is used only if the person has agreed to it. */
function spaceOf(directory) {
  if (process.env.MAILBOX_SPACE) return process.env.MAILBOX_SPACE
  const usual = join(process.env.HOME ?? '', '.mailbox')
  const agreed = agreedSpaces()
  for (let at = realPath(directory) ?? directory; ; at = dirname(at)) {
    const space = join(at, '.mailbox')
    if (agreed.includes(space) && realPath(space) !== undefined) return space
    if (at === dirname(at)) return usual
  }
}

function agreedSpaces() {
  const config = process.env.XDG_CONFIG_HOME || join(process.env.HOME ?? '', '.config')
  try {
    return readFileSync(join(config, 'agent-mailbox', 'spaces'), 'utf8').split('\n')
  } catch {
    return []
  }
}

function realPath(path) {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
