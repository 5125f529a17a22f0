/** 10. What a large roster costs: joining, checking and claiming among few agents and among many. */
import { Child } from '../lib/child.mjs'
import { duration, number, table, times } from '../lib/format.mjs'
import { dropDir, scratchDir } from '../lib/scratch.mjs'
import { median } from '../lib/stats.mjs'

export const name = 'roster'
export const title = 'Large rosters'

const verbs = ['join', 'check', 'claim', 'open']

export const steps = ({ times: { rounds } }) => 2 * (rounds + 1)

export async function run(ctx) {
  const { rounds } = ctx.times
  const messages = ctx.sizes.roster
  const spaces = []
  for (const agents of [10, 10_000]) {
    const dir = scratchDir('roster')
    const child = new Child('roll.mjs', `roster-${agents}`)
    await child.ask('open', { dir, agents, messages })
    spaces.push({ agents, dir, child, parts: [] })
  }
  for (let round = 0; round <= rounds; round++) {
    for (const { agents, child, parts } of spaces) {
      ctx.progress.step(`${number(agents)} agents`)
      const part = await child.ask('round')
      // The first round warms up.
      if (round > 0) parts.push(part)
    }
  }
  const results = []
  for (const { agents, dir, child, parts } of spaces) {
    await child.ask('close')
    await child.stop()
    dropDir(dir)
    results.push({
      agents,
      ...Object.fromEntries(verbs.map((verb) => [verb, median(parts.map((part) => part[verb]))])),
    })
  }
  return { messages, results }
}

const ratio = (results, verb) => results[1][verb] / results[0][verb]

export function report({ messages, results }) {
  const [few, many] = results
  const rows = verbs.map((verb) => [
    verb,
    duration(few[verb]),
    duration(many[verb]),
    times(ratio(results, verb)),
  ])
  return `The same work in a space of ${number(few.agents)} agents and in one of ${number(many.agents)}, each with ${number(messages)} messages, in turns (medians). \`check\` takes one message, \`claim\` one of a role, both durably; \`open\` is opening the space in a process that has had it open before.

${table(['', `${number(few.agents)} agents`, `${number(many.agents)} agents`, 'ratio'], rows, 'lrrr')}`
}

export function aims({ results }) {
  return ['join', 'check', 'claim'].map((verb) => ({
    aim: `${verb} among ${number(results[1].agents)} agents against ${number(results[0].agents)}`,
    atMost: 1.5,
    measured: ratio(results, verb),
  }))
}
