import { existsSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { writeFileAtomically } from '../base/files.ts'
import { parseStrictJson } from '../base/json.ts'
import { claimTtlMs } from '../model/claim.ts'
import { messageLimits } from '../model/message.ts'
import { nameToFile } from '../model/name.ts'
import { isRules, leadRoles, type Rules } from '../model/rules.ts'

/** Settings of a space, in `config.json`; every one has a default, so nothing inside is optional. */
export interface Settings {
  durability: 'disk' | 'os'
  segmentBytes: number
  pollMs: number
  claimTtlMs: number
  maxAttempts: number
  ackTimeoutMs: number
  ackRepeats: number
  urgentAfterMs: number
  staleAfterMs: number
  silentAfterMs: number
  heartbeatMs: number
  deadLetterAfterMs: number
  answerAfterMs: number
  rules: Rules
  leads: readonly string[]
  'limits.messageBytes': number
  'limits.ratePerMinute': number
  'limits.inbox': number
  'limits.threadMessages': number
  'retention.rotate': 'size' | 'month'
  'retention.segmentEntries': number
  'retention.gzipAfterDays': number
  'retention.removeAfterDays': number
  webhook: string
}

interface Setting<K extends keyof Settings> {
  default: Settings[K]
  check: (value: unknown) => boolean
  about: string
}

const whole = (least: number, most: number) => (value: unknown) =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most

const isWebAddress = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value)

const minuteMs = 60_000
const duration = whole(0, 365 * 24 * 60 * minuteMs)
const mostDays = 36_500

export const settings: { [K in keyof Settings]: Setting<K> } = {
  durability: {
    default: 'disk',
    check: (value) => value === 'disk' || value === 'os',
    about: 'disk: a send is answered when the disk has confirmed it; os: when the kernel has it',
  },
  segmentBytes: {
    default: 16 * 1_048_576,
    check: whole(65_536, 1_073_741_824),
    about: 'size at which the journal starts a new file, in bytes',
  },
  pollMs: {
    default: 500,
    check: whole(10, 60_000),
    about: 'how often to look for new mail when the file watch says nothing, in ms',
  },
  claimTtlMs: {
    default: claimTtlMs,
    check: whole(1_000, 7 * 86_400_000),
    about: 'how long a claim lasts unless it is renewed, in ms',
  },
  maxAttempts: {
    default: 5,
    check: whole(1, 1_000),
    about: 'how often mail is taken up before it is a dead letter',
  },
  ackTimeoutMs: {
    default: 15 * minuteMs,
    check: duration,
    about:
      'how long mail that wants an ack may be shown without one before it is shown again, in ms; 0: for ever',
  },
  ackRepeats: {
    default: 1,
    check: whole(0, 100),
    about: 'how often it is shown again before the lead is told, and then the person',
  },
  urgentAfterMs: {
    default: 5 * minuteMs,
    check: duration,
    about:
      'how long urgent mail may be unread before the lead is told, and then the person, in ms; 0: for ever',
  },
  staleAfterMs: {
    default: 60 * minuteMs,
    check: duration,
    about: 'how long other mail may be unread before it is marked as stale, in ms; 0: for ever',
  },
  silentAfterMs: {
    default: 24 * 60 * minuteMs,
    check: duration,
    about:
      'how long an agent without a process of its own may be silent before it counts as dead, in ms; 0: for ever',
  },
  heartbeatMs: {
    default: 5 * minuteMs,
    check: duration,
    about: 'the same for an agent on another machine, whose process cannot be seen, in ms; 0: for ever',
  },
  deadLetterAfterMs: {
    default: 5 * minuteMs,
    check: duration,
    about:
      'how long the mail of an agent that died waits for it to come back before its senders are told, in ms',
  },
  answerAfterMs: {
    default: 60 * minuteMs,
    check: duration,
    about:
      'how long a question, a plan or a request may be open before the lead is told, and then the person, in ms; 0: for ever',
  },
  rules: {
    default: 'open',
    check: isRules,
    about:
      'who may write to whom: open (everybody to everybody), hub (agents to the leads and back), or a list such as [{"from":"role:worker","to":"role:lead"}]; what no rule allows is refused',
  },
  leads: {
    default: leadRoles,
    check: (value) => Array.isArray(value) && value.every((role) => typeof role === 'string' && role !== ''),
    about: 'the roles that lead: they may write to all under hub, and are told of what is left unread',
  },
  'limits.messageBytes': {
    default: messageLimits.bytes,
    check: whole(1, messageLimits.bytes),
    about: 'body, payload and context of one message, in bytes',
  },
  'limits.ratePerMinute': {
    default: 600,
    check: whole(0, 1_000_000_000),
    about: 'messages one agent may send in a minute; 0: no limit',
  },
  'limits.inbox': {
    default: 1_000,
    check: whole(0, 1_000_000_000),
    about: 'mail to one agent or role that may wait or be open; 0: no limit',
  },
  'limits.threadMessages': {
    default: 200,
    check: whole(0, 1_000_000),
    about: 'messages of agents in one thread without a word of the person before it is paused; 0: no limit',
  },
  'retention.rotate': {
    default: 'size',
    check: (value) => value === 'size' || value === 'month',
    about: 'month: the journal starts a new file with every month (UTC), too',
  },
  'retention.segmentEntries': {
    default: 0,
    check: whole(0, 1_000_000_000),
    about: 'entries after which the journal starts a new file; 0: no limit',
  },
  'retention.gzipAfterDays': {
    default: 0,
    check: whole(0, mostDays),
    about: 'age at which `mailbox archive-old` gzips a file of the journal; 0: never',
  },
  'retention.removeAfterDays': {
    default: 0,
    check: whole(0, mostDays),
    about: 'age at which it removes one whose mail is all finished; 0: never',
  },
  webhook: {
    default: '',
    check: (value) => value === '' || isWebAddress(value),
    about: 'where a running hub posts every message to the person, as a CloudEvent; empty: nowhere',
  },
}

const defaults = Object.fromEntries(
  Object.entries(settings).map(([key, setting]) => [key, setting.default]),
) as unknown as Settings

export const isSettingKey = (key: string): key is keyof Settings => Object.hasOwn(settings, key)

/** The settings as they are in force. */
export function readSettings(dir: string): Settings {
  const path = join(dir, 'config.json')
  if (!existsSync(path)) return { ...defaults }
  const found = readConfig(path)
  if (found === null || typeof found !== 'object' || Array.isArray(found))
    throw badConfig(path, 'it is not an object')
  const merged: Settings = { ...defaults }
  for (const [key, value] of Object.entries(found)) {
    if (!isSettingKey(key)) throw badConfig(path, `it knows no setting ${JSON.stringify(key)}`)
    if (!settings[key].check(value)) throw badConfig(path, `${key} cannot be ${JSON.stringify(value)}`)
    Object.assign(merged, { [key]: value })
  }
  return merged
}

function readConfig(path: string): unknown {
  try {
    return parseStrictJson(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw badConfig(path, (cause as Error).message)
  }
}

const badConfig = (path: string, why: string) =>
  new MailboxError('invalid', `${path}: ${why}`, {
    hint: 'mend the file or remove it; without it every setting has its default',
  })

/** Writes one setting; the file is replaced as a whole, so that nobody reads half of it. */
export function writeSetting(dir: string, key: string, value: unknown): Settings {
  if (!isSettingKey(key)) {
    throw new MailboxError('invalid', `there is no setting ${JSON.stringify(key)}`, {
      hint: `settings: ${Object.keys(settings).join(', ')}`,
    })
  }
  if (!settings[key].check(value)) {
    throw new MailboxError('invalid', `${key} cannot be ${JSON.stringify(value)}`, {
      hint: settings[key].about,
    })
  }
  const path = join(dir, 'config.json')
  const kept = existsSync(path)
    ? (parseStrictJson(readFileSync(path, 'utf8')) as Record<string, unknown>)
    : {}
  writeFileAtomically(path, `${JSON.stringify({ ...kept, [key]: value }, null, 2)}\n`)
  return readSettings(dir)
}

export interface FindSpaceOptions {
  /** What the caller named (`--space`). */
  given?: string | undefined
  env: NodeJS.ProcessEnv
  cwd: string
}

/** Which space is meant: the one named, MAILBOX_SPACE, the nearest `.mailbox` upward, or the user's own. */
export function findSpace({ given, env, cwd }: FindSpaceOptions): string {
  const named = given ?? env['MAILBOX_SPACE']
  if (named !== undefined && named !== '') return resolve(cwd, named)
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const candidate = join(dir, '.mailbox')
    if (existsSync(candidate)) return candidate
    if (dir === dirname(dir)) return join(env['HOME'] ?? homedir(), '.mailbox')
  }
}

/** Makes the directory if need be, and refuses one that others could read or write. */
export function ensureSpaceDir(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  if (lstatSync(dir).isSymbolicLink()) {
    throw new MailboxError('not_permitted', `${dir} is a symbolic link`, {
      hint: 'name the directory itself',
    })
  }
  const { mode, uid } = statSync(dir)
  if (process.getuid !== undefined && uid !== process.getuid()) {
    throw new MailboxError('not_permitted', `${dir} belongs to another user`, {
      hint: 'use a space of your own: --space DIR',
    })
  }
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new MailboxError('not_permitted', `${dir} can be read or written by others`, {
      hint: `close it: chmod 700 ${dir}`,
    })
  }
}

/** A template that the space has added: `templates/NAME.json`. */
export function readTemplate(dir: string, name: string): Record<string, unknown> | undefined {
  const path = join(dir, 'templates', `${nameToFile(name)}.json`)
  if (!existsSync(path)) return undefined
  const found = readConfig(path)
  if (found !== null && typeof found === 'object' && !Array.isArray(found))
    return found as Record<string, unknown>
  throw badConfig(path, 'it is not an object')
}
