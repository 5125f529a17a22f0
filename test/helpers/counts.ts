import { expect } from 'vitest'
import { createMetrics } from '../../src/hub/metrics.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { Survey } from '../../src/space/survey.ts'

/**
 * Compares how much is unread, for every agent, wherever somebody can read it: its inbox, `count`, `stats`, the
 * overview that the console shows, and `/metrics`.
 */
export class CountsOf {
  readonly #space: DiskSpace
  readonly #survey: Survey
  readonly #metrics: ReturnType<typeof createMetrics>

  constructor(space: DiskSpace) {
    this.#space = space
    this.#survey = new Survey(space.core)
    this.#metrics = createMetrics(space)
  }

  async expectEqual(when = ''): Promise<void> {
    const overview = await this.#survey.overview()
    const { agents } = await this.#space.stats()
    const printed = await this.#metrics.print()
    for (const { name, pending } of agents) {
      const mailbox = await this.#space.mailbox(name, { join: false })
      const { unread, byPriority } = await mailbox.count()
      const { messages } = await mailbox.inbox({ unread: true, limit: 1_000 })
      const label = JSON.stringify(name).slice(1, -1)
      const metric = Number(
        printed.match(new RegExp(`^mailbox_pending\\{agent="${label}"\\} (\\d+)$`, 'm'))?.[1],
      )
      const sum = Object.values(byPriority).reduce((total, n) => total + n, 0)
      expect(
        {
          inbox: messages.length,
          count: unread,
          sum,
          stats: pending,
          overview: overview.unread[name],
          metric,
        },
        `unread mail of ${name} ${when}`,
      ).toEqual({
        ...{ inbox: unread, count: unread, sum: unread, stats: unread, metric: unread },
        overview: { unread, byPriority },
      })
    }
  }
}
