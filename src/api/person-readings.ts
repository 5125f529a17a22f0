import * as z from 'zod/mini'
import { needs } from '../conversation/registry.ts'
import { person } from '../model/agent.ts'
import { isSettingKey, settings } from '../model/settings.ts'
import { needSections } from '../query/needs.ts'
import { readPersonFile } from '../space/person-file.ts'
import { nothing, reading } from './reading.ts'
import * as s from './schemas.ts'
import { withoutSecret } from './shown.ts'

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
    summary: 'List the settings of the space: values, defaults and what each does',
    input: nothing,
    output: s.object('SettingRows', {
      dir: s.text,
      settings: z.array(
        z.strictObject({ ...s.texts('key', 'about'), value: z.unknown(), default: z.unknown() }),
      ),
    }),
    async run({ space, core }) {
      const keys = Object.keys(settings).filter(isSettingKey)
      const shownValue = (key: (typeof keys)[number]) =>
        key === 'webhook' ? withoutSecret(space.settings.webhook) : space.settings[key]
      return {
        dir: core.dir,
        settings: keys.map((key) => ({
          ...{ key, about: settings[key].about, value: shownValue(key), default: settings[key].default },
        })),
      }
    },
  }),
}
