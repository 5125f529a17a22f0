import { beforeEach, onTestFinished } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { reach } from './cli.ts'
import { stageHub } from './hub.ts'
import { isOnPostgres } from './temp.ts'

/**
 * Set up before a test file of the command line (vitest.config.ts), this makes its boxes reach their spaces through a hub:
 * the commands get an address and a token instead of a directory. Whoever acts has a token of its own, as on a machine of its own;
 * verbs that need the files of the space run where they are, beside the hub.
 */
const needsFiles = new Set([
  ...['verify', 'repair', 'rebuild', 'archive-old', 'import', 'export', 'serve', 'token', 'key', 'doctor'],
  ...['init', 'uninit', 'trust', 'demo', 'tmux'],
])

const changesSettings = ([verb, what = '', ...rest]: readonly string[]) =>
  (verb === 'config' && what === 'set') ||
  (verb === 'route' && ['add', 'remove'].includes(what)) ||
  (verb === 'join' && [what, ...rest].includes('--swarm'))

/** Stories that are about a directory, and those that a hub tells differently, with the reason. */
const otherwise: Record<string, string> = {
  'answers every verb of the roster with the agent': 'a session from elsewhere is marked as remote',
  'exits 4 for what one may not do': 'what is not for an agent is not there for its token',
  'exits 4 for a space that others could read': 'about a directory',
  'exits 7 over a limit and names it': 'a hub reads its settings when it starts',
  'follows the log across processes until it is interrupted': 'it names the directory',
  'is never a directory named after an address': 'about a directory',
  'is made by none of the verbs that only look': 'about a directory',
  'adds rules, tries them, sends by them, shows what they did and removes them':
    'a hub reads its settings when it starts',
  'keeps every rule of those that are added at once': 'a hub reads its settings when it starts',
}

/** The same where the space is in PostgreSQL. */
const otherwiseOnPostgres: Record<string, string> = {
  'exits 1 when something is broken that no other code names': 'about a damaged file of a journal',
}

beforeEach(({ task, skip }) => {
  const reason = otherwise[task.name] ?? (isOnPostgres() ? otherwiseOnPostgres[task.name] : undefined)
  if (reason !== undefined) skip(reason)
})

reach.throughHub = async (dir) => {
  const space = await openDisk({ dir, settings: { durability: 'os' } })
  onTestFinished(() => space.close())
  const stage = await stageHub({ space })
  const tokens = new Map([['user', stage.token]])
  const tokenOf = (name: string) => {
    // A second one would end the first, which a command may be using.
    if (!tokens.has(name)) tokens.set(name, stage.agentToken(name))
    return tokens.get(name)!
  }
  return {
    env(words, { MAILBOX_SPACE = '', ...env }) {
      const isElsewhere = MAILBOX_SPACE !== dir || words.includes('--space')
      if (isElsewhere || needsFiles.has(words[0]!) || changesSettings(words)) return { ...env, MAILBOX_SPACE }
      return { ...env, MAILBOX_SPACE: stage.url, MAILBOX_TOKEN: tokenOf(actorOf(words, env)) }
    },
  }
}

/** Whose token a command needs. */
function actorOf(words: readonly string[], env: Record<string, string>): string {
  const [verb, first = '-'] = words
  const after = (flag: string): string | undefined => {
    const at = words.findLastIndex((word, place) => word === flag && !textFlags.has(words[place - 1]!))
    return at === -1 ? undefined : words[at + 1]
  }
  const isAbout = (verb === 'join' || verb === 'leave') && /^[\w/-]+$/.test(first) && !first.startsWith('-')
  const about = isAbout ? first : verb === 'send' ? after('--from') : undefined
  return after('--as') ?? about ?? (env['MAILBOX_AGENT'] || 'user')
}

const textFlags = new Set(['--subject', '--body'])
