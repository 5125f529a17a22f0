/** 3. What reading costs, and whether the length of the history matters. */
import { duration, number, table, times } from '../lib/format.mjs'
import { question } from '../lib/questioning.mjs'
import { questionLabels, questions, readers } from '../readers/index.mjs'

export const name = 'read'
export const title = 'Reading'

const shapes = ['handled', 'unread']
const shapeLabels = { handled: 'all handled but 50', unread: 'all unread' }
const peers = readers.filter((reader) => reader.name !== 'mailbox')

export const steps = ({ times: { askRounds, peerRounds } }) =>
  askRounds * (shapes.length * questions.length + 2) + peerRounds * peers.length * questions.length

export async function run(ctx) {
  const sizes = ctx.sizes.history
  const { askRounds, askMs } = ctx.times
  const limits = { rounds: askRounds, warmupMs: 2 * askMs, ms: askMs }
  // The copies that expire are made before anybody opens the originals: from then on the agents count as dead, since their
  // process has ended, and the mail of an agent that is dead waits for it.
  const prepared = [...shapes, 'expired']
  await ctx.histories.prepare(
    sizes.flatMap((n) => prepared.map((shape) => ({ reader: 'mailbox', n, shape }))),
  )
  const costs = []
  for (const shape of shapes)
    costs.push(
      ...(await question(
        ctx,
        'mailbox',
        sizes.map((n) => ({ n, shape })),
        limits,
      )),
    )
  const expired = sizes.map((n) => ({ n, shape: 'expired' }))
  costs.push(...(await question(ctx, 'mailbox', expired, { ...limits, asked: ['inbox', 'count'] })))
  for (const { n, shape } of expired) await ctx.histories.drop('mailbox', n, shape)
  for (const peer of peers)
    costs.push(...(await askPeer(ctx, peer, { ...limits, rounds: ctx.times.peerRounds, least: 1 })))
  return { sizes, costs }
}

async function askPeer(ctx, peer, limits) {
  try {
    const reason = await peer.missing?.()
    if (reason !== undefined) throw new Error(reason)
    const held = ctx.sizes.history.filter((n) => n <= peer.largest)
    const left = ctx.sizes.history.filter((n) => n > peer.largest)
    if (left.length > 0)
      ctx.skip(`${peer.title} with ${left.map(number).join(' and ')} messages of history`, peer.limit)
    const cases = held.flatMap((n) => shapes.map((shape) => ({ n, shape })))
    await ctx.histories.prepare(cases.map((one) => ({ reader: peer.name, ...one })))
    const costs = await question(ctx, peer.name, cases, limits)
    for (const { n, shape } of cases) await ctx.histories.drop(peer.name, n, shape)
    return costs
  } catch (error) {
    ctx.skip(`${peer.title}, reading`, error.message)
    return []
  }
}

export const findCost = (costs, reader, n, shape, asked) =>
  costs.find(
    (cost) => cost.reader === reader && cost.n === n && cost.shape === shape && cost.question === asked,
  )

export function report({ sizes, costs }) {
  const cell = (reader, shape, asked) => (n) => {
    const cost = findCost(costs, reader, n, shape, asked)
    return cost === undefined ? '–' : duration(cost.meanMs)
  }
  const section = (shape) => {
    const rows = questions.flatMap((asked) =>
      readers.map(({ name: reader, title: who }) => {
        const growth = growthOf(costs, sizes, reader, shape, asked)
        const bold = reader === 'mailbox' ? '**' : ''
        return [
          reader === 'mailbox' ? questionLabels[asked] : '',
          `${bold}${who}${bold}`,
          ...sizes.map(cell(reader, shape, asked)),
          times(growth),
        ]
      }),
    )
    return `### ${shapeLabels[shape][0].toUpperCase()}${shapeLabels[shape].slice(1)}\n\n${table(['', '', ...sizes.map(number), 'last to first'], rows, `ll${'r'.repeat(sizes.length + 1)}`)}`
  }
  const later = ['inbox', 'count'].map((asked) => [
    questionLabels[asked],
    ...sizes.map(cell('mailbox', 'expired', asked)),
    times(growthOf(costs, sizes, 'mailbox', 'expired', asked)),
  ])
  return `The mean time of one call in a warm process, the median of several rounds, by the number of messages in the agent's history. A page has 50 messages with their texts; every answer is checked. "–": not on offer, or more than it can hold.

${shapes.map(section).join('\n\n')}

### All expired unread

Our own worst case: the unread history two days later, when the life of all of it is over and its owner has not checked its mail since. (\`check\` marks what is over, and from then on it costs nothing.) No aim speaks of this one.

${table(['agent-mailbox', ...sizes.map(number), 'last to first'], later, `l${'r'.repeat(sizes.length + 1)}`)}`
}

function growthOf(costs, sizes, reader, shape, asked, figure = 'meanMs') {
  const first = findCost(costs, reader, sizes[0], shape, asked)
  const last = findCost(costs, reader, sizes.at(-1), shape, asked)
  return first === undefined || last === undefined ? Number.NaN : last[figure] / first[figure]
}

export function aims({ sizes, costs }) {
  const [first, last] = [sizes[0], sizes.at(-1)]
  const short = last === 1_000_000 ? '' : '; the aim speaks of 1,000,000'
  return ['inbox', 'count'].flatMap((asked) =>
    shapes.map((shape) => ({
      aim: `${questionLabels[asked]}, ${shapeLabels[shape]}: ${number(last)} of history against ${number(first)}`,
      atMost: 1.3,
      measured: growthOf(costs, sizes, 'mailbox', shape, asked),
      // On a busy machine the mean is full of other people's time; the median call tells.
      note: `means; the median call ${times(growthOf(costs, sizes, 'mailbox', shape, asked, 'p50'))}${short}`,
    })),
  )
}
