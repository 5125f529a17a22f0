/** The numbers we report: middles and tails, never a mean alone. */

/** The value below which a share of the samples lies (nearest rank). `sorted` must be ascending. */
export function quantile(sorted, share) {
  if (sorted.length === 0) return Number.NaN
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]
}

/** @param {Iterable<number>} values */
export function median(values) {
  const sorted = Float64Array.from(values).sort()
  if (sorted.length === 0) return Number.NaN
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * @typedef {{ samples: number, mean: number, p50: number, p99: number, max: number }} Summary
 * @param {Iterable<number>} values
 * @returns {Summary}
 */
export function summarize(values) {
  const sorted = Float64Array.from(values).sort()
  let sum = 0
  for (const value of sorted) sum += value
  return {
    samples: sorted.length,
    mean: sum / sorted.length,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    max: sorted.at(-1) ?? Number.NaN,
  }
}

/** Samples with a bound: when it is full, every second one goes and only every second new one comes in. */
export class Samples {
  #values = new Float64Array(65_536)
  #length = 0
  #stride = 1
  #skip = 0

  add(value) {
    if (this.#skip > 0) {
      this.#skip--
      return
    }
    this.#skip = this.#stride - 1
    if (this.#length === this.#values.length) {
      for (let i = 0; i < this.#length / 2; i++) this.#values[i] = this.#values[2 * i]
      this.#length /= 2
      this.#stride *= 2
    }
    this.#values[this.#length++] = value
  }

  take() {
    return this.#values.slice(0, this.#length)
  }
}

/** A repeatable source of chance: the same run writes the same mail everywhere. */
export function createRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
