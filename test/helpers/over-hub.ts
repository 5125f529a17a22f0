import { onTestFinished } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { reach } from './cli.ts'
import { stageHub } from './hub.ts'

/**
 * Importing this before a test file of the command line makes its boxes reach their spaces through a hub: the commands
 * get an address and a token instead of a directory. Whoever acts has a token of its own, as on a machine of its own;
 * verbs that need the files of the space run where they are, beside the hub.
 */
const needsFiles = new Set([
  ...['verify', 'repair', 'rebuild', 'archive-old', 'import', 'export', 'serve', 'token', 'key', 'doctor'],
  ...['init', 'uninit', 'trust', 'demo', 'tmux'],
])
const changesSettings = (words: readonly string[]) =>
  (words[0] === 'config' && words[1] === 'set') ||
  (words[0] === 'route' && ['add', 'remove'].includes(words[1]!)) ||
  words.includes('--swarm') && words[0] === 'join'

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
    env(words, { MAILBOX_SPACE, ...env }) {
      const isElsewhere = MAILBOX_SPACE !== dir || words.includes('--space')
      if (isElsewhere || needsFiles.has(words[0]!) || changesSettings(words)) return { ...env, MAILBOX_SPACE: MAILBOX_SPACE! }
      return { ...env, MAILBOX_SPACE: stage.url, MAILBOX_TOKEN: tokenOf(actorOf(words, env)) }
    },
  }
}

/** Whose token a command needs. */
function actorOf(words: readonly string[], env: Record<string, string>): string {
  const [verb, first = '-'] = words
  const after = (flag: string) => (words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined)
  const isAbout = (verb === 'join' || verb === 'leave') && !first.startsWith('-')
  return (
    after('--as') ??
    (isAbout ? first : undefined) ??
    (verb === 'send' ? after('--from') : undefined) ??
    (env['MAILBOX_AGENT'] || 'user')
  )
}
