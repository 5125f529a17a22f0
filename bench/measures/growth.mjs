/** 8. How each cost grows: the same work at n, 10n, 100n. */
import { Child } from '../lib/child.mjs'
import { duration, number, table, times } from '../lib/format.mjs'
import { flight64, one } from '../lib/modes.mjs'
import { question } from '../lib/questioning.mjs'
import { takeTurn } from '../lib/race.mjs'
import { median } from '../lib/stats.mjs'
import { growthChart } from '../lib/svg.mjs'
import { questionLabels, questions, readers } from '../readers/index.mjs'

export const name = 'growth'
export const title = 'Growth'
/** Its plot of broadcasts is drawn from what they measured. */
export const needs = ['broadcast']

const shapes = { handled: 'all handled but 50', unread: 'all unread' }
const modes = [one, flight64]

export const steps = ({ times: { growthRounds }, sizes }) =>
  growthRounds * (Object.keys(shapes).length * questions.length + sizes.growth.length)

export async function run(ctx) {
  const sizes = ctx.sizes.growth
  const { growthRounds: rounds, askMs } = ctx.times
  await ctx.histories.prepare(
    sizes.flatMap((n) => Object.keys(shapes).map((shape) => ({ reader: 'mailbox', n, shape }))),
  )
  const costs = []
  for (const shape of Object.keys(shapes)) {
    costs.push(
      ...(await question(
        ctx,
        'mailbox',
        sizes.map((n) => ({ n, shape })),
        { rounds, warmupMs: 2 * askMs, ms: askMs },
      )),
    )
  }
  // Sending comes last, because it adds to the histories.
  const sends = await sendTo(ctx, sizes)
  return { sizes, costs, sends }
}

/** A few sends to histories of different lengths, in turns. */
async function sendTo(ctx, sizes) {
  const { growthRounds: rounds, growthMs } = ctx.times
  const found = new Map()
  for (let round = 0; round < rounds; round++) {
    for (const n of sizes) {
      ctx.progress.step(`send with ${number(n)} of history`)
      for (const mode of modes) {
        const { dir, drop } = await ctx.histories.writable('mailbox', n, 'unread')
        const child = new Child('sender.mjs', `growth-send-${mode.name}-${n}`)
        await child.ask('open', { peer: 'mailbox', mode, address: dir })
        const { parts, settleMs } = await takeTurn([child], { warmupMs: growthMs / 2, ms: growthMs })
        await child.ask('close')
        await child.stop()
        drop()
        const key = `${mode.name} ${n}`
        const each = (parts[0].ms + settleMs) / parts[0].messages
        found.set(key, { n, mode: mode.name, each: [...(found.get(key)?.each ?? []), each] })
      }
    }
  }
  return [...found.values()].map(({ each, ...rest }) => ({ ...rest, meanMs: median(each) }))
}

/** The lines of every plot: ours, and those of peers where the same run has them. */
function lines({ costs, sends }, results) {
  const all = {
    send: modes.map((mode) => ({
      label: `agent-mailbox, ${mode.label}`,
      ours: true,
      points: sends.filter((send) => send.mode === mode.name).map(({ n, meanMs }) => [n, meanMs]),
    })),
  }
  const peers = results.read?.costs.filter(({ reader }) => reader !== 'mailbox') ?? []
  for (const asked of questions) {
    const ours = Object.entries(shapes).map(([shape, label]) => ({
      label: `agent-mailbox, ${label}`,
      ours: true,
      points: pointsOf(costs, 'mailbox', shape, asked),
    }))
    const others = readers.map(({ name: reader, title: who }) => ({
      label: `${who}, all handled but 50`,
      points: pointsOf(peers, reader, 'handled', asked),
    }))
    all[asked] = [...ours, ...others].filter(({ points }) => points.length > 1)
  }
  // It is there unless it failed.
  if (results.broadcast) {
    all.broadcast = [
      {
        label: 'to all',
        ours: true,
        points: results.broadcast.results.map(({ agents, toAll }) => [agents, toAll.p50]),
      },
      {
        label: 'to one of them',
        points: results.broadcast.results.map(({ agents, direct }) => [agents, direct.p50]),
      },
    ]
  }
  return all
}

const pointsOf = (costs, reader, shape, asked) =>
  costs
    .filter((cost) => cost.reader === reader && cost.shape === shape && cost.question === asked)
    .map(({ n, meanMs }) => [n, meanMs])

const labels = { send: 'durable send', ...questionLabels, broadcast: 'broadcast' }

export function report(data, results) {
  const { sizes } = data
  const drawn = lines(data, results)
  const rows = Object.entries(drawn)
    .filter(([what]) => what !== 'broadcast')
    .flatMap(([what, series]) =>
      series
        .filter(({ ours }) => ours)
        .map(({ label, points }) => [
          labels[what],
          label.replace('agent-mailbox, ', ''),
          ...sizes.map((n) => duration(points.find(([x]) => x === n)?.[1])),
          times(points.at(-1)[1] / points[0][1]),
        ]),
    )
  const images = Object.keys(drawn).map((what) => `![growth of ${labels[what]}](growth-${what}.svg)`)
  return `The mean time of one operation with histories of growing length; a flat line means that the past costs nothing. Both axes are logarithmic. For sends it is the time divided by the number of messages, index included.

${table(['agent-mailbox', '', ...sizes.map(number), 'last to first'], rows, `ll${'r'.repeat(sizes.length + 1)}`)}

${images.join('\n\n')}`
}

export function plots(data, results) {
  const drawn = Object.entries(lines(data, results)).map(([what, series]) => {
    const xLabel = what === 'broadcast' ? 'agents in the space' : 'messages in the history'
    return [
      `growth-${what}.svg`,
      growthChart({ title: `How the cost grows: ${labels[what]}`, xLabel, series }),
    ]
  })
  return Object.fromEntries(drawn)
}
