import { isAbsolute } from 'node:path'
import { isExposable } from './a2a.ts'
import { isAssign } from './assign.ts'
import { claimTtlMs } from './claim.ts'
import { isHours, isTimes } from './hours.ts'
import { messageLimits } from './message.ts'
import { isRoutes, type Route } from './routes.ts'
import { isRules, leadRoles, type Rules } from './rules.ts'

type Check = (value: unknown) => boolean
const setting = <T>(usual: T, check: Check, about: string, exported = true) => {
  return { default: usual, check, about, exported }
}
/** It holds a secret, or means something on this machine only. */
const staysHere = false

const whole =
  (least: number, most: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
const isWebAddress: Check = (value) =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value)
const isRoles: Check = (value) =>
  Array.isArray(value) && value.every((role) => typeof role === 'string' && role !== '')

const minuteMs = 60_000
const duration = whole(0, 365 * 24 * 60 * minuteMs)
const days = whole(0, 36_500)
const manyAtMost = whole(0, 1_000_000_000)

const webhookShapeNames = ['cloudevents', 'slack', 'discord', 'teams', 'ntfy'] as const
export type WebhookShape = (typeof webhookShapeNames)[number]

/** The settings of a space, in `config.json`: each with its default, its check and what the help says. */
export const settings = {
  name: setting(
    '',
    (value) => typeof value === 'string' && value.length <= 60 && !/\p{Cc}/u.test(value),
    'what the console calls the space; empty = the name of its directory',
  ),
  durability: setting<'disk' | 'os'>(
    'disk',
    (value) => value === 'disk' || value === 'os',
    'disk: a send returns once it is on disk; os: once the operating system has it',
  ),
  'postgres.commit': setting<'on' | 'remote_apply'>(
    'on',
    (value) => value === 'on' || value === 'remote_apply',
    'for a space on PostgreSQL. on: a send returns as the synchronous_commit of the server says, and never before its disk has it; remote_apply: once the synchronous standbys can show it as well',
  ),
  segmentBytes: setting(
    16 * 1_048_576,
    whole(65_536, 1_073_741_824),
    'size in bytes at which the journal starts a new file',
  ),
  pollMs: setting(
    500,
    whole(10, 60_000),
    'how often to check for new mail when file watching reports nothing',
  ),
  claimTtlMs: setting(claimTtlMs, whole(1_000, 7 * 86_400_000), 'how long a claim lasts unless renewed'),
  readClaimTtlMs: setting(
    4 * 60 * minuteMs,
    whole(1_000, 30 * 86_400_000),
    'how long mail to a role that asks for something stays with whoever has read it, until it is started',
  ),
  maxAttempts: setting(
    5,
    whole(1, 1_000),
    'how many times work on a message can fail before it becomes a dead letter',
  ),
  ackTimeoutMs: setting(
    15 * minuteMs,
    duration,
    'time until a message that needs an ack is shown again; 0 = never',
  ),
  ackRepeats: setting(
    1,
    whole(0, 100),
    'how many times it is shown again before the lead is notified, then the person',
  ),
  urgentAfterMs: setting(
    5 * minuteMs,
    duration,
    'time until the lead, then the person, is notified of unread urgent mail; 0 = never',
  ),
  staleAfterMs: setting(
    60 * minuteMs,
    duration,
    'time until other unread mail is marked as stale; 0 = never',
  ),
  silentAfterMs: setting(
    24 * 60 * minuteMs,
    duration,
    'time until a silent agent without a known process counts as dead; 0 = never',
  ),
  heartbeatMs: setting(
    5 * minuteMs,
    duration,
    'time until a silent agent on another machine counts as dead; 0 = never',
  ),
  deadLetterAfterMs: setting(
    24 * 60 * minuteMs,
    duration,
    'time to wait for a dead agent to return before the senders of its mail are notified',
  ),
  answerAfterMs: setting(
    4 * 60 * minuteMs,
    duration,
    'time until the lead, then the person, is notified of an open question, plan or request; 0 = never',
  ),
  rules: setting<Rules>(
    'open',
    isRules,
    'who may write to whom: open (everyone to everyone), hub (agents to leads and back), or a list such as [{"from":"role:worker","to":"role:lead"}], which rejects everything it does not allow',
  ),
  require: setting<'nothing' | 'signed'>(
    'nothing',
    (value) => value === 'nothing' || value === 'signed',
    "what mail must have: signed (mail without its sender's signature is refused, and marked where it is read), or nothing",
  ),
  routes: setting<readonly Route[]>(
    [],
    isRoutes,
    'rules that give mail other recipients when it is sent; the first one that fits decides: see mailbox route',
  ),
  encrypt: setting<'nothing' | 'space'>(
    'nothing',
    (value) => value === 'nothing' || value === 'space',
    'what is encrypted on disk: space (the text of all new mail; agents of the space and the person have the key), or nothing; single messages: send --encrypt',
  ),
  'roles.granted': setting<readonly string[]>(
    [],
    isRoles,
    'roles that only the person gives, besides those that lead where rules are not open',
  ),
  'roles.assign': setting(
    'queue',
    isAssign,
    'queue: whoever comes first takes mail to a role; least-busy: it is offered to the holder with the least open work first; for single roles: ci=least-busy, review=queue',
  ),
  'roles.offerMs': setting(
    10 * minuteMs,
    duration,
    'time for which the least busy holder is offered mail to a role before all others are; 0 = at once',
  ),
  leads: setting<readonly string[]>(
    leadRoles,
    isRoles,
    'roles that lead: they may write to everyone under hub rules, and are notified of unread mail',
  ),
  'limits.messageBytes': setting<number>(
    messageLimits.bytes,
    whole(1, messageLimits.bytes),
    'maximum size of body, payload and context of a message, in bytes',
  ),
  'limits.ratePerMinute': setting(600, manyAtMost, 'messages an agent can send per minute; 0 = no limit'),
  'limits.inbox': setting(
    1_000,
    manyAtMost,
    'unread and open messages that an agent or role can have from one sender; the person is exempt; 0 = no limit',
  ),
  'limits.threadMessages': setting(
    200,
    whole(0, 1_000_000),
    'messages that agents can send in a thread before it pauses for the person; 0 = no limit',
  ),
  'retention.rotate': setting<'size' | 'month'>(
    'size',
    (value) => value === 'size' || value === 'month',
    'size: start a new journal file by size only; month: also every month (UTC)',
  ),
  'retention.segmentEntries': setting(
    0,
    manyAtMost,
    'entries after which the journal starts a new file; 0 = no limit',
  ),
  'retention.gzipAfterDays': setting(
    0,
    days,
    'age in days at which a journal file is compressed, once a day by a process that stays, or by `mailbox archive-old`; 0 = never',
  ),
  'retention.removeAfterDays': setting(
    0,
    days,
    'age in days at which a compressed file whose mail is all finished is removed, in the same way; 0 = never',
  ),
  'journal.mirror': setting(
    '',
    (value) => value === '' || (typeof value === 'string' && isAbsolute(value)),
    'directory for a second copy of the journal, best on another disk; empty = none',
    staysHere,
  ),
  hours: setting(
    '',
    isHours,
    "the person's hours, such as mon-fri 9-18 or mon-thu 9:00-17:30, fri 9-15 Europe/Berlin, by default in the time zone of this machine; empty = always",
  ),
  'a2a.expose': setting(
    '',
    isExposable,
    'agents and roles that other systems can write to over A2A, such as role:architect, ada; empty = none',
  ),
  'a2a.allow': setting(
    '',
    (value) => typeof value === 'string',
    'hosts on this machine or in private networks that A2A may connect to, such as 127.0.0.1:8080; empty = none',
    staysHere,
  ),
  webhook: setting(
    '',
    (value) => value === '' || isWebAddress(value),
    'URL to which a running hub posts each message to the person; empty = none',
    staysHere,
  ),
  'webhook.digest': setting(
    '',
    isTimes,
    'when a running hub posts the digest of what happened to the webhook, such as 18:00 or mon-fri 17:30 Europe/Berlin; empty = never',
    staysHere,
  ),
  'webhook.shape': setting<WebhookShape>(
    'cloudevents',
    (value) => webhookShapeNames.some((name) => name === value),
    'what is posted there: cloudevents, slack, discord, teams or ntfy (then the URL is that of the topic)',
    staysHere,
  ),
}

/** Each has a default, so none is optional. */
export type Settings = { [Key in keyof typeof settings]: (typeof settings)[Key]['default'] }

export const defaultSettings = Object.fromEntries(
  Object.entries(settings).map(([key, setting]) => [key, setting.default]),
) as unknown as Settings

export const isSettingKey = (key: string): key is keyof Settings => Object.hasOwn(settings, key)
