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

/** Stories that are about the files of a space. */
const otherwise: Record<string, string> = {
  'exits 4 for a space that others could read': 'about a directory',
  'is made by none of the verbs that only look': 'about a directory',
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
  const serve = async (port = 0) => {
    const space = await openDisk({ dir, settings: { durability: 'os' } })
    return { space, stage: await stageHub({ space, port }) }
  }
  let served = await serve()
  const { stage } = served
  const stop = async () => {
    await served.stage.stop()
    await served.space.close()
  }
  onTestFinished(stop)
  let restarting: Promise<void> | undefined
  const restart = async () => {
    await stop()
    served = await serve(Number(new URL(stage.url).port))
  }
  const tokens = new Map([['user', stage.token]])
  const tokenOf = (name: string) => {
    // A second one would end the first, which a command may be using.
    if (!tokens.has(name)) tokens.set(name, stage.agentToken(name))
    return tokens.get(name)!
  }
  return {
    place: stage.url,
    // As the command says: a running hub uses a setting after a restart.
    async hasRun(words) {
      if (changesSettings(words)) restarting = (restarting ?? Promise.resolve()).then(restart)
      await restarting
    },
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
