import { claimTtlMs } from './claim.ts'
import { messageLimits } from './message.ts'
import { isRules, leadRoles, type Rules } from './rules.ts'

/** Settings of a space, from `config.json`. Each has a default, so none is optional. */
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
    about: 'disk: a send returns once it is on disk; os: once the operating system has it',
  },
  segmentBytes: {
    default: 16 * 1_048_576,
    check: whole(65_536, 1_073_741_824),
    about: 'size in bytes at which the journal starts a new file',
  },
  pollMs: {
    default: 500,
    check: whole(10, 60_000),
    about: 'how often to check for new mail when file watching reports nothing, in ms',
  },
  claimTtlMs: {
    default: claimTtlMs,
    check: whole(1_000, 7 * 86_400_000),
    about: 'how long a claim lasts unless renewed, in ms',
  },
  maxAttempts: {
    default: 5,
    check: whole(1, 1_000),
    about: 'how many times a message can be claimed before it becomes a dead letter',
  },
  ackTimeoutMs: {
    default: 15 * minuteMs,
    check: duration,
    about: 'time until a message that needs an ack is shown again, in ms; 0 = never',
  },
  ackRepeats: {
    default: 1,
    check: whole(0, 100),
    about: 'how many times it is shown again before the lead is notified, then the person',
  },
  urgentAfterMs: {
    default: 5 * minuteMs,
    check: duration,
    about: 'time until the lead, then the person, is notified of unread urgent mail, in ms; 0 = never',
  },
  staleAfterMs: {
    default: 60 * minuteMs,
    check: duration,
    about: 'time until other unread mail is marked as stale, in ms; 0 = never',
  },
  silentAfterMs: {
    default: 24 * 60 * minuteMs,
    check: duration,
    about: 'time until a silent agent without a known process counts as dead, in ms; 0 = never',
  },
  heartbeatMs: {
    default: 5 * minuteMs,
    check: duration,
    about: 'time until a silent agent on another machine counts as dead, in ms; 0 = never',
  },
  deadLetterAfterMs: {
    default: 5 * minuteMs,
    check: duration,
    about: 'time to wait for a dead agent to return before the senders of its mail are notified, in ms',
  },
  answerAfterMs: {
    default: 60 * minuteMs,
    check: duration,
    about:
      'time until the lead, then the person, is notified of an open question, plan or request, in ms; 0 = never',
  },
  rules: {
    default: 'open',
    check: isRules,
    about:
      'who may write to whom: open (everyone to everyone), hub (agents to leads and back), or a list such as [{"from":"role:worker","to":"role:lead"}], which rejects everything it does not allow',
  },
  leads: {
    default: leadRoles,
    check: (value) => Array.isArray(value) && value.every((role) => typeof role === 'string' && role !== ''),
    about: 'roles that lead: they may write to everyone under hub rules, and are notified of unread mail',
  },
  'limits.messageBytes': {
    default: messageLimits.bytes,
    check: whole(1, messageLimits.bytes),
    about: 'maximum size of body, payload and context of a message, in bytes',
  },
  'limits.ratePerMinute': {
    default: 600,
    check: whole(0, 1_000_000_000),
    about: 'messages an agent can send per minute; 0 = no limit',
  },
  'limits.inbox': {
    default: 1_000,
    check: whole(0, 1_000_000_000),
    about: 'unread and open messages that an agent or role can have; 0 = no limit',
  },
  'limits.threadMessages': {
    default: 200,
    check: whole(0, 1_000_000),
    about: 'messages that agents can send in a thread before it pauses for the person; 0 = no limit',
  },
  'retention.rotate': {
    default: 'size',
    check: (value) => value === 'size' || value === 'month',
    about: 'size: start a new journal file by size only; month: also every month (UTC)',
  },
  'retention.segmentEntries': {
    default: 0,
    check: whole(0, 1_000_000_000),
    about: 'entries after which the journal starts a new file; 0 = no limit',
  },
  'retention.gzipAfterDays': {
    default: 0,
    check: whole(0, mostDays),
    about: 'age in days at which `mailbox archive-old` compresses a journal file; 0 = never',
  },
  'retention.removeAfterDays': {
    default: 0,
    check: whole(0, mostDays),
    about: 'age in days at which it removes a compressed file whose mail is all finished; 0 = never',
  },
  webhook: {
    default: '',
    check: (value) => value === '' || isWebAddress(value),
    about: 'URL to which a running hub posts each message to the person, as a CloudEvent; empty = none',
  },
}

export const defaultSettings = Object.fromEntries(
  Object.entries(settings).map(([key, setting]) => [key, setting.default]),
) as unknown as Settings

export const isSettingKey = (key: string): key is keyof Settings => Object.hasOwn(settings, key)
