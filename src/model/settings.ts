import { claimTtlMs } from './claim.ts'
import { messageLimits } from './message.ts'
import { isRules, leadRoles, type Rules } from './rules.ts'

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

export const defaultSettings = Object.fromEntries(
  Object.entries(settings).map(([key, setting]) => [key, setting.default]),
) as unknown as Settings

export const isSettingKey = (key: string): key is keyof Settings => Object.hasOwn(settings, key)
