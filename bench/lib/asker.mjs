/** A process that holds one history and asks it things. */
import { readerByName } from '../readers/index.mjs'
import { serve } from './child.mjs'
import { expected } from './corpus.mjs'
import { peakMemory } from './machine.mjs'
import { Samples, summarize } from './stats.mjs'

let held

serve({
  async fill({ reader, dir, n, shape }, note) {
    const started = performance.now()
    await readerByName(reader).fill(dir, n, shape, note)
    return performance.now() - started
  },

  async open({ reader, dir, n, shape }) {
    held = { n, shape, answers: await readerByName(reader).open(dir, n, shape) }
  },

  /** Asks one question over and over: `warmupMs`, then `ms`, but never fewer than `least` times. */
  async ask({ question, warmupMs, ms, least }) {
    const answer = held.answers[question]
    if (answer === undefined) return undefined
    const wanted = expected(question, held.n, held.shape)
    let k = 0
    const loop = async (until, calls, samples) => {
      for (let now = performance.now(); calls > 0 || now < until; calls--) {
        const started = now
        const found = await answer(k++)
        now = performance.now()
        samples.add(now - started)
        if (found !== wanted)
          throw new Error(
            `${question} found ${found} instead of ${wanted} in ${held.n} messages (${held.shape})`,
          )
      }
    }
    if (warmupMs > 0) await loop(performance.now() + warmupMs, 1, new Samples())
    const samples = new Samples()
    await loop(performance.now() + ms, least, samples)
    return summarize(samples.take())
  },

  memory: () => ({ ...process.memoryUsage(), peak: peakMemory() }),

  async close() {
    await held.answers.close()
    held = undefined
  },
})
