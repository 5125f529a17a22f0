/** 4. One message to everybody: what it costs the sender, and each of those who read it. */

import { Child } from '../lib/child.mjs'
import { duration, number, table, times } from '../lib/format.mjs'
import { dropDir, scratchDir } from '../lib/scratch.mjs'
import { median } from '../lib/stats.mjs'

export const name = 'broadcast'
export const title = 'Broadcast'

const agentCounts = [1, 10, 100, 1_000]
const unreadEach = 10

export const steps = ({ times: { rounds } }) => agentCounts.length * (rounds + 2)

export async function run(ctx) {
  const { rounds, sends } = ctx.times
  const spaces = []
  for (const agents of agentCounts) spaces.push(await open(agents))
  for (let round = 0; round <= rounds; round++) {
    for (const { agents, child, direct, toAll } of spaces) {
      ctx.progress.step(`${agents} agents`)
      const part = await child.ask('send', { count: sends })
      // The first round warms up.
      if (round === 0) continue
      direct.push(part.direct)
      toAll.push(part.toAll)
    }
  }
  const results = []
  for (const { agents, dir, child, direct, toAll } of spaces) {
    ctx.progress.step(`${agents} agents read`)
    await close(dir, child)
    const middle = (all) => ({
      meanMs: median(all.map(({ mean }) => mean)),
      p50: median(all.map(({ p50 }) => p50)),
      p99: Math.max(...all.map(({ p99 }) => p99)),
    })
    results.push({
      agents,
      direct: middle(direct),
      toAll: middle(toAll),
      read: await read(agents, true),
      readDirect: await read(agents, false),
    })
  }
  return { unreadEach, results }
}

async function open(agents) {
  const dir = scratchDir('broadcast')
  const child = new Child('broadcaster.mjs', `broadcast-${agents}`)
  await child.ask('open', { dir, agents })
  return { agents, dir, child, direct: [], toAll: [] }
}

async function close(dir, child) {
  await child.ask('close')
  await child.stop()
  dropDir(dir)
}

/** Reading starts from a space of its own: what the sends above left unread would be in the way. */
async function read(agents, toAll) {
  const { dir, child } = await open(agents)
  const costs = await child.ask('read', { toAll, count: unreadEach })
  await close(dir, child)
  return costs
}

export function report({ results, unreadEach: each }) {
  const sending = results.map(({ agents, direct, toAll }) => [
    number(agents),
    duration(direct.p50),
    duration(toAll.p50),
    times(toAll.p50 / direct.p50),
    duration(direct.p99),
    duration(toAll.p99),
  ])
  const reading = results.map(({ agents, read: all, readDirect: one }) => [
    number(agents),
    ...['count', 'inbox', 'check'].flatMap((verb) => [duration(one[verb].mean), duration(all[verb].mean)]),
  ])
  return `A durable send one after another, to one agent and to \`all\`, in the same space and in turns. A broadcast is one line in the journal, whoever reads it. The ratio is of the medians.

${table(['agents', 'direct, p50', 'to all, p50', 'to all / direct', 'direct, p99', 'to all, p99'], sending, 'rrrrrr')}

What reading costs each agent, with ${each} unread messages sent to it directly or to all (means; \`check\` marks them as shown, durably):

${table(['agents', 'count, direct', 'count, to all', 'inbox, direct', 'inbox, to all', 'check, direct', 'check, to all'], reading, 'rrrrrrr')}`
}

export function aims({ results }) {
  const { agents, direct, toAll } = results.at(-1)
  return [
    {
      aim: `send to ${number(agents)} agents against a direct send`,
      atMost: 1.2,
      measured: toAll.p50 / direct.p50,
    },
  ]
}
