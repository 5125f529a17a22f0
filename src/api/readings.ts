import * as z from 'zod/mini'
import { needs } from '../conversation/registry.ts'
import type { Reading } from './operation.ts'
import * as s from './schemas.ts'

/** Queries come as text; what is not a number stays text, and is refused as one. */
const whole = z.optional(
  z.pipe(
    z.transform((value: unknown) =>
      typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    s.count,
  ),
)
const text = z.optional(z.string())
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
const answer = (id: string, fields: z.core.$ZodShape) => s.name(id, z.strictObject(fields))

/** Everything there is to look at. Looking never changes anything. */
export const readings = {
  space: {
    path: '/api/space',
    summary: 'The space: its identity, its settings, how far its journal goes, and who you are',
    query: z.strictObject({}),
    output: answer('SpaceInfo', {
      ...{ id: s.text, version: s.text, seq: s.count, at: s.text, you: s.text },
      settings: z.record(z.string(), z.unknown()),
    }),
  },
  overview: {
    path: '/api/overview',
    summary: 'Everything at a glance',
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
  },
  agents: {
    path: '/api/agents',
    summary: 'The roster, as it is at this moment',
    query: z.strictObject({}),
    output: answer('Roster', { agents: z.array(s.agent) }),
  },
  threads: {
    path: '/api/threads',
    summary: 'Threads, the newest activity first',
    query: z.strictObject({ tag: text, agent: text, ...page }),
    output: answer('ThreadPage', { threads: z.array(threadSummary), next: z.nullable(s.text) }),
  },
  thread: {
    path: '/api/threads/{id}',
    summary: 'A whole thread, with where each message stands',
    query: z.strictObject({ id: s.text }),
    output: answer('ThreadInFull', {
      messages: z.array(
        z.extend(s.storedMessage, {
          receipts: z.array(z.strictObject({ owner: s.text, box: s.text, state: s.text })),
        }),
      ),
    }),
  },
  message: {
    path: '/api/messages/{id}',
    summary: 'A message with the ladder of each recipient',
    query: z.strictObject({ id: s.text }),
    output: s.shownMessage,
  },
  search: {
    path: '/api/search',
    summary: 'Search all messages; `is:unread` is about you',
    query: z.strictObject({ q: s.text, ...page }),
    output: s.messagePage,
  },
  needsYou: {
    path: '/api/needs-you',
    summary: 'What waits for the person: the urgent first, then the oldest',
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
  },
  dead: {
    path: '/api/dead',
    summary: 'Dead letters, the newest first',
    query: z.strictObject({ from: text, ...page }),
    output: s.deadLetters,
  },
  owed: {
    path: '/api/owed',
    summary: 'What is open between agents, the oldest first',
    query: z.strictObject({ by: text, to: text, kind: z.optional(s.kind) }),
    output: answer('AllOwed', { owed: z.array(s.owed) }),
  },
  stats: {
    path: '/api/stats',
    summary: 'How much mail there is and how long it takes',
    query: z.strictObject({}),
    output: s.stats,
  },
  traffic: {
    path: '/api/traffic',
    summary: 'Who writes to whom, the busiest first',
    query: z.strictObject({ since: text }),
    output: answer('Traffic', {
      pairs: z.array(z.strictObject({ from: s.text, to: s.text, messages: s.count, lastAt: s.text })),
    }),
  },
  series: {
    path: '/api/series',
    summary: 'Figures over time. Times of the percentiles are from sending to being shown',
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
  },
  replay: {
    path: '/api/replay',
    summary: 'The space as it was after an entry of its journal',
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
  },
  entries: {
    path: '/api/entries',
    summary: 'Entries of the journal after a place, in order',
    query: z.strictObject({ after: whole, limit: whole }),
    output: answer('Entries', { entries: z.array(s.entry), seq: s.count }),
  },
} as const satisfies Record<string, Reading>
