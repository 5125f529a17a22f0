import * as z from 'zod/mini'
import { matterStates, needs } from '../conversation/registry.ts'
import { person } from '../model/agent.ts'
import { isSettingKey, settings } from '../model/settings.ts'
import { needSections } from '../query/needs.ts'
import { readPersonFile } from '../space/person-file.ts'
import { nothing, reading, text } from './reading.ts'
import * as s from './schemas.ts'
import { withoutSecret } from './shown.ts'

const digestLine = {
  ...s.texts('id', 'threadId', 'type', 'subject', 'from', 'at'),
  ...{ seq: s.count, to: z.array(s.text), encrypted: z.optional(z.literal(true)) },
}
const wait = z.strictObject(s.texts('agent', 'for', 'id', 'subject'))

/** What only the person asks for. */
export const personReadings = {
  needsYou: reading({
    path: '/api/needs-you',
    ofAll: true,
    summary:
      'List what waits for the person: what asks for something first, by how many agents it frees, priority and age',
    input: nothing,
    output: s.object('NeedsYou', {
      items: z.array(
        z.strictObject({
          kind: z.enum([...needs.keys()]),
          section: z.enum(needSections),
          message: s.storedMessage,
          since: s.text,
          until: z.optional(s.text),
          frees: z.array(wait),
          snoozedUntil: z.optional(s.text),
        }),
      ),
    }),
    run: async ({ survey }) => ({ items: await survey.needs() }),
  }),
  digest: reading({
    path: '/api/digest',
    ofAll: true,
    summary:
      'Get a digest for the person: what was decided and finished since a time, what waits, who is blocked and who died',
    input: z.strictObject({ since: text }),
    output: s.object('Digest', {
      ...s.texts('since', 'until'),
      decided: z.array(
        z.strictObject({
          ...digestLine,
          ...{ kind: s.kind, outcome: z.enum(matterStates) },
          ...s.texts('by', 'answer', 'says'),
        }),
      ),
      finished: z.array(
        z.strictObject({
          ...{ ...digestLine, outcome: z.enum(matterStates), by: s.text, note: z.optional(s.text) },
        }),
      ),
      needsYou: z.array(
        z.strictObject({
          ...{ ...digestLine, kind: z.enum([...needs.keys()]), priority: s.priority },
          ...{ until: z.optional(s.text), frees: z.array(s.text) },
        }),
      ),
      blocked: z.array(
        z.strictObject({
          ...s.texts('agent', 'for', 'id', 'subject', 'since'),
          ...{ seq: s.count, encrypted: z.optional(z.literal(true)) },
        }),
      ),
      died: z.array(
        z.strictObject({
          ...s.texts('agent', 'at'),
          ...{ reason: z.enum(['ended', 'silent']), unread: s.count, isBack: z.boolean() },
        }),
      ),
      lost: z.array(
        z.strictObject({ ...digestLine, state: s.receiptState, ...s.texts('recipient', 'reason') }),
      ),
      totals: z.strictObject(
        s.counts(
          ...(['messages', 'answered', 'decided', 'finished', 'failed'] as const),
          ...(['needsYou', 'blocked', 'died', 'lost'] as const),
        ),
      ),
    }),
    run: ({ space }, options) => space.digest(options),
  }),
  views: reading({
    path: '/api/views',
    ofAll: true,
    summary: "List the person's saved searches, and how many messages each finds",
    input: nothing,
    output: s.object('Views', {
      views: z.array(z.strictObject({ ...s.texts('name', 'query'), total: s.count, isMore: z.boolean() })),
    }),
    async run({ space, core }) {
      const mailbox = await space.mailboxOfRun(person, { join: false })
      const views = []
      for (const [name, query] of Object.entries(readPersonFile(core.dir).views)) {
        // A search that an earlier version saved may not be one any more.
        const found = await mailbox.search(query, { limit: 1, counts: true }).catch(() => undefined)
        views.push({ name, query, total: found?.total ?? 0, isMore: found?.isMore ?? false })
      }
      return { views }
    },
  }),
  settings: reading({
    path: '/api/settings',
    ofAll: true,
    summary: 'List the settings of the space, what each does, the tokens of its agents and its bridges',
    input: nothing,
    output: s.object('SettingRows', {
      dir: s.text,
      tokens: z.array(
        z.strictObject({
          ...{ ...s.texts('name', 'createdAt'), scopes: z.array(s.text) },
          ...{ expiresAt: z.optional(s.text), lastUsedAt: z.optional(s.text), refused: s.count },
        }),
      ),
      bridges: z.array(
        z.strictObject({
          ...{ ...s.texts('id', 'format', 'path', 'direction'), isRunning: z.boolean() },
          ...{ ...s.counts('linked', 'problems'), inMs: z.optional(s.count), outMs: z.optional(s.count) },
          ...{ process: z.optional(s.count), where: z.optional(s.text), silentForMs: z.optional(s.count) },
          ...{ lastProblem: z.optional(s.text), error: z.optional(s.text) },
        }),
      ),
      settings: z.array(
        z.strictObject({ ...s.texts('key', 'about'), value: z.unknown(), default: z.unknown() }),
      ),
    }),
    async run({ space, core, connections }) {
      const keys = Object.keys(settings).filter(isSettingKey)
      const shownValue = (key: (typeof keys)[number]) =>
        key === 'webhook' ? withoutSecret(space.settings.webhook) : space.settings[key]
      return {
        dir: core.dir,
        ...connections(),
        settings: keys.map((key) => ({
          ...{ key, about: settings[key].about, value: shownValue(key), default: settings[key].default },
        })),
      }
    },
  }),
}
