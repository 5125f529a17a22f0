// npm run storm -- --report: puts the figures of the last run of each campaign into docs/reliability.md: of the last
// complete one, if there is one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { root } from './run.mjs'

const runsFile = `${root}test-output/storm.jsonl`
const page = `${root}docs/reliability.md`
const begin = '<!-- figures: npm run storm -- --report -->'
const end = '<!-- end of figures -->'

export function report() {
  const lines = existsSync(runsFile) ? readFileSync(runsFile, 'utf8').split('\n').filter(Boolean) : []
  /** The parts of each campaign, in the order in which they first ran. */
  const runs = new Map()
  for (const { part = '', ...run } of lines.map((line) => JSON.parse(line))) {
    const parts = runs.get(run.campaign) ?? {}
    if (run.full || !parts[part]?.full) runs.set(run.campaign, { ...parts, [part]: run })
  }
  const text = readFileSync(page, 'utf8')
  const from = text.indexOf(begin) + begin.length
  const to = text.indexOf(end)
  // A campaign that did not run here keeps the row it has.
  const kept = new Map(
    text
      .slice(from, to)
      .split('\n')
      .map((line) => [/^\| `--(\w+)`/.exec(line)?.[1], line])
      .filter(([name]) => name !== undefined),
  )
  for (const [name, parts] of runs) kept.set(name, rowOf(addedUp(Object.values(parts))))
  const table = ['| campaign | figures | when, how long, on what |', '|---|---|---|', ...kept.values()]
  writeFileSync(page, `${text.slice(0, from)}\n${table.join('\n')}\n${text.slice(to)}`)
  console.log(table.join('\n'))
}

/** The parts of a campaign as one run. */
function addedUp(parts) {
  const figures = {}
  for (const part of parts) {
    for (const [what, count] of Object.entries(part.figures)) figures[what] = (figures[what] ?? 0) + count
  }
  // Parts of one run work at the same time, several runs one after another.
  const inRun = new Map()
  for (const { run = '', seconds } of parts) inRun.set(run, Math.max(inRun.get(run) ?? 0, seconds))
  return { ...parts.at(-1), figures, seconds: [...inRun.values()].reduce((sum, one) => sum + one, 0) }
}

function rowOf({ campaign, at, seconds, figures, machine }) {
  const words = Object.entries(figures).map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
  const time = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
  return `| \`--${campaign}\` | ${words.join('; ')} | ${at.slice(0, 10)}, ${time}, ${machine} |`
}
