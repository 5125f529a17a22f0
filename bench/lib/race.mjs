/**
 * Lets contestants send in turns. The machine's mood changes from second to second, so nobody has one
 * long go: everybody gets a short one in each round, on an empty store, and the median round counts.
 */
import { peers } from '../peers/index.mjs'
import { Child } from './child.mjs'
import { sharedNow } from './clock.mjs'
import { dropDir } from './scratch.mjs'
import { median, summarize } from './stats.mjs'

/**
 * @typedef {object} Standing
 * @property {string} peer
 * @property {string} title
 * @property {'ours' | 'limit' | 'peer'} kind
 * @property {boolean} durable
 * @property {string} durability
 * @property {import('../peers/index.mjs').Mode} mode
 * @property {string} [version]
 * @property {number[]} rates Messages a second, by round.
 * @property {number} rate Their median.
 * @property {import('./stats.mjs').Summary} latencyMs Of one call, over all rounds.
 */

/** Modes in which the named peers take part; those a machine lacks are left out and named. */
export async function enter(ctx, wanted = () => true) {
  const entered = []
  for (const peer of peers.filter(wanted)) {
    try {
      const reason = await peer.missing?.()
      if (reason !== undefined) throw new Error(reason)
      ctx.progress.note(`starting ${peer.title}`)
      entered.push({ peer, server: await peer.start() })
    } catch (error) {
      ctx.skip(peer.title, error.message)
    }
  }
  return entered
}

/**
 * Peers that no aim names run in fewer rounds.
 * @returns {Promise<Standing[]>}
 */
export async function race(ctx, entered, { rounds, peerRounds, warmupMs, ms }) {
  const starters = entered.flatMap(({ peer, server }) =>
    peer.modes.map((mode) => ({ peer, server, mode, rates: [], latencies: [], children: [] })),
  )
  const children = new Map()
  for (let round = 0; round < rounds; round++) {
    // There and back, so that nobody always follows the same neighbour.
    const due = starters.filter(({ peer }) => round < roundsOf(peer, { rounds, peerRounds }))
    for (const starter of round % 2 === 0 ? due : due.toReversed()) {
      ctx.progress.step(`${starter.peer.title}, ${starter.mode.label}`)
      if (starter.failed) continue
      try {
        await run(starter, childrenFor(children, starter), { warmupMs, ms })
      } catch (error) {
        starter.failed = true
        ctx.skip(`${starter.peer.title}, ${starter.mode.label}`, error.message)
      }
    }
  }
  for (const child of [...children.values()].flat()) await child.stop()
  for (const { server } of entered) await server.stop()
  return starters.filter(({ failed }) => !failed).map(toStanding)
}

const roundsOf = ({ kind, inAims }, { rounds, peerRounds }) =>
  kind !== 'peer' || inAims ? rounds : peerRounds

export const raceSteps = (entered, times) =>
  entered.reduce((sum, { peer }) => sum + peer.modes.length * roundsOf(peer, times), 0)

/** A peer keeps its processes from round to round, so that all of them are equally warm. */
function childrenFor(children, { peer, mode }) {
  const count = mode.processes ?? 1
  const profiled = process.env['BENCH_PROFILE'] === undefined ? '' : mode.name
  const key = `${peer.name} ${count} ${profiled}`
  if (!children.has(key))
    children.set(
      key,
      Array.from({ length: count }, () => new Child('sender.mjs', `${peer.name}-${profiled}`)),
    )
  return children.get(key)
}

async function run(starter, children, { warmupMs, ms }) {
  const { peer, server, mode } = starter
  const address = await server.fresh()
  await Promise.all(children.map((child) => child.ask('open', { peer: peer.name, mode, address })))
  const startAt = sharedNow() + warmupMs * (mode.warmUps ?? 1)
  const parts = await Promise.all(children.map((child) => child.ask('run', { startAt, endAt: startAt + ms })))
  await Promise.all(children.map((child) => child.ask('close')))
  // Files go at once; what servers hold goes with them.
  if (typeof address === 'string') dropDir(address)
  starter.rates.push(parts.reduce((sum, part) => sum + part.messages / (part.ms / 1_000), 0))
  for (const part of parts) starter.latencies.push(part.latencies)
}

function toStanding({ peer, server, mode, rates, latencies }) {
  const { name, title, kind, durable, durability } = peer
  const all = latencies.flatMap((part) => [...part])
  const { version } = server
  return {
    peer: name,
    title,
    kind,
    durable,
    durability,
    mode,
    version,
    rates,
    rate: median(rates),
    latencyMs: summarize(all),
  }
}
