/** Asks several histories the same questions in turns, so that they share the machine's moods. */

import { questions } from '../readers/index.mjs'
import { Child } from './child.mjs'
import { expected } from './corpus.mjs'
import { median } from './stats.mjs'

/**
 * @typedef {{ reader: string, n: number, shape: import('../readers/index.mjs').Shape, question: string,
 *   meanMs: number, p50: number, p99: number, calls: number }} Cost
 */

/** One of our own histories must be open for every size at once; a peer's come one after another. */
export async function question(ctx, reader, cases, { rounds, warmupMs, ms, least = 2, asked = questions }) {
  const children = []
  try {
    for (const { n, shape } of cases) {
      const dir = await ctx.histories.get(reader, n, shape)
      const child = new Child('asker.mjs', `ask-${reader}-${shape}-${n}`)
      await child.ask('open', { reader, dir, n, shape })
      children.push(child)
    }
    return await askInTurns(ctx, reader, cases, children, { rounds, warmupMs, ms, least, asked })
  } finally {
    for (const child of children) await child.stop()
  }
}

async function askInTurns(ctx, reader, cases, children, { rounds, warmupMs, ms, least, asked }) {
  const parts = new Map()
  for (let round = 0; round < rounds; round++) {
    for (const name of asked) {
      ctx.progress.step(`${reader}: ${name}`)
      for (const [place, { n, shape }] of cases.entries()) {
        const found = await children[place].ask('ask', {
          question: name,
          warmupMs: round === 0 ? warmupMs : 0,
          ms,
          least,
        })
        if (found === undefined) continue
        const key = `${name} ${place}`
        const known = parts.get(key) ?? {
          reader,
          n,
          shape,
          question: name,
          results: expected(name, n, shape),
          rounds: [],
        }
        known.rounds.push(found)
        parts.set(key, known)
      }
    }
  }
  return [...parts.values()].map(({ rounds: all, ...rest }) => ({
    ...rest,
    meanMs: median(all.map(({ mean }) => mean)),
    p50: median(all.map(({ p50 }) => p50)),
    p99: Math.max(...all.map(({ p99 }) => p99)),
    calls: all.reduce((sum, { samples }) => sum + samples, 0),
  }))
}
