/** 1. What the disk allows: an append and an fdatasync, with no program around it. */
import { duration, rate, table } from '../lib/format.mjs'
import { enter, race } from '../lib/race.mjs'

export const name = 'limit'
export const title = 'The limit'

export const steps = ({ times }) => 3 * times.rounds

export async function run(ctx) {
  const entered = await enter(ctx, ({ kind }) => kind === 'limit')
  return { standings: await race(ctx, entered, ctx.times) }
}

export function report({ standings }) {
  const rows = standings.map(({ title: what, mode, rate: messages, latencyMs: { p50, p99, max } }) => [
    `${what}, ${mode.label}`,
    rate(messages),
    duration(p50),
    duration(p99),
    duration(max),
  ])
  return `Lines of 700 bytes, \`write\` and \`fdatasync\` by blocking calls. The times are of one call, which for a batch carries 64 lines. What an aim calls the limit is the append; a file that does not have to grow can be synced faster than that.

${table(['', 'lines', 'p50', 'p99', 'max'], rows, 'lrrrr')}`
}
