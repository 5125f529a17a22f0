import * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import { needs } from '../conversation/registry.ts'
import { person } from '../model/agent.ts'
import { parseTime } from '../model/time.ts'
import { needsOf } from '../query/needs.ts'
import { agentByName } from '../query/roster.ts'
import { threads, threadWithReceipts } from '../query/threads.ts'
import { traffic } from '../query/traffic.ts'
import type { Space } from '../space/api.ts'
import type { SpaceCore } from '../space/core.ts'
import type { Survey } from '../space/survey.ts'
import type { Schema } from './operation.ts'
import * as s from './schemas.ts'

/** What readings are answered from, and who asks. */
interface Look {
  space: Space
  core: SpaceCore
  survey: Survey
  caller: { agent: string; isPerson: boolean }
  version: string
}

/** One reading of the space: `GET` with its options in the query. */
export interface Reading<Q extends Schema = Schema, O extends Schema = Schema, Answer = unknown> {
  path: string
  summary: string
  query: Q
  output: O
  run(look: Look, query: z.output<Q>): Promise<Answer>
}

/** Lets TypeScript infer a row's types, and checks its answer against its schema. */
const reading = <Q extends Schema, O extends Schema, Answer extends z.input<O>>(
  row: Reading<Q, O, Answer>,
): Reading<Q, O, Answer> => row

/** Queries are text. What is not a number stays text, and the schema refuses it. */
const whole = z.exactOptional(
  z.pipe(
    z.transform((value: unknown) =>
      typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    s.count,
  ),
)
const text = z.exactOptional(z.string())
const page = { after: text, limit: whole }
const priority = s.priority
const threadSummary = s.name(
  'ThreadSummary',
  z.strictObject({
    id: s.text,
    subject: s.text,
    messages: s.count,
    participants: z.array(s.text),
    tags: z.array(s.text),
    firstAt: s.text,
    lastAt: s.text,
    lastFrom: s.text,
    lastType: s.text,
    priority,
  }),
)
const channel = z.strictObject({ tag: s.text, messages: s.count, lastAt: s.text })
const totals = z.strictObject({ messages: s.count })
const nullableMs = z.nullable(z.number())
const brief = z.strictObject({
  ...{ id: s.text, from: s.text, to: z.array(s.text), subject: s.text, type: s.text },
  priority,
})
const answer = <Shape extends z.core.$ZodShape>(id: string, fields: Shape) =>
  s.name(id, z.strictObject(fields))

/** All readings of the space. None of them changes anything. */
export const readings = {
  space: reading({
    path: '/api/space',
    summary: 'Get the space: its id, settings and last sequence number, and who you are',
    query: z.strictObject({}),
    output: answer('SpaceInfo', {
      ...{ id: s.text, version: s.text, seq: s.count, at: s.text, you: s.text },
      settings: z.record(z.string(), z.unknown()),
    }),
    async run({ space, caller, version }) {
      const { id, settings } = space
      const at = new Date(space.now()).toISOString()
      return { id, version, seq: await space.lastSeq(), at, you: caller.agent, settings: { ...settings } }
    },
  }),
  overview: reading({
    path: '/api/overview',
    summary: 'Get an overview of the space',
    query: z.strictObject({}),
    output: answer('Overview', {
      seq: s.count,
      agents: z.array(s.agent),
      needsYou: s.count,
      dead: s.count,
      unread: z.record(z.string(), s.unreadCount),
      channels: z.array(channel),
      totals,
    }),
    run: ({ survey }) => survey.overview(),
  }),
  agents: reading({
    path: '/api/agents',
    summary: 'List the agents, as they are at this moment',
    query: z.strictObject({}),
    output: answer('Roster', { agents: z.array(s.agent) }),
    run: async ({ space }) => ({ agents: await space.agents() }),
  }),
  threads: reading({
    path: '/api/threads',
    summary: 'List threads, the most recently active first',
    query: z.strictObject({ tag: text, agent: text, ...page }),
    output: answer('ThreadPage', { threads: z.array(threadSummary), next: z.nullable(s.text) }),
    run: ({ core }, query) => core.query((source) => threads(source, query)),
  }),
  thread: reading({
    path: '/api/threads/{id}',
    summary: 'Get a whole thread, with the state of each message',
    query: z.strictObject({ id: s.text }),
    output: answer('ThreadInFull', {
      messages: z.array(
        z.extend(s.storedMessage, {
          receipts: z.array(z.strictObject({ owner: s.text, box: s.text, state: s.text })),
        }),
      ),
    }),
    run: async ({ core }, { id }) => ({
      messages: await core.query((source) => threadWithReceipts(source, id)),
    }),
  }),
  message: reading({
    path: '/api/messages/{id}',
    summary: 'Get a message and its states for each recipient',
    query: z.strictObject({ id: s.text }),
    output: s.shownMessage,
    run: ({ space }, { id }) => space.show(id),
  }),
  search: reading({
    path: '/api/search',
    summary: 'Search all messages; `is:unread` refers to your mailbox',
    query: z.strictObject({ q: s.text, ...page }),
    output: s.messagePage,
    async run({ space, caller }, { q, ...page }) {
      const mailbox = await space.mailbox(caller.agent, { join: false })
      return mailbox.search(q, page)
    },
  }),
  needsYou: reading({
    path: '/api/needs-you',
    summary: 'List what waits for the person: the most urgent first, then the oldest',
    query: z.strictObject({}),
    output: answer('NeedsYou', {
      items: z.array(
        z.strictObject({
          kind: z.enum([...needs.keys()]),
          message: s.storedMessage,
          since: s.text,
          until: z.optional(s.text),
        }),
      ),
    }),
    async run({ core, caller }) {
      if (caller.isPerson) {
        const items = await core.query((source) => needsOf(source, agentByName(source, person)!, core.now()))
        return { items }
      }
      throw new MailboxError('not_permitted', 'only the person can read this', {
        hint: `for what an agent owes: POST /api/mailboxes/${encodeURIComponent(caller.agent)}/owed`,
      })
    },
  }),
  dead: reading({
    path: '/api/dead',
    summary: 'List dead letters, newest first',
    query: z.strictObject({ from: text, ...page }),
    output: s.deadLetters,
    run: ({ space }, query) => space.deadLetters(query),
  }),
  owed: reading({
    path: '/api/owed',
    summary: 'List what agents owe each other, oldest first',
    query: z.strictObject({ by: text, to: text, kind: z.exactOptional(s.kind) }),
    output: answer('AllOwed', { owed: z.array(s.owed) }),
    run: async ({ space }, query) => ({ owed: await space.owed(query) }),
  }),
  stats: reading({
    path: '/api/stats',
    summary: 'Get statistics: how much mail there is and how long it takes',
    query: z.strictObject({}),
    output: s.stats,
    run: ({ space }) => space.stats(),
  }),
  traffic: reading({
    path: '/api/traffic',
    summary: 'List who writes to whom, the busiest pairs first',
    query: z.strictObject({ since: text }),
    output: answer('Traffic', {
      pairs: z.array(z.strictObject({ from: s.text, to: s.text, messages: s.count, lastAt: s.text })),
    }),
    run: async ({ core }, { since }) => ({
      pairs: await core.query((source) => traffic(source, since === undefined ? 0 : parseTime(since))),
    }),
  }),
  series: reading({
    path: '/api/series',
    summary: 'Get statistics over time. The percentiles are of the time from sending to being shown',
    query: z.strictObject({ from: text, to: text, buckets: whole }),
    output: answer('Series', {
      buckets: z.array(
        z.strictObject({
          ...{ at: s.text, sent: s.count, handled: s.count, pending: s.count },
          ...{ p50Ms: nullableMs, p95Ms: nullableMs, p99Ms: nullableMs },
        }),
      ),
      agents: z.array(
        z.strictObject({
          ...{ name: s.text, sent: s.count, received: s.count, pending: s.count },
          oldestPendingAt: z.nullable(s.text),
        }),
      ),
    }),
    async run({ space, survey }, { from, to, ...rest }) {
      const range = {
        ...(from === undefined ? {} : { from: parseTime(from) }),
        ...(to === undefined ? {} : { to: parseTime(to) }),
      }
      const { agents } = await space.stats()
      return {
        buckets: await survey.series({ ...range, ...rest }),
        agents: agents.map(({ name, sent, received, pending, oldestWaiting }) => ({
          ...{ name, sent, received, pending, oldestPendingAt: oldestWaiting },
        })),
      }
    },
  }),
  replay: reading({
    path: '/api/replay',
    summary: 'Get the space as it was after an entry of its journal',
    query: z.strictObject({ at: whole }),
    output: answer('Replay', {
      ...{ seq: s.count, at: s.text, first: s.count, last: s.count, firstAt: s.text, lastAt: s.text },
      agents: z.array(
        z.strictObject({ name: s.text, state: s.text, roles: z.array(s.text), unread: s.count }),
      ),
      recent: z.array(
        z.strictObject({
          ...{ seq: s.count, at: s.text, kind: s.text, text: s.text },
          message: z.optional(brief),
        }),
      ),
      totals,
    }),
    run: ({ survey }, { at }) => survey.replay(at),
  }),
  entries: reading({
    path: '/api/entries',
    summary: 'List entries of the journal after a sequence number, in order',
    query: z.strictObject({ after: whole, limit: whole }),
    output: answer('Entries', { entries: z.array(s.entry), seq: s.count }),
    run: ({ survey }, { after = 0, limit }) => survey.entries(after, limit),
  }),
}
