import * as z from 'zod/mini'
import { filter, id, ids, inboxFilter, page, repliesTo, word } from './inputs.ts'
import { operation } from './operation.ts'
import * as s from './schemas.ts'

const owedList = s.object('OwedList', { owed: z.array(s.owed) })

/** An operation that changes nothing. */
const lookup: typeof operation = (row) => ({ ...row, reads: true })

export const readingOperations = {
  inbox: lookup({
    summary: 'List mail, the most urgent first, then the oldest',
    input: z.strictObject({
      ...{ unread: z.exactOptional(z.boolean()), all: z.exactOptional(z.boolean()) },
      ...{ ...inboxFilter, ...page },
    }),
    output: s.inboxPage,
    run: (mailbox, options) => mailbox.inbox(options),
  }),
  check: operation({
    summary: 'Read the unread mail that fits a budget; marks it as shown and claims mail to a role',
    input: z.strictObject({ budgetTokens: z.exactOptional(z.number()), ...inboxFilter, ...page }),
    output: s.checked,
    run: (mailbox, options) => mailbox.check(options),
  }),
  read: operation({
    summary: 'Read one message in full; marks it as shown if it is yours',
    input: z.strictObject(id),
    output: s.inboxMessage,
    run: (mailbox, { id }) => mailbox.read(id),
  }),
  thread: lookup({
    summary: 'Get the thread of a message, oldest first',
    input: z.strictObject(id),
    output: s.object('Thread', { messages: z.array(s.storedMessage) }),
    run: async (mailbox, { id }) => ({ messages: await mailbox.thread(id) }),
  }),
  sent: lookup({
    summary: 'List what the agent has sent, newest first',
    input: z.strictObject(page),
    output: s.messagePage,
    run: (mailbox, options) => mailbox.sent(options),
  }),
  scheduled: lookup({
    summary: 'List what the agent has written to be sent later, the earliest first',
    input: z.strictObject({}),
    output: s.object('Scheduled', { messages: z.array(s.storedMessage) }),
    run: async (mailbox) => ({ messages: await mailbox.scheduled() }),
  }),
  search: lookup({
    summary:
      'Search by words and operators: from: to: tag: type: priority: is:unread is:mine is:open has:attachment before: after:24h',
    input: z.strictObject({ query: z.string(), counts: z.exactOptional(z.boolean()), ...page }),
    output: s.searchPage,
    run: (mailbox, { query, ...options }) => mailbox.search(query, options),
  }),
  show: lookup({
    summary: 'Get a message and its state for each recipient',
    input: z.strictObject(id),
    output: s.shownMessage,
    run: (mailbox, { id }) => mailbox.show(id),
  }),
  count: lookup({
    summary: 'Count unread mail',
    input: z.strictObject({}),
    output: s.unreadCount,
    run: (mailbox) => mailbox.count(),
  }),
  lead: lookup({
    summary: 'Get the address of the lead',
    input: z.strictObject({}),
    output: s.object('Lead', { result: s.text }),
    run: async (mailbox) => ({ result: await mailbox.lead() }),
  }),
  owed: lookup({
    summary: 'List what the agent owes others',
    input: z.strictObject({ kind: z.exactOptional(s.kind) }),
    output: owedList,
    run: async (mailbox, options) => ({ owed: await mailbox.owed(options) }),
  }),
  awaited: lookup({
    summary: 'List what others owe the agent',
    input: z.strictObject({ kind: z.exactOptional(s.kind) }),
    output: owedList,
    run: async (mailbox, options) => ({ owed: await mailbox.awaited(options) }),
  }),
  agent: lookup({
    summary: "Get the agent's entry in the roster",
    input: z.strictObject({}),
    output: s.agent,
    run: (mailbox) => mailbox.agent(),
  }),
  template: lookup({
    summary: 'Get a handoff template of the space',
    input: z.strictObject({ name: word }),
    output: s.object('Template', { result: z.nullable(z.record(z.string(), z.unknown())) }),
    run: async (mailbox, { name }) => ({ result: await mailbox.template(name) }),
  }),
  unread: lookup({
    summary: 'List all unread mail at one moment, with the sequence number to follow from',
    input: z.strictObject({ ...filter, ...repliesTo }),
    output: s.unreadMail,
    run: (mailbox, options) => mailbox.unread(options),
  }),
  takeAll: operation({
    summary: 'Take unread messages by id; marks them as shown and skips those that are no longer unread',
    input: z.strictObject(ids),
    output: s.messages,
    run: async (mailbox, { ids }) => ({ messages: await mailbox.takeAll(ids) }),
  }),
}
