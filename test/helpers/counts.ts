import { expect } from 'vitest'
import { createMetrics } from '../../src/hub/metrics.ts'
import type { Stats } from '../../src/query/stats.ts'
import type { Space } from '../../src/space/api.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { Survey } from '../../src/space/survey.ts'

/** Metrics watch the whole process, so that all spaces of a test share one set of them. */
let measured: DiskSpace | undefined
let stats: Promise<Stats> | undefined
const metrics = createMetrics({
  agents: () => measured!.agents(),
  stats: () => (stats = measured!.stats()),
  lastSeq: () => measured!.lastSeq(),
} satisfies Partial<Space> as unknown as Space)

/** How much is unread for an agent, wherever somebody can read it. */
interface Unread {
  inbox: number
  count: number
  /** By priority, the lowest first, as `count` and the console's overview have it. */
  byPriority: number[]
  stats: number
  overview: number
  overviewByPriority: number[]
  metric: number
}

/** What the readings of a space say in numbers. */
export interface Figures {
  unread: Map<string, Unread>
  dead: { stats: number; overview: number; metric: number }
  /** What waits for the person, by the console's overview. */
  needsYou: number
  /** Agents by state, by `/metrics`. */
  states: Record<string, number>
}

/**
 * Compares how much is unread, for every agent, wherever somebody can read it: its inbox, `count`, `stats`, the
 * overview that the console shows, and `/metrics`.
 */
export class CountsOf {
  readonly #space: DiskSpace
  readonly #survey: Survey

  constructor(space: DiskSpace) {
    this.#space = space
    this.#survey = new Survey(space.core)
  }

  async figures(): Promise<Figures> {
    const overview = await this.#survey.overview()
    measured = this.#space
    const printed = await metrics.print()
    const { agents, deadLetters } = await stats!
    const gauge = (name: string) => Number(printed.match(new RegExp(`^${name} (\\d+)$`, 'm'))?.[1])
    const unread = new Map<string, Unread>()
    for (const { name, pending } of agents) {
      const mailbox = await this.#space.mailbox(name, { join: false })
      const counted = await mailbox.count()
      const { messages } = await mailbox.inbox({ unread: true, limit: 1_000 })
      const label = JSON.stringify(name).slice(1, -1)
      const listed = overview.unread[name]!
      unread.set(name, {
        ...{ inbox: messages.length, count: counted.unread, stats: pending, overview: listed.unread },
        byPriority: Object.values(counted.byPriority),
        overviewByPriority: Object.values(listed.byPriority),
        metric: gauge(`mailbox_pending\\{agent="${label}"\\}`),
      })
    }
    const states = [...printed.matchAll(/^mailbox_agents\{state="(\w+)"\} (\d+)$/gm)]
    return {
      unread,
      dead: { stats: deadLetters, overview: overview.dead, metric: gauge('mailbox_dead_letters') },
      needsYou: overview.needsYou,
      states: Object.fromEntries(states.map(([, state, n]) => [state, Number(n)])),
    }
  }

  async expectEqual(when = ''): Promise<void> {
    const { unread } = await this.figures()
    for (const [name, found] of unread) {
      const { count, byPriority } = found
      expect(
        { ...found, sum: byPriority.reduce((total, n) => total + n, 0) },
        `unread mail of ${name} ${when}`,
      ).toEqual({
        ...{ inbox: count, count, sum: count, stats: count, overview: count, metric: count },
        ...{ byPriority, overviewByPriority: byPriority },
      })
    }
  }
}
