const kept = 21

/** How long messages take from one side to the other, in ms: the median of the last ones; nothing before the first. */
export interface LagFigures {
  inMs?: number
  outMs?: number
}

/** What was written while a bridge runs. What waited before that says nothing of the bridge. */
export class Lag {
  readonly #startedAt: number
  readonly #recent: Record<keyof LagFigures, number[]> = { inMs: [], outMs: [] }

  constructor(startedAt: number) {
    this.#startedAt = startedAt
  }

  note(way: keyof LagFigures, writtenAt: number | undefined, now: number): void {
    if (writtenAt === undefined || writtenAt < this.#startedAt) return
    this.#recent[way] = [...this.#recent[way], Math.max(0, Math.round(now - writtenAt))].slice(-kept)
  }

  get figures(): LagFigures {
    const medians = Object.entries(this.#recent)
      .filter(([, times]) => times.length > 0)
      .map(([way, times]) => [way, times.toSorted((a, b) => a - b)[times.length >> 1]])
    return Object.fromEntries(medians) as LagFigures
  }
}
