/** 2. Durable send, ourselves beside everybody else. */
import { duration, rate, table, times } from '../lib/format.mjs'
import { enter, race, raceSteps } from '../lib/race.mjs'
import { barChart } from '../lib/svg.mjs'

export const name = 'send'
export const title = 'Durable send'

// How many contestants there are shows only when we know which of them the machine has.
export const steps = () => 0

export async function run(ctx) {
  const entered = await enter(ctx)
  ctx.progress.expect(raceSteps(entered, ctx.times))
  const { rounds, peerRounds, ms } = ctx.times
  return { rounds, peerRounds, ms, standings: await race(ctx, entered, ctx.times) }
}

const find = (standings, peer, mode) =>
  standings.find((standing) => standing.peer === peer && standing.mode.name === mode)
const lone = ({ mode }) => mode.inFlight === 1 && mode.batch === 1 && (mode.processes ?? 1) === 1
const answersAlone = (standings) =>
  standings
    .filter(({ kind }) => kind === 'ours')
    .map(({ mode, answered }) => `${mode.label} ${rate(answered)}`)
    .join(', ')
const byRate = (a, b) => b.rate - a.rate

export function report({ standings, rounds, peerRounds, ms }) {
  const section = (heading, part, base) => {
    const rows = part.toSorted(byRate).map((standing) => {
      const {
        title: who,
        mode,
        rate: messages,
        latencyMs: { p50, p99 },
        durable,
        kind,
      } = standing
      const bold = kind === 'ours' ? '**' : ''
      const label = part.every(lone) ? who : `${who}, ${mode.label}`
      return [
        `${bold}${label}${bold}`,
        rate(messages),
        times(messages / base.rate),
        duration(p50),
        duration(p99),
        durable ? 'yes' : 'no',
      ]
    })
    return `### ${heading}\n\n${table(['', 'messages', 'to the limit', 'p50 of a call', 'p99', 'on disk when answered'], rows, 'lrrrrl')}`
  }
  const alone = section('One after another', standings.filter(lone), find(standings, 'raw', 'one'))
  const many = section(
    'Many at once',
    standings.filter((standing) => !lone(standing)),
    find(standings, 'raw', 'batch64'),
  )
  const durability = [...new Map(standings.map((standing) => [standing.title, standing])).values()]
  const rows = durability.map(({ title: who, version, durability: words }) => [who, version ?? '', words])
  return `Messages of 700 bytes to one recipient. Every contestant has a process of its own and goes of ${ms / 1_000} s, each on an empty store after a warm-up, in turns with all others (several processes send 300 messages each, from a common start to the last answer): ${rounds} for those whom an aim names, ${peerRounds} for the rest; the median counts. "To the limit" compares with the raw appends in the same rounds: one by one above, in batches of 64 below.

![sends one after another](send-one.svg)

![sends, many at once](send-many.svg)

${alone}

${many}

agent-mailbox takes a message into its index after it has answered. That work is waited for at the end of each turn and is in its rates above. The answers alone, with the index left behind: ${answersAlone(standings)}. Latencies are of answers.

### What an answer means

${table(['', 'version', 'an answer means'], rows, 'lll')}`
}

export function plots({ standings }) {
  const bars = (part) =>
    part.toSorted(byRate).map((standing) => ({
      label: part.every(lone) ? standing.title : `${standing.title}, ${standing.mode.label}`,
      value: standing.rate,
      text: rate(standing.rate),
      group: standing.kind === 'peer' ? (standing.durable ? 'durable' : 'loose') : standing.kind,
    }))
  const groups = {
    ours: 'agent-mailbox',
    limit: 'the limit of the disk',
    durable: 'on disk when answered',
    loose: 'not on disk when answered',
  }
  const chart = (heading, part) =>
    barChart({
      title: heading,
      subtitle: 'messages of 700 bytes a second, logarithmic; more is better',
      groups,
      bars: bars(part),
      logarithmic: true,
    })
  return {
    'send-one.svg': chart('Sending one after another', standings.filter(lone)),
    'send-many.svg': chart(
      'Sending many at once',
      standings.filter((standing) => !lone(standing)),
    ),
  }
}

export function aims({ standings }) {
  const get = (peer, mode) => find(standings, peer, mode)
  const ours = get('mailbox', 'one')
  const many = get('mailbox', 'flight64')
  const processes = get('mailbox', 'processes20')
  const redis20 = get('redis-always', 'processes20')
  const raw = get('raw', 'one')
  const batched = get('raw', 'batch64')
  const nats = get('nats', 'flight64')
  const alone = (value) => `index included; answers alone ${times(value)}`
  return [
    {
      aim: 'one after another: time against the raw limit',
      atMost: 1.3,
      measured: raw.rate / ours?.rate,
      note: alone(raw.rate / ours?.answered),
    },
    {
      aim: '64 in flight: rate against NATS JetStream without sync',
      atLeast: 3,
      measured: many?.rate / nats?.rate,
      note: alone(many?.answered / nats?.rate),
      why: 'nats-server is not here',
    },
    {
      aim: '64 in flight: rate against raw batches of 64',
      atLeast: 0.5,
      measured: many?.rate / batched.rate,
      note: alone(many?.answered / batched.rate),
    },
    {
      aim: '20 processes: rate against Redis, appendfsync always',
      atLeast: 1.2,
      measured: processes?.answered / redis20?.answered,
      why: 'redis-server is not here',
    },
    {
      aim: '20 processes: p99 of a send against that of Redis, appendfsync always',
      atMost: 1.5,
      measured: processes?.latencyMs.p99 / redis20?.latencyMs.p99,
      why: 'redis-server is not here',
    },
    {
      aim: '5 processes: rate against Redis, appendfsync always',
      atLeast: 1,
      measured: get('mailbox', 'processes5')?.answered / get('redis-always', 'processes5')?.answered,
      why: 'redis-server is not here',
    },
  ]
}
