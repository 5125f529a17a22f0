/** 11. What signing and encrypting add to a send. */
import { Child } from '../lib/child.mjs'
import { duration, table, times } from '../lib/format.mjs'
import { dropDir, scratchDir } from '../lib/scratch.mjs'
import { median } from '../lib/stats.mjs'

export const name = 'security'
export const title = 'Signing and encrypting'

const ways = [
  { way: 'plain', signs: false, encrypts: false },
  { way: 'signed', signs: true, encrypts: false },
  { way: 'encrypted', signs: false, encrypts: true },
  { way: 'signed and encrypted', signs: true, encrypts: true },
]
const columns = [
  ['one', 'wall'],
  ['one', 'cpu'],
  ['many', 'wall'],
  ['many', 'cpu'],
]

export const steps = ({ times: { rounds } }) => ways.length * (rounds + 1)

export async function run(ctx) {
  const { rounds } = ctx.times
  const contestants = []
  for (const { way, ...how } of ways) {
    const [dir, home] = [scratchDir('security'), scratchDir('home')]
    const child = new Child('sealer.mjs', way)
    await child.ask('open', { dir, home, ...how })
    contestants.push({ way, dirs: [dir, home], child, parts: [] })
  }
  for (let round = 0; round <= rounds; round++)
    for (const { way, child, parts } of contestants) {
      ctx.progress.step(way)
      const part = await child.ask('round', { one: 100, many: 2_048 })
      // The first round warms up.
      if (round > 0) parts.push(part)
    }
  const results = []
  for (const { way, dirs, child, parts } of contestants) {
    await child.ask('close')
    await child.stop()
    for (const dir of dirs) dropDir(dir)
    const figures = columns.map(([flight, kind]) => median(parts.map((part) => part[flight][kind])))
    results.push({ way, figures })
  }
  return { results }
}

const ratio = (results, at, column) => results[at].figures[column] / results[0].figures[column]

export function report({ results }) {
  const rows = results.map(({ way, figures }, at) => [
    way,
    ...figures.map((figure, column) => `${duration(figure)} (${times(ratio(results, at, column))})`),
  ])
  const head = ['', 'one by one', 'processor', '64 in flight', 'processor']
  return `A durable send of a plain message, and of one that is signed, encrypted or both, in turns (medians of a send, and against a plain one).

${table(head, rows, 'lrrrr')}`
}

export function aims({ results }) {
  return [
    ['one by one', 0],
    ['one by one, processor', 1],
    ['64 in flight', 2],
    ['64 in flight, processor', 3],
  ].map(([how, column]) => ({
    aim: `send, signed and encrypted against plain, ${how}`,
    atMost: 1.5,
    measured: ratio(results, results.length - 1, column),
  }))
}
