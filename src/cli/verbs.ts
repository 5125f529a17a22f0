import type { Command } from 'commander'
import { conversations } from '../conversation/registry.ts'

/** Headings of the help, in its order. */
export const groups = {
  setup: 'Set up:',
  roster: 'Roster:',
  send: 'Send:',
  read: 'Read:',
  handle: 'Handle:',
  protocols: 'Protocols:',
  run: 'Run:',
  keep: 'Keep:',
} as const

export interface Verb {
  name: string
  group: keyof typeof groups
  summary: string
  /** Not for people, so not in the help. @default false */
  hidden?: boolean
  /** Needs the other verbs to be there as well. @default false */
  looksAtOthers?: boolean
  /** Gives the function that adds arguments, options and work to the verb's command. */
  load: () => Promise<(command: Command) => void>
}

const setup = () => import('./verbs/init.ts')
const roster = () => import('./verbs/roster.ts')
const send = () => import('./verbs/send.ts')
const inbox = () => import('./verbs/inbox.ts')
const look = () => import('./verbs/look.ts')
const follow = () => import('./verbs/follow.ts')
const handle = () => import('./verbs/handle.ts')
const maintain = () => import('./verbs/maintain.ts')
const transfer = () => import('./verbs/transfer.ts')

/** The verbs of the conversations in a group. */
const verbsOf = (group: Verb['group']): Verb[] =>
  conversations.flatMap((conversation) => {
    const { verb } = conversation
    if (verb === undefined || (verb.group ?? 'protocols') !== group) return []
    const load = async () => (await import('./verbs/talk.ts')).talkVerb({ ...conversation, verb })
    return [{ name: verb.name, group, summary: verb.summary, load }]
  })

/** Every verb, and where to find it. Only the file of the verb that was called is loaded. */
export const verbs: readonly Verb[] = [
  {
    name: 'init',
    group: 'setup',
    summary: 'Set up the agent clients on this machine',
    load: async () => (await setup()).init,
  },
  {
    name: 'uninit',
    group: 'setup',
    summary: 'Undo what init did, byte for byte',
    load: async () => (await setup()).uninit,
  },
  {
    name: 'doctor',
    group: 'setup',
    summary: 'Check that everything works here, and say what to do where it does not',
    load: async () => (await import('./verbs/doctor.ts')).doctor,
  },
  {
    name: 'config',
    group: 'setup',
    summary: 'Show and change the settings of the space',
    load: async () => (await import('./verbs/config.ts')).config,
  },
  {
    name: 'prompt',
    group: 'setup',
    summary: 'Print what a system prompt says about the mailbox',
    load: async () => (await import('./verbs/prompt.ts')).prompt,
  },
  {
    name: 'demo',
    group: 'setup',
    summary: 'Try it: a team of mock agents at work, and the console on them',
    load: async () => (await import('./verbs/demo.ts')).demo,
  },
  {
    name: 'completion',
    group: 'setup',
    summary: 'Print the completion script of a shell',
    load: async () => (await import('./verbs/completion.ts')).completion,
  },
  {
    name: 'complete',
    group: 'setup',
    summary: 'Answer a shell that completes a command line',
    hidden: true,
    looksAtOthers: true,
    load: async () => (await import('./verbs/complete.ts')).complete,
  },
  { name: 'join', group: 'roster', summary: 'Join the roster', load: async () => (await roster()).join },
  {
    name: 'leave',
    group: 'roster',
    summary: 'Leave the roster, for good or frozen',
    load: async () => (await roster()).leave,
  },
  { name: 'agents', group: 'roster', summary: 'List who is here', load: async () => (await roster()).agents },
  {
    name: 'update',
    group: 'roster',
    summary: 'Take on or give up roles and tags',
    load: async () => (await roster()).update,
  },
  { name: 'send', group: 'send', summary: 'Send a message', load: async () => (await send()).send },
  {
    name: 'reply',
    group: 'send',
    summary: 'Answer a message, in its thread',
    load: async () => (await send()).reply,
  },
  {
    name: 'broadcast',
    group: 'send',
    summary: 'Send to everybody, or to a swarm',
    load: async () => (await send()).broadcast,
  },
  ...verbsOf('send'),
  {
    name: 'withdraw',
    group: 'send',
    summary: 'Take back a message that nobody has seen',
    load: async () => (await import('./verbs/withdraw.ts')).withdraw,
  },
  {
    name: 'check',
    group: 'read',
    summary: 'Read new mail, the most urgent first; marks it as shown',
    load: async () => (await inbox()).check,
  },
  {
    name: 'inbox',
    group: 'read',
    summary: 'List mail without marking anything',
    load: async () => (await inbox()).inbox,
  },
  {
    name: 'read',
    group: 'read',
    summary: 'Read one message in full; marks it as shown',
    load: async () => (await inbox()).read,
  },
  { name: 'count', group: 'read', summary: 'Count what is unread', load: async () => (await inbox()).count },
  {
    name: 'show',
    group: 'read',
    summary: 'Show how far a message has come with each recipient',
    load: async () => (await look()).show,
  },
  { name: 'thread', group: 'read', summary: 'Show a whole thread', load: async () => (await look()).thread },
  { name: 'sent', group: 'read', summary: 'List what you have sent', load: async () => (await look()).sent },
  { name: 'search', group: 'read', summary: 'Search all messages', load: async () => (await look()).search },
  {
    name: 'dead',
    group: 'read',
    summary: 'List mail that will not arrive, and send it to somebody else',
    load: async () => (await import('./verbs/dead.ts')).dead,
  },
  { name: 'wait', group: 'read', summary: 'Wait for a message', load: async () => (await follow()).wait },
  {
    name: 'watch',
    group: 'read',
    summary: 'Print new mail as it comes, without marking it',
    load: async () => (await follow()).watch,
  },
  {
    name: 'log',
    group: 'read',
    summary: 'Show everything that happened in the space',
    load: async () => (await import('./verbs/log.ts')).log,
  },
  {
    name: 'ack',
    group: 'handle',
    summary: 'Say that a message has arrived',
    load: async () => (await handle()).ack,
  },
  {
    name: 'claim',
    group: 'handle',
    summary: 'Take mail of a role, so that nobody else does',
    load: async () => (await import('./verbs/claim.ts')).claim,
  },
  {
    name: 'start',
    group: 'handle',
    summary: 'Say that work on it has begun',
    load: async () => (await handle()).start,
  },
  {
    name: 'done',
    group: 'handle',
    summary: 'Say that it is done, and archive it',
    load: async () => (await handle()).done,
  },
  {
    name: 'fail',
    group: 'handle',
    summary: 'Say that it could not be done, and why',
    load: async () => (await handle()).fail,
  },
  {
    name: 'release',
    group: 'handle',
    summary: 'Give it back unread',
    load: async () => (await handle()).release,
  },
  { name: 'archive', group: 'handle', summary: 'Put it away', load: async () => (await handle()).archive },
  {
    name: 'retry',
    group: 'handle',
    summary: 'Put failed mail back among the unread',
    load: async () => (await handle()).retry,
  },
  ...verbsOf('protocols'),
  {
    name: 'owed',
    group: 'protocols',
    summary: 'List what is open, by whom and since when',
    load: async () => (await import('./verbs/owed.ts')).owed,
  },
  {
    name: 'serve',
    group: 'run',
    summary: 'Serve the space over HTTP: the console, the API, streams and MCP',
    load: async () => (await import('./verbs/serve.ts')).serve,
  },
  {
    name: 'token',
    group: 'run',
    summary: 'Make or take back the token of an agent that comes over HTTP',
    load: async () => (await import('./verbs/token.ts')).token,
  },
  {
    name: 'mcp',
    group: 'run',
    summary: 'Serve a mailbox as MCP tools on standard input and output',
    load: async () => (await import('./verbs/mcp.ts')).mcp,
  },
  {
    name: 'hook',
    group: 'run',
    summary: 'Answer an event of an agent client',
    hidden: true,
    load: async () => (await import('./verbs/hook.ts')).hook,
  },
  {
    name: 'tmux',
    group: 'run',
    summary: 'Type mail into the terminals of agents that have no hooks',
    load: async () => (await import('./verbs/tmux.ts')).tmux,
  },
  {
    name: 'verify',
    group: 'keep',
    summary: 'Check every line of the journal',
    load: async () => (await maintain()).verify,
  },
  {
    name: 'rebuild',
    group: 'keep',
    summary: 'Build the index anew from the journal',
    load: async () => (await maintain()).rebuild,
  },
  {
    name: 'stats',
    group: 'keep',
    summary: 'Show how much mail there is and how long it takes',
    load: async () => (await import('./verbs/stats.ts')).stats,
  },
  {
    name: 'archive-old',
    group: 'keep',
    summary: 'Gzip old files of the journal, and remove older ones if you want that',
    load: async () => (await import('./verbs/archive-old.ts')).archiveOld,
  },
  {
    name: 'export',
    group: 'keep',
    summary: 'Write all messages as JSON lines',
    load: async () => (await transfer()).exportMessages,
  },
  {
    name: 'import',
    group: 'keep',
    summary: 'Take in messages that were exported',
    load: async () => (await transfer()).importMessages,
  },
]
