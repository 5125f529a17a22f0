/** 12. The memory of the desk of a large space while others work in it. */
import { Child } from '../lib/child.mjs'
import { duration, megabytes, number, table } from '../lib/format.mjs'
import { watchMemory } from '../lib/machine.mjs'
import { dropDir, scratchDir } from '../lib/scratch.mjs'

export const name = 'desk'
export const title = 'The desk of a large space'

const agents = 1_000
const mates = 4
const perSecond = 25

export const steps = () => 2

export async function run(ctx) {
  const messages = ctx.sizes.desk
  const seconds = ctx.times.deskSeconds
  const dir = scratchDir('desk')
  ctx.progress.step(`a space of ${number(agents)} agents and ${number(messages)} messages`)
  const roll = new Child('roll.mjs', 'desk-roll')
  await roll.ask('open', { dir, agents, messages })
  await roll.ask('close')
  await roll.stop()
  ctx.progress.step(`${number(seconds)} s of traffic`)
  const keeper = new Child('desk-keeper.mjs', 'desk')
  await keeper.ask('open', { dir })
  const others = Array.from({ length: mates }, () => new Child('desk-mate.mjs', 'desk-mate'))
  const all = (verb, inputOf) => Promise.all(others.map((other, n) => other.ask(verb, inputOf(n))))
  await all('open', (n) => ({ dir, name: `agent ${n}`, seed: 20 + n }))
  const takeMemory = watchMemory(keeper.pid)
  const sent = await all('work', () => ({ perSecond, seconds, agents: 2 * mates }))
  const memory = takeMemory()
  await all('close', () => ({}))
  await Promise.all(others.map((other) => other.stop()))
  await keeper.ask('close')
  await keeper.stop()
  dropDir(dir)
  return {
    messages,
    seconds,
    sent: sent.reduce((sum, n) => sum + n, 0),
    memory,
  }
}

export function report({ messages, seconds, sent, memory }) {
  const rows = [
    ['at first', megabytes(memory.start)],
    ['after a third of the time', megabytes(memory.settled)],
    ['at the end', megabytes(memory.end)],
    ['at most', megabytes(memory.max)],
  ]
  return `A process that is the desk of a space of ${number(agents)} agents and ${number(messages)} messages. ${mates} others send ${number(sent)} messages in ${duration(seconds * 1_000)}, and read and finish what they get.

${table(['', 'resident memory of the desk'], rows, 'lr')}`
}

export function aims({ messages, memory }) {
  const note = messages === 1_000_000 ? '' : `with ${number(messages)} instead of 1,000,000`
  return [
    { aim: 'memory of the desk', atMost: 200, measured: memory.max / 1_048_576, unit: 'MB', note },
    {
      aim: 'memory of the desk at the end against after a third',
      atMost: 1.2,
      measured: memory.end / memory.settled,
      note,
    },
  ]
}
