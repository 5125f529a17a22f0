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
 * @property {number[]} rates Messages a second, by round, all work done.
 * @property {number} rate Their median.
 * @property {number} answered Answers a second, whatever was put off.
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
    peer.modes.map((mode) => ({ peer, server, mode, rates: [], answers: [], latencies: [], children: [] })),
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
  const { parts, settleMs } = await takeTurn(children, { warmupMs: warmupMs * (mode.warmUps ?? 1), ms })
  await Promise.all(children.map((child) => child.ask('close')))
  // Files go at once; what servers hold goes with them.
  if (typeof address === 'string') dropDir(address)
  const sent = parts.reduce((all, part) => all + part.messages, 0)
  const longest = Math.max(...parts.map((part) => part.ms))
  // A slow contestant is given more time than the others, so each counts by its own. Of several processes that send as
  // much each, the last counts: whoever starves its neighbours gains nothing.
  const sum = (extraMs) =>
    mode.each === undefined
      ? parts.reduce((all, part) => all + part.messages / ((part.ms + extraMs) / 1_000), 0)
      : sent / ((longest + extraMs) / 1_000)
  starter.rates.push(sum(settleMs))
  starter.answers.push(sum(0))
  for (const part of parts) starter.latencies.push(part.latencies)
}

/**
 * One turn of a contestant: warm up, settle, send, settle. What a contestant puts off until after its
 * answers is waited for, and that time is part of its turn: nobody is fast by leaving work behind.
 */
export async function takeTurn(children, { warmupMs, ms }) {
  const all = (verb, input) => Promise.all(children.map((child) => child.ask(verb, input)))
  await all('warmUp', { endAt: sharedNow() + warmupMs })
  await all('settle')
  const startAt = sharedNow() + 20
  const parts = await all('run', { startAt, endAt: startAt + ms })
  return { parts, settleMs: Math.max(...(await all('settle'))) }
}

function toStanding({ peer, server, mode, rates, answers, latencies }) {
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
    answered: median(answers),
    latencyMs: summarize(all),
  }
}
