import type { Command } from 'commander'

/** Adds arguments, options and an action to a verb's command. */
type Define = (command: Command) => void

interface Row {
  name: string
  summary: string
  load: () => Promise<Define>
  /** Called by programs, so not in the help. @default false */
  hidden?: boolean
  /** Needs the other verbs to be registered as well. @default false */
  needsOtherVerbs?: boolean
}

export interface Verb extends Row {
  /** The heading it stands under in the help. */
  heading: string
}

/** Names a verb's definition without loading its file: only the file of the verb that was called is loaded. */
const from =
  <Name extends string>(file: () => Promise<Record<Name, Define>>, name: Name) =>
  async () =>
    (await file())[name]

const verb = (name: string, summary: string, load: Row['load']): Row => ({ name, summary, load })

const answering = () => import('./verbs/answer.ts')
const archiveOld = () => import('./verbs/archive-old.ts')
const audit = () => import('./verbs/audit.ts')
const bridge = () => import('./verbs/bridge.ts')
const claim = () => import('./verbs/claim.ts')
const complete = () => import('./verbs/complete.ts')
const completion = () => import('./verbs/completion.ts')
const config = () => import('./verbs/config.ts')
const dead = () => import('./verbs/dead.ts')
const digest = () => import('./verbs/digest.ts')
const demo = () => import('./verbs/demo.ts')
const doctor = () => import('./verbs/doctor.ts')
const follow = () => import('./verbs/follow.ts')
const handle = () => import('./verbs/handle.ts')
const hook = () => import('./verbs/hook.ts')
const inbox = () => import('./verbs/inbox.ts')
const init = () => import('./verbs/init.ts')
const key = () => import('./verbs/key.ts')
const log = () => import('./verbs/log.ts')
const login = () => import('./verbs/login.ts')
const look = () => import('./verbs/look.ts')
const maintain = () => import('./verbs/maintain.ts')
const move = () => import('./verbs/move.ts')
const mcp = () => import('./verbs/mcp.ts')
const owed = () => import('./verbs/owed.ts')
const prompt = () => import('./verbs/prompt.ts')
const repair = () => import('./verbs/repair.ts')
const route = () => import('./verbs/route.ts')
const roster = () => import('./verbs/roster.ts')
const send = () => import('./verbs/send.ts')
const serve = () => import('./verbs/serve.ts')
const stats = () => import('./verbs/stats.ts')
const tmux = () => import('./verbs/tmux.ts')
const top = () => import('./verbs/top.ts')
const token = () => import('./verbs/token.ts')
const trust = () => import('./verbs/trust.ts')
const transfer = () => import('./verbs/transfer.ts')
const wait = () => import('./verbs/wait.ts')
const forwarding = () => import('./verbs/forward.ts')
const who = () => import('./verbs/who.ts')
const withdraw = () => import('./verbs/withdraw.ts')

/** Every verb by heading, in the order of the help. */
const byHeading = (conversationVerbs: (group?: 'send') => Row[]): Record<string, readonly Row[]> => ({
  'Set up:': [
    verb('init', 'Set up the agent clients on this machine', from(init, 'init')),
    verb('uninit', 'Undo what init did, byte for byte', from(init, 'uninit')),
    verb('doctor', 'Check the installation and suggest fixes', from(doctor, 'doctor')),
    verb('config', 'Show and change settings', from(config, 'config')),
    verb('trust', 'Agree to use the space of a project', from(trust, 'trust')),
    verb('login', 'Save a token for a hub on another machine', from(login, 'login')),
    verb('logout', 'Forget the tokens for a hub', from(login, 'logout')),
    verb('prompt', 'Print the mailbox section of a system prompt', from(prompt, 'prompt')),
    verb('demo', 'Watch a team of mock agents at work in the console', from(demo, 'demo')),
    verb('completion', 'Print a shell completion script', from(completion, 'completion')),
    {
      ...verb('complete', 'List completions for a partial command line', from(complete, 'complete')),
      hidden: true,
      needsOtherVerbs: true,
    },
  ],
  'Roster:': [
    verb('join', 'Join the roster', from(roster, 'join')),
    verb('leave', 'Leave the roster, for good or for a while', from(roster, 'leave')),
    verb('agents', 'List the agents', from(roster, 'agents')),
    verb('whoami', 'Show who you act as, and where', from(who, 'whoami')),
    verb('update', 'Change roles, tags, state or note', from(roster, 'update')),
  ],
  'Send:': [
    verb('send', 'Send a message', from(send, 'send')),
    verb('reply', 'Reply to a message', from(send, 'reply')),
    verb('answer', 'Answer a message in a word', from(answering, 'answer')),
    verb('forward', 'Forward a message to others', from(forwarding, 'forward')),
    verb('broadcast', 'Send to every agent, or to a swarm', from(send, 'broadcast')),
    ...conversationVerbs('send'),
    verb('route', 'Show and change the rules that choose recipients', from(route, 'route')),
    verb('withdraw', 'Withdraw a message that nobody has read', from(withdraw, 'withdraw')),
    verb('scheduled', 'List what you have written to be sent later', from(look, 'scheduled')),
  ],
  'Read:': [
    verb('check', 'Read new mail, most urgent first, and mark it as read', from(inbox, 'check')),
    verb('inbox', 'List mail without marking it as read', from(inbox, 'inbox')),
    verb('read', 'Read one message in full and mark it as read', from(inbox, 'read')),
    verb('count', 'Count unread mail', from(inbox, 'count')),
    verb('show', 'Show the delivery status of a message', from(look, 'show')),
    verb('thread', 'Show a whole thread', from(look, 'thread')),
    verb('sent', 'List the messages you sent', from(look, 'sent')),
    verb('search', 'Search all messages', from(look, 'search')),
    verb('top', 'Watch the agents and what needs you, on one screen', from(top, 'top')),
    verb('dead', 'List and resend undeliverable mail', from(dead, 'dead')),
    verb('wait', 'Wait for mail, an acknowledgement or an outcome', from(wait, 'wait')),
    verb('watch', 'Print new mail as it arrives, without marking it as read', from(follow, 'watch')),
    verb('digest', 'Show what happened while you were away', from(digest, 'digest')),
    verb('log', 'Show everything that happened in the space', from(log, 'log')),
  ],
  'Handle:': [
    verb('ack', 'Acknowledge a message', from(handle, 'ack')),
    verb('claim', 'Claim a message sent to a role', from(claim, 'claim')),
    verb('start', 'Mark a message as in progress', from(handle, 'start')),
    verb('done', 'Mark a message as done and archive it', from(handle, 'done')),
    verb('fail', 'Mark a message as failed, with a reason', from(handle, 'fail')),
    verb('release', 'Return a message unread', from(handle, 'release')),
    verb('archive', 'Archive a message; nothing is deleted', from(handle, 'archive')),
    verb('retry', 'Mark a failed message as unread again', from(handle, 'retry')),
  ],
  'Conversations:': [
    ...conversationVerbs(),
    verb('owed', 'List open requests: who owes what, and since when', from(owed, 'owed')),
  ],
  'Servers:': [
    verb('serve', 'Serve the console, the HTTP API, streams and MCP', from(serve, 'serve')),
    verb('open', 'Open the console in the browser', from(who, 'openConsole')),
    verb('token', "Create or revoke an agent's HTTP token", from(token, 'token')),
    verb('key', 'Show and change the keys that mail is signed with', from(key, 'key')),
    verb('mcp', 'Serve a mailbox as MCP tools over standard input and output', from(mcp, 'mcp')),
    { ...verb('hook', 'Handle an event from an agent client', from(hook, 'hook')), hidden: true },
    verb('bridge', 'Connect the mailbox of another system, both ways', from(bridge, 'bridge')),
    verb('tmux', 'Type mail into the terminals of agents without hooks', from(tmux, 'tmux')),
  ],
  'Maintenance:': [
    verb('verify', 'Check the integrity of the journal', from(maintain, 'verify')),
    verb('audit', 'Show what was refused, changed, imported and repaired', from(audit, 'audit')),
    verb('repair', 'Repair the journal, from a copy if needed', from(repair, 'repair')),
    verb('rebuild', 'Rebuild the index from the journal', from(maintain, 'rebuild')),
    verb('move', 'Move the space to a PostgreSQL database, or back', from(move, 'move')),
    verb('stats', 'Show mail volumes and response times', from(stats, 'stats')),
    verb(
      'archive-old',
      'Compress old journal files, and optionally remove them',
      from(archiveOld, 'archiveOld'),
    ),
    verb('export', 'Export the space, or its mail as a graph', from(transfer, 'exportMessages')),
    verb('import', 'Import an exported space', from(transfer, 'importMessages')),
  ],
})

const toVerbs = (headings: Record<string, readonly Row[]>): Verb[] =>
  Object.entries(headings).flatMap(([heading, rows]) => rows.map((row) => ({ heading, ...row })))

/** Those that are known without loading the conversations. */
const ownVerbs = toVerbs(byHeading(() => []))

/** With the verbs of the conversations, which stand under Conversations unless they name another group. */
export async function allVerbs(): Promise<Verb[]> {
  const { conversations } = await import('../conversation/registry.ts')
  const inGroup = (group?: 'send') =>
    conversations.flatMap((conversation) => {
      const own = conversation.verb?.()
      if (own === undefined || own.group !== group) return []
      const load = async () => (await import('./verbs/talk.ts')).talkVerb(conversation, own)
      return verb(own.name, own.summary, load)
    })
  return toVerbs(byHeading(inGroup))
}

export async function findVerb(name: string | undefined): Promise<Verb | undefined> {
  const isCalled = (one: Verb) => one.name === name
  return ownVerbs.find(isCalled) ?? (await allVerbs()).find(isCalled)
}
