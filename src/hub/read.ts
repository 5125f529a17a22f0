import type { readings } from '../api/readings.ts'
import { MailboxError } from '../base/errors.ts'
import { parseTime } from '../model/time.ts'
import type { DiskSpace } from '../space/space.ts'
import type { Survey } from '../space/survey.ts'
import type { Caller } from './tokens.ts'

export interface Look {
  space: DiskSpace
  survey: Survey
  caller: Caller
  version: string
  /** Whatever the query says; its schema has checked it. */
  query: Record<string, never>
}

/** How each reading is answered. */
export const readers: Record<keyof typeof readings, (look: Look) => Promise<unknown>> = {
  async space({ space, caller, version }) {
    const { id, settings } = space
    const at = new Date(space.now()).toISOString()
    return { id, version, seq: await space.lastSeq(), at, you: caller.agent, settings }
  },
  overview: ({ survey }) => survey.overview(),
  agents: async ({ space }) => ({ agents: await space.agents() }),
  threads: ({ survey, query }) => survey.threads(query),
  thread: async ({ survey, query }) => ({ messages: await survey.thread(query['id']!) }),
  message: ({ space, query }) => space.show(query['id']!),
  async search({ space, caller, query: { q, ...page } }) {
    const mailbox = await space.mailbox(caller.agent, { join: false })
    return mailbox.search(q!, page)
  },
  needsYou: async ({ survey, caller }) => {
    if (caller.isPerson) return { items: await survey.needsYou() }
    throw new MailboxError('not_permitted', 'this is about the person', {
      hint: `what an agent owes: POST /api/mailboxes/${encodeURIComponent(caller.agent)}/owed`,
    })
  },
  dead: ({ space, query }) => space.deadLetters(query),
  owed: async ({ space, query }) => ({ owed: await space.owed(query) }),
  stats: ({ space }) => space.stats(),
  traffic: async ({ survey, query }) => ({ pairs: await survey.traffic(timeOf(query['since'])) }),
  async series({ space, survey, query }) {
    const { buckets, ...times } = query
    const range = Object.fromEntries(Object.entries(times).map(([name, text]) => [name, timeOf(text)]))
    const { agents } = await space.stats()
    return {
      buckets: await survey.series({ ...range, ...(buckets === undefined ? {} : { buckets }) }),
      agents: agents.map(({ name, sent, received, pending, oldestWaiting }) => ({
        ...{ name, sent, received, pending, oldestPendingAt: oldestWaiting },
      })),
    }
  },
  replay: ({ survey, query }) => survey.replay(query['at']),
  entries: ({ survey, query }) => survey.entries(query['after'] ?? 0, query['limit']),
}

const timeOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : parseTime(text)
