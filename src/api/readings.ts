import * as z from 'zod/mini'
import { parseTime } from '../model/time.ts'
import { auditLines, auditTrail } from '../query/audit.ts'
import { threads, threadWithReceipts } from '../query/threads.ts'
import { trace } from '../query/trace.ts'
import { traffic } from '../query/traffic.ts'
import { unreadableRecords } from '../query/unreadable.ts'
import { concerns } from './mailbox-filter.ts'
import { ownMailbox } from './own-mailbox.ts'
import { personReadings } from './person-readings.ts'
import { nothing, page, reading, text, whole } from './reading.ts'
import * as s from './schemas.ts'
import { isBetween, mustHaveSome, ownOf, withoutSecret, withoutSession } from './shown.ts'

const threadSummary = s.object('ThreadSummary', {
  ...s.texts('id', 'subject'),
  messages: s.count,
  participants: z.array(s.text),
  tags: z.array(s.text),
  ...s.texts('firstAt', 'lastAt', 'lastFrom', 'lastType', 'preview'),
  lastSeq: s.count,
  priority: s.priority,
})
const channel = z.strictObject({ tag: s.text, messages: s.count, lastAt: s.text })
const totals = z.strictObject({ messages: s.count })
const brief = z.strictObject({
  ...{ ...s.texts('id', 'from'), to: z.array(s.text), ...s.texts('subject', 'type'), priority: s.priority },
})

/** All readings of the space. None of them changes anything. */
export const readings = {
  space: reading({
    path: '/api/space',
    summary: 'Get the space: its id, settings and last sequence number, and who you are',
    input: nothing,
    output: s.object('SpaceInfo', {
      ...{ ...s.texts('id', 'version'), seq: s.count, ...s.texts('at', 'you') },
      settings: z.record(z.string(), z.unknown()),
      unreadable: z.array(s.unreadableRecord),
    }),
    async run({ space, core, caller, readsAll, version }) {
      const { id, settings } = space
      const at = new Date(space.now()).toISOString()
      const shown = { ...settings, webhook: withoutSecret(settings.webhook) }
      const unreadable = readsAll ? await core.query(unreadableRecords) : []
      return { id, version, seq: await space.lastSeq(), at, you: caller.agent, settings: shown, unreadable }
    },
  }),
  overview: reading({
    path: '/api/overview',
    ofAll: true,
    summary: 'Get an overview of the space',
    input: nothing,
    output: s.object('Overview', {
      seq: s.count,
      space: z.strictObject(s.texts('id', 'name')),
      agents: z.array(s.agent),
      ...s.counts('needsYou', 'asksYou', 'dead'),
      unread: z.record(z.string(), s.unreadCount),
      channels: z.array(channel),
      totals,
      unreadable: z.array(s.unreadableRecord),
    }),
    run: ({ survey }) => survey.overview(),
  }),
  agents: reading({
    path: '/api/agents',
    summary: 'List the agents, as they are at this moment',
    input: nothing,
    output: s.object('Roster', { agents: z.array(s.agent) }),
    async run({ space, caller, readsAll }) {
      const agents = await space.agents()
      if (readsAll) return { agents }
      return { agents: agents.map((agent) => (agent.name === caller.agent ? agent : withoutSession(agent))) }
    },
  }),
  threads: reading({
    path: '/api/threads',
    summary: 'List threads, the most recently active first',
    input: z.strictObject({ tag: text, agent: text, ...page }),
    output: s.object('ThreadPage', { threads: z.array(threadSummary), next: z.nullable(s.text) }),
    run: ({ core, caller, readsAll }, query) =>
      core.query((source) => {
        if (readsAll) return threads(source, query)
        const { hasThread } = ownOf(source, caller.agent)
        const { next, ...page } = threads(source, { ...query, agent: caller.agent })
        return { threads: page.threads.filter(({ id }) => hasThread(id)), next }
      }),
  }),
  thread: reading({
    path: '/api/threads/{id}',
    summary: 'Get a whole thread, with the state of each message',
    input: z.strictObject({ id: s.text }),
    output: s.object('ThreadInFull', {
      messages: z.array(
        z.extend(s.storedMessage, {
          receipts: z.array(z.strictObject(s.texts('owner', 'box', 'state'))),
        }),
      ),
    }),
    run: async ({ core, caller, readsAll }, { id }) => ({
      messages: await core.query((source) => {
        const messages = threadWithReceipts(source, id)
        return readsAll ? messages : mustHaveSome(messages.filter(ownOf(source, caller.agent).has), id)
      }),
    }),
  }),
  trace: reading({
    path: '/api/threads/{id}/trace',
    ofAll: true,
    summary: 'Get what became of each message of a thread, step by step',
    input: z.strictObject({ id: s.text }),
    output: s.trace,
    run: ({ space, core }, { id }) => core.query((source) => trace(source, id, space.now())),
  }),
  message: reading({
    path: '/api/messages/{id}',
    summary: 'Get a message and its states for each recipient',
    input: z.strictObject({ id: s.text }),
    output: s.shownMessage,
    async run({ space, core, caller, readsAll }, { id }) {
      const shown = await space.show(id)
      if (!readsAll)
        await core.query((source) =>
          mustHaveSome([shown.message].filter(ownOf(source, caller.agent).has), id),
        )
      return shown
    },
  }),
  search: reading({
    path: '/api/search',
    summary: 'Search all messages that you may read; `is:unread` refers to your mailbox',
    input: z.strictObject({ q: s.text, counts: z.exactOptional(z.enum(['true', 'false'])), ...page }),
    output: s.searchPage,
    async run({ space, core, caller, readsAll }, { q, counts, ...page }) {
      const mailbox = await space.mailboxOfRun(caller.agent, { join: false })
      return ownMailbox(core, mailbox, () => !readsAll).search(q, { ...page, counts: counts === 'true' })
    },
  }),
  ...personReadings,
  dead: reading({
    path: '/api/dead',
    summary: 'List dead letters, newest first',
    input: z.strictObject({ from: text, ...page }),
    output: s.deadLetters,
    run: ({ space, caller, readsAll }, query) =>
      space.deadLetters(readsAll ? query : { ...query, from: caller.agent }),
  }),
  owed: reading({
    path: '/api/owed',
    summary: 'List what agents owe each other, oldest first',
    input: z.strictObject({ by: text, to: text, kind: z.exactOptional(s.kind) }),
    output: s.object('AllOwed', { owed: z.array(s.owed) }),
    async run({ space, caller, readsAll }, query) {
      const owed = await space.owed(query)
      return { owed: readsAll ? owed : owed.filter((one) => isBetween(one, caller.agent)) }
    },
  }),
  stats: reading({
    path: '/api/stats',
    ofAll: true,
    summary: 'Get statistics: how much mail there is and how long it takes',
    input: nothing,
    output: s.stats,
    run: ({ space }) => space.stats(),
  }),
  audit: reading({
    path: '/api/audit',
    ofAll: true,
    summary:
      'List what happened besides mail, newest first: refusals, tokens, keys, settings, imports, repairs',
    input: z.strictObject(page),
    output: s.audit,
    run: ({ core }, query) => core.query((source) => auditLines(source, query)),
  }),
  auditEntries: reading({
    path: '/api/audit/entries',
    ofAll: true,
    summary: 'List the same as entries of the journal, newest first',
    input: z.strictObject(page),
    output: s.auditEntries,
    run: ({ core }, query) => core.query((source) => auditTrail(source, query)),
  }),
  traffic: reading({
    path: '/api/traffic',
    ofAll: true,
    summary:
      'List who writes to whom, the busiest pairs first; `roles=folded` counts what a holder took as theirs',
    input: z.strictObject({ since: text, until: text, roles: z.exactOptional(z.enum(['folded', 'shown'])) }),
    output: s.object('Traffic', {
      pairs: z.array(z.strictObject({ ...s.texts('from', 'to'), messages: s.count, lastAt: s.text })),
    }),
    run: async ({ core }, { since, until, roles }) => ({
      pairs: await core.query((source) =>
        traffic(source, {
          ...(since !== undefined && { since: parseTime(since) }),
          ...(until !== undefined && { until: parseTime(until) }),
          foldsRoles: roles === 'folded',
        }),
      ),
    }),
  }),
  series: reading({
    path: '/api/series',
    ofAll: true,
    summary:
      'Get statistics over time. The percentiles are of the time from sending to being shown. `agents=no` leaves out those of each agent',
    input: z.strictObject({
      from: text,
      to: text,
      buckets: whole,
      agents: z.exactOptional(z.enum(['yes', 'no'])),
    }),
    output: s.object('Series', {
      buckets: z.array(
        z.strictObject({
          at: s.text,
          ...s.counts('sent', 'handled', 'pending'),
          ...s.durations('p50Ms', 'p95Ms', 'p99Ms'),
        }),
      ),
      agents: z.array(
        z.strictObject({
          name: s.text,
          ...s.counts('sent', 'received', 'pending'),
          oldestPendingAt: z.nullable(s.text),
        }),
      ),
      events: z.array(
        z.strictObject({ at: s.text, kind: z.enum(['died', 'restarted', 'hub_started']), agent: s.text }),
      ),
    }),
    async run({ space, survey }, { from, to, agents: which = 'yes', ...rest }) {
      const range = {
        ...(from === undefined ? {} : { from: parseTime(from) }),
        ...(to === undefined ? {} : { to: parseTime(to) }),
      }
      const { agents } = which === 'no' ? { agents: [] } : await space.stats()
      return {
        ...(await survey.series({ ...range, ...rest })),
        agents: agents.map(({ name, sent, received, pending, oldestWaiting }) => ({
          ...{ name, sent, received, pending, oldestPendingAt: oldestWaiting },
        })),
      }
    },
  }),
  replay: reading({
    path: '/api/replay',
    ofAll: true,
    summary: 'Get the space as it was after an entry of its journal',
    input: z.strictObject({ at: whole }),
    output: s.object('Replay', {
      ...{ seq: s.count, at: s.text, ...s.counts('first', 'last'), ...s.texts('firstAt', 'lastAt') },
      agents: z.array(
        z.strictObject({ ...s.texts('name', 'state'), roles: z.array(s.text), unread: s.count }),
      ),
      recent: z.array(
        z.strictObject({ seq: s.count, ...s.texts('at', 'kind', 'text'), message: z.optional(brief) }),
      ),
      totals,
    }),
    run: ({ survey }, { at }) => survey.replay(at),
  }),
  entries: reading({
    path: '/api/entries',
    summary: 'List entries of the journal after a sequence number, in order',
    input: z.strictObject({ after: whole, limit: whole }),
    output: s.entries,
    async run({ survey, caller, readsAll }, { after = 0, limit }) {
      if (readsAll) return survey.entries(after, limit)
      const wants = concerns(caller.agent, await survey.agent(caller.agent))
      // A page without anything for the caller is not the end.
      for (let from = after; ; ) {
        const { entries, seq } = await survey.entries(from, limit)
        const own = entries.filter(wants)
        if (own.length > 0 || entries.length === 0) return { entries: own, seq }
        from = entries.at(-1)!.seq
      }
    },
  }),
}
