import * as z from 'zod/mini'
import { messageLimits } from '../model/message.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import type { Operation } from './operation.ts'
import * as s from './schemas.ts'

const word = z.string().check(z.minLength(1), z.maxLength(messageLimits.wordLength))
const words = z.array(word)
const id = { id: z.string().check(z.minLength(1)) }
const durationMs = z.number().check(z.positive())

/** What goes beside the addresses of a message. */
const content = {
  subject: z.optional(z.string().check(z.maxLength(messageLimits.subjectLength))),
  body: z.optional(z.string()),
  type: z.optional(word),
  priority: z.optional(s.priority),
  payload: z.optional(z.unknown()),
  context: z.optional(z.record(z.string(), z.unknown())),
  threadId: z.optional(word),
  ttlMs: z.optional(z.nullable(durationMs)),
  requiresAck: z.optional(z.boolean()),
  awaitingResponse: z.optional(z.boolean()),
  attachments: z.optional(z.array(z.string())),
  tags: z.optional(words),
  swarm: z.optional(word),
  key: z.optional(word),
  traceparent: z.optional(word),
  exclude: z.optional(words),
  hold: z.optional(z.boolean()),
  generation: z.optional(z.int()),
  supersede: z.optional(z.union([z.boolean(), word])),
}
const page = { limit: z.optional(z.int()), after: z.optional(z.string()) }
const filter = {
  type: z.optional(z.union([word, words])),
  from: z.optional(word),
  minPriority: z.optional(s.priority),
}
const inboxFilter = { ...filter, tag: z.optional(word), thread: z.optional(word), replyTo: z.optional(word) }
const note = { note: z.optional(z.string()) }
/** Longer waits are several: a connection that is silent for long is cut by somebody on the way. */
export const waitAtMostMs = 60_000
const timeoutMs = { timeoutMs: z.optional(z.number().check(z.minimum(0), z.maximum(waitAtMostMs))) }
const session = z.strictObject({
  pid: z.optional(z.int()),
  pidStart: z.optional(word),
  host: z.optional(word),
  client: z.optional(word),
  id: z.optional(word),
})
const joinFields = {
  roles: z.optional(words),
  tags: z.optional(words),
  note: z.optional(z.string()),
  session: z.optional(session),
}

const done = name('Done', z.strictObject({ result: z.null() }))
const owedList = name('OwedList', z.strictObject({ owed: z.array(s.owed) }))

/** Methods of a mailbox that are the same over HTTP: their arguments in, their answer out. */
export const mailboxOperations = {
  send: {
    summary: 'Send a message',
    input: z.strictObject({ to: s.addresses, replyTo: z.optional(word), ...content }),
    output: s.sentMessage,
  },
  reply: {
    summary: 'Answer a message: to its sender, in its thread',
    positional: ['id'],
    input: z.strictObject({ ...id, to: z.optional(s.addresses), ...content }),
    output: s.sentMessage,
  },
  broadcast: {
    summary: 'Send to everybody, or to everybody in a swarm',
    input: z.strictObject({ replyTo: z.optional(word), ...content }),
    output: s.sentMessage,
  },
  withdraw: {
    summary: 'Take a message back that nobody has seen yet',
    positional: ['id'],
    input: z.strictObject(id),
    output: s.storedMessage,
  },
  resend: {
    summary: 'Send a dead letter to another address',
    positional: ['id', 'to'],
    input: z.strictObject({ ...id, to: s.addresses }),
    output: s.sentMessage,
  },
  inbox: {
    summary: 'A page of mail, the most urgent first, then the oldest',
    reads: true,
    input: z.strictObject({
      ...{ unread: z.optional(z.boolean()), all: z.optional(z.boolean()) },
      ...{ ...inboxFilter, ...page },
    }),
    output: s.inboxPage,
  },
  check: {
    summary: 'The unread mail that fits a budget; it is marked as shown, and mail to a role is claimed',
    input: z.strictObject({ budgetTokens: z.optional(z.number()), ...inboxFilter, ...page }),
    output: s.checked,
  },
  read: {
    summary: 'One message in full; marks it as shown if it is yours',
    positional: ['id'],
    input: z.strictObject(id),
    output: s.inboxMessage,
  },
  notified: {
    summary: 'Note that the agent was told of mail without being shown it',
    positional: ['ids'],
    input: z.strictObject({ ids: z.array(z.string()).check(z.maxLength(1_000)) }),
    output: done,
    wrap: 'result',
  },
  ack: {
    summary: 'Say that a message has arrived where it matters',
    positional: ['id'],
    input: z.strictObject({ ...id, ...note }),
    output: s.handled,
  },
  claim: {
    summary: 'Take mail to a role, so that nobody else does',
    positional: ['id'],
    input: z.strictObject({ ...id, ttlMs: z.optional(durationMs) }),
    output: s.claimed,
  },
  claimNext: {
    summary: 'Take the next mail of a role: the oldest of the most urgent',
    positional: ['role'],
    input: z.strictObject({ role: word, ttlMs: z.optional(durationMs) }),
    output: name('MaybeClaimed', z.strictObject({ result: z.nullable(s.claimed) })),
    wrap: 'result',
  },
  start: {
    summary: 'Say that work on it has begun',
    positional: ['id'],
    input: z.strictObject(id),
    output: s.handled,
  },
  done: {
    summary: 'Say that it is done; the message is archived with that unless `archive` is false',
    positional: ['id'],
    input: z.strictObject({ ...id, ...note, archive: z.optional(z.boolean()) }),
    output: s.handled,
  },
  fail: {
    summary: 'Say that it could not be done, and why',
    positional: ['id'],
    input: z.strictObject({ ...id, reason: z.string().check(z.minLength(1)) }),
    output: s.handled,
  },
  release: {
    summary: 'Give it back unread',
    positional: ['id'],
    input: z.strictObject(id),
    output: s.handled,
  },
  retry: {
    summary: 'Put a failed message back among the unread',
    positional: ['id'],
    input: z.strictObject(id),
    output: s.handled,
  },
  archive: { summary: 'Put it away', positional: ['id'], input: z.strictObject(id), output: s.handled },
  thread: {
    summary: 'The thread a message belongs to, oldest first',
    positional: ['id'],
    reads: true,
    input: z.strictObject(id),
    output: name('Thread', z.strictObject({ messages: z.array(s.storedMessage) })),
    wrap: 'messages',
  },
  sent: {
    summary: 'What the agent has sent, newest first',
    reads: true,
    input: z.strictObject(page),
    output: s.messagePage,
  },
  search: {
    summary: 'Full text and operators: from: to: tag: type: is:unread has:attachment before: after:',
    positional: ['query'],
    reads: true,
    input: z.strictObject({ query: z.string(), ...page }),
    output: s.messagePage,
  },
  show: {
    summary: 'A message and how far it has come with each recipient',
    positional: ['id'],
    reads: true,
    input: z.strictObject(id),
    output: s.shownMessage,
  },
  count: { summary: 'How much is unread', reads: true, input: z.strictObject({}), output: s.unreadCount },
  lead: {
    summary: 'Whoever leads: an address to write to',
    reads: true,
    input: z.strictObject({}),
    output: name('Lead', z.strictObject({ result: s.text })),
    wrap: 'result',
  },
  owed: {
    summary: 'What the agent owes others',
    reads: true,
    input: z.strictObject({ kind: z.optional(s.kind) }),
    output: owedList,
    wrap: 'owed',
  },
  awaited: {
    summary: 'What others owe the agent',
    reads: true,
    input: z.strictObject({ kind: z.optional(s.kind) }),
    output: owedList,
    wrap: 'owed',
  },
  agent: {
    summary: 'The agent as the roster has it',
    reads: true,
    input: z.strictObject({}),
    output: s.agent,
  },
  comeIn: {
    summary: 'Look in: say that the agent is there, and have done what is due',
    input: z.strictObject({}),
    output: done,
    wrap: 'result',
  },
  template: {
    summary: 'A template of the space for handoffs',
    positional: ['name'],
    reads: true,
    input: z.strictObject({ name: word }),
    output: name('Template', z.strictObject({ result: z.nullable(z.record(z.string(), z.unknown())) })),
    wrap: 'result',
  },
  unread: {
    summary: 'All unread mail at one moment, with the place to follow from',
    reads: true,
    input: z.strictObject({ ...filter, replyTo: z.optional(word) }),
    output: s.unreadMail,
  },
  peek: {
    summary: 'The message at a place of the journal if it is unread for the agent',
    positional: ['seq'],
    reads: true,
    input: z.strictObject({ seq: s.count }),
    output: s.maybeMessage,
    wrap: 'message',
  },
  take: {
    summary: 'Take an unread message as `wait` does: it is marked as shown',
    positional: ['id'],
    input: z.strictObject(id),
    output: s.maybeMessage,
    wrap: 'message',
  },
  takeAll: {
    summary: 'Take unread messages by id: they are marked as shown; what is gone is left out',
    positional: ['ids'],
    input: z.strictObject({ ids: z.array(z.string()).check(z.maxLength(1_000)) }),
    output: name('Taken', z.strictObject({ messages: z.array(s.inboxMessage) })),
    wrap: 'messages',
  },
  update: {
    summary: 'Take on or give up roles and tags, say what the agent does',
    input: z.strictObject({
      ...{ addRoles: z.optional(words), removeRoles: z.optional(words) },
      ...{ addTags: z.optional(words), removeTags: z.optional(words) },
      state: z.optional(z.enum(['alive', 'idle', 'waiting'])),
      note: z.optional(z.string()),
    }),
    output: s.agent,
  },
  heartbeat: { summary: 'Say that the agent is still there', input: z.strictObject({}), output: s.agent },
  leave: {
    summary: 'Leave the roster, for good or frozen',
    input: z.strictObject({ frozen: z.optional(z.boolean()) }),
    output: s.agent,
  },
} as const satisfies Partial<Record<keyof Mailbox | 'peek' | 'take', Operation>>

/** The same, but the hub does more than to call the method. */
export const waitingOperations = {
  wait: {
    summary: 'Wait for a message, at most a minute; it is marked as shown. Null when the time is up',
    input: z.strictObject({
      ...{ type: filter.type, from: filter.from, replyTo: z.optional(word) },
      ...timeoutMs,
    }),
    output: s.maybeMessage,
    wrap: 'message',
  },
  waitForAck: {
    summary: 'Wait until a recipient has acknowledged a message, at most a minute',
    positional: ['id'],
    reads: true,
    input: z.strictObject({ ...id, ...timeoutMs }),
    output: name('Acked', z.strictObject({ result: z.boolean() })),
    wrap: 'result',
  },
} as const satisfies Partial<Record<keyof Mailbox, Operation>>

/** The roster's side of a mailbox: the space's methods, with the name from the address. */
export const rosterOperations = {
  join: {
    summary: 'Start a new run of the agent, known or not',
    input: z.strictObject(joinFields),
    output: s.agent,
  },
  open: {
    summary: 'Join unless the agent runs already; `join` false refuses one that is not known',
    input: z.strictObject({ join: z.optional(z.union([z.literal(false), z.strictObject(joinFields)])) }),
    output: name('Opened', z.strictObject({ name: s.text })),
  },
} as const satisfies Record<string, Operation>

function name<S extends z.ZodMiniType>(as: string, schema: S): S {
  return s.name(as, schema)
}
