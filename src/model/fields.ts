import type { Field, Given, Stored } from './field.ts'
import { messageLimits, priorityHint } from './message.ts'
import { describeOrigin } from './origin.ts'
import { describeRouted } from './routes.ts'

/** A sender may give it, and every message has it or only some. */
const always = { input: 'optional', stored: 'always' } as const
const sometimes = { input: 'optional', stored: 'optional' } as const

/**
 * Every field of a message, once. The types of the library, the checks, the options of `mailbox send`, `--input`,
 * the MCP tool, the HTTP API and its document, import, and what readers see all follow from here, so a field that
 * is only stored and shown needs nothing but its row. The comment on a row is what an editor shows for the field.
 *
 * The order is the order of the help, and of the optional fields in a line of the journal.
 */
export const fields = {
  id: { kind: 'id', stored: 'always' },
  from: { kind: 'word', stored: 'always' },
  /**
   * Addresses: `ada`, `role:architect`, `project:x`, `tag:handoff`, `all`, or several of them.
   * @default every agent that has one of its namespaced tags
   */
  to: {
    kind: 'addresses',
    input: 'optional',
    stored: 'always',
    decided: true,
    once: true,
    maxItems: messageLimits.recipients,
    aka: ['recipient', 'recipients', 'toAgent', 'toAgentId'],
    mcp: 'agent, role:NAME, tag or all; comma-separated',
  },
  /** @default '' */
  subject: {
    kind: 'text',
    ...always,
    default: '',
    maxLength: messageLimits.subjectLength,
    hint: `The limit is ${messageLimits.subjectLength} characters; put the rest in the body.`,
    cli: ['--subject <text>', 'one line'],
    mcp: '',
  },
  /** Markdown. @default '' */
  body: {
    kind: 'text',
    ...always,
    default: '',
    hint: 'put structured data in the payload',
    aka: ['content', 'text', 'message'],
    cli: ['--body <text>', 'the text, in Markdown; - reads standard input'],
    mcp: '',
  },
  /** What kind of message it is: any word; some have a meaning of their own. @default 'text' */
  type: {
    kind: 'word',
    ...always,
    default: 'text',
    solid: true,
    hint: 'use a word such as text or request',
    aka: ['messageType', 'kind'],
    cli: ['--type <type>', 'the kind of message, such as request or notification'],
    mcp: '',
  },
  /** A word, or a number from 1 (low) to 4 (urgent). @default 'normal' */
  priority: {
    kind: 'priority',
    ...always,
    default: 'normal',
    hint: priorityHint,
    cli: ['--priority <priority>', 'low, normal, high, urgent, or 1 to 4'],
    mcp: '',
  },
  createdAt: { kind: 'time', stored: 'always' },
  /** @default the thread of the message it replies to, or a new one */
  threadId: {
    kind: 'word',
    ...always,
    decided: true,
    aka: ['thread'],
    cli: ['--thread <id>', 'put it in this thread'],
  },
  /** The message it replies to. The beginning of the id is enough if no other begins the same. */
  replyTo: {
    kind: 'word',
    ...sometimes,
    decided: true,
    once: true,
    cli: ['--reply-to <id>', 'the message it replies to'],
    mcp: '',
  },
  /**
   * How long the message lives unread, in ms. `null`: it never expires.
   * @default by the kind of address: 24 h for an agent or a tag, 4 h for all, never for a role
   */
  ttlMs: {
    kind: 'duration',
    input: 'optional',
    hint: 'give milliseconds, or null for a message that never expires',
    aka: ['ttl', 'ttlHours', 'ttlSeconds', 'lifeMs'],
    cli: ['--ttl <duration>', 'how long it lives unread: 90s, 15m, 24h, forever'],
  },
  /** When it expires unread: an ISO date in the future, in local time unless it names a zone. In place of `ttlMs`. */
  expiresAt: {
    kind: 'time',
    ...sometimes,
    decided: true,
    once: true,
    hint: 'use a date in the future such as 2026-11-15T09:30:00Z; for a message that never expires: ttlMs: null',
    aka: ['expires', 'expiry'],
    cli: ['--expires-at <time>', 'when it expires unread, in place of --ttl: 2026-11-15T09:30Z'],
  },
  /**
   * When it is delivered, if not at once: `15m`, `17:00`, `tomorrow 9:00`, `mon 9:00`, or an ISO date; local time unless it
   * names a zone. Until then only its sender sees it. Its life and its deadlines count from then.
   */
  at: {
    kind: 'moment',
    input: 'optional',
    hint: 'use 15m, 17:00, tomorrow 9:00, mon 9:00, or a date in the future such as 2026-11-15T09:30:00Z',
    aka: ['sendAt', 'deliverAt', 'notBefore', 'schedule', 'scheduledFor'],
    cli: ['--at <time>', 'deliver it then: 15m, 17:00, tomorrow 9:00, mon 9:00, 2026-11-15T09:30Z'],
    mcp: 'deliver later: 15m, tomorrow 9:00',
  },
  /** Ask the recipient to acknowledge it. @default false */
  requiresAck: {
    kind: 'flag',
    ...always,
    default: false,
    aka: ['ack', 'ackRequired'],
    cli: ['--ack', 'ask for an acknowledgement'],
    mcp: 'request an acknowledgement',
  },
  /** Expect a reply: the sender counts as waiting until it comes. @default false */
  awaitingResponse: {
    kind: 'flag',
    ...always,
    default: false,
    aka: ['await', 'waitingForResponse'],
    cli: ['--await', 'expect a reply'],
    mcp: 'you expect a reply',
  },
  /**
   * Labels: a word such as `handoff`, or `concern:security`. A message without `to` goes to every agent that has one
   * of its namespaced tags.
   */
  tags: {
    kind: 'list',
    ...always,
    items: 'tag',
    maxItems: messageLimits.tags,
    aka: ['labels'],
    cli: [
      '--tag <tag>',
      'a label: handoff, concern:security; without a recipient, NS:VALUE tags address their holders; repeatable',
    ],
    mcp: '',
  },
  /** Paths of files. */
  attachments: {
    kind: 'list',
    ...always,
    maxItems: messageLimits.attachments,
    maxLength: messageLimits.pathLength,
    aka: ['attach', 'files'],
    cli: ['--attach <path>', 'the path of a file that exists; repeatable'],
    label: 'Attachments',
    section: true,
  },
  /** The swarm it belongs to. A broadcast reaches only the members of its swarm. */
  swarm: {
    kind: 'name',
    ...sometimes,
    aka: ['swarmName', 'team'],
    cli: ['--swarm <name>', 'the swarm it belongs to; a broadcast reaches only its members'],
    label: 'Swarm',
  },
  /** Keep the message for agents that have not joined yet. */
  hold: { kind: 'flag', input: 'optional', cli: ['--hold', 'keep it for agents that have not joined yet'] },
  /** Agents that a group address would reach and that must not get it. */
  exclude: {
    kind: 'list',
    input: 'optional',
    items: 'name',
    maxItems: messageLimits.recipients,
    cli: ['--exclude <agent>', 'leave an agent out of a group; repeatable'],
  },
  /**
   * Only the sender and the recipients can read it, who must be agents by name. An answer to such a message is
   * encrypted as well, unless this is `false`. In a space that encrypts everything, the others in it can read the rest.
   */
  encrypt: {
    kind: 'flag',
    input: 'optional',
    cli: ['--encrypt', 'only the agents that it is addressed to can read it'],
    mcp: 'only its recipients can read it',
  },
  /** A second send with the same key returns the first message. */
  key: {
    kind: 'word',
    ...sometimes,
    once: true,
    cli: ['--key <key>', 'send it once, however often this is run with the same key'],
    mcp: 'send once per key',
  },
  /** An earlier message of yours in the same thread that this one replaces if nobody has seen it; `true`: the last. */
  supersede: {
    kind: 'reference',
    input: 'optional',
    cli: ['--supersede [id]', 'replace your own unseen message in the same thread (default: the last)'],
  },
  /**
   * Only for this run of the agent; a later run never gets it. Requests to shut down and answers to plans are for
   * the run that is there when they are sent, unless this says otherwise.
   */
  generation: {
    kind: 'whole',
    ...sometimes,
    decided: true,
    once: true,
    hint: 'see `mailbox agents`',
    cli: ['--generation <n>', 'only for this run of the agent; see `mailbox agents`'],
  },
  /** W3C trace context. @default that of the active trace */
  traceparent: { kind: 'word', ...sometimes, once: true },
  /** Data for programs: any JSON. */
  payload: {
    kind: 'json',
    ...sometimes,
    aka: ['metadata', 'data'],
    mcp: '',
    cli: ['--payload <json>', 'data for programs; any JSON, - reads standard input'],
    label: 'Payload',
    section: true,
  },
  /** Structured context of a handoff. */
  context: {
    kind: 'object',
    ...sometimes,
    hint: 'pass an object of named values',
    cli: ['--context <json>', 'structured context; a JSON object'],
    label: 'Context',
    section: true,
  },
  /** The holder of the role that may take it first, and until when the others leave it alone. */
  offeredTo: { kind: 'word', stored: 'optional', once: true, label: 'Offered first to' },
  offeredUntil: { kind: 'time', stored: 'optional', once: true },
  /** The routing rule that changed its recipients or its priority, and what they were. */
  routed: { kind: 'object', stored: 'optional', once: true, label: 'Routed', say: describeRouted },
  /** Its text, if it is encrypted: see sealed.ts. Readers get the text itself. */
  sealed: { kind: 'text', stored: 'optional', once: true },
  /** Where a bridge has brought it from. Only a bridge sets it: see origin.ts. */
  bridge: { kind: 'object', stored: 'optional', once: true, label: 'Brought from', say: describeOrigin },
} as const satisfies Record<string, Field>

type Fields = typeof fields
export type FieldName = keyof Fields
type NameWith<Trait> = { [Name in FieldName]: Fields[Name] extends Trait ? Name : never }[FieldName]
type Required<Name extends FieldName, Values> = { [N in Name]: Values[Fields[N]['kind'] & keyof Values] }
type Optional<Name extends FieldName, Values, Or = never> = {
  [N in Name]?: Values[Fields[N]['kind'] & keyof Values] | Or
}

/** What a sender says; everything has a default but the recipient, which `to` or a tag names. */
export interface SendInput extends Optional<NameWith<{ input: 'optional' }>, Given> {}

/** A message as it is stored. */
export type StoredFields = Required<NameWith<{ stored: 'always' }>, Stored> &
  Optional<NameWith<{ stored: 'optional' }>, Stored, undefined>

export interface NamedField extends Field {
  name: FieldName
}

const rows: readonly NamedField[] = Object.entries<Field>(fields).map(([name, field]) => ({
  name: name as FieldName,
  ...field,
}))

/** What a sender may give. */
export const inputFields = rows.filter(({ input }) => input !== undefined)
/** The name of a field where people type it: `requiresAck` is `ack` on the command line and in the MCP tool. */
export const optionName = ({ name, cli }: NamedField): string =>
  (cli?.[0].split(' ')[0] ?? `--${name}`)
    .slice(2)
    .replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** What is on disk. */
export const storedFields = rows.filter(({ stored }) => stored !== undefined)
