/** The report: the machine, the aims, every measurement, and who was left out. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { duration, megabytes, number, table, times } from './format.mjs'

/**
 * @typedef {object} Aim
 * @property {string} aim
 * @property {number} [atMost]
 * @property {number} [atLeast]
 * @property {number} [measured] Undefined when it was not.
 * @property {string} [unit] @default '×'
 * @property {string} [why] Why it was not measured.
 * @property {string} [note]
 */

/** Met or missed is worked out here and nowhere else. */
export function judge({ atMost, atLeast, measured }) {
  if (measured === undefined || !Number.isFinite(measured)) return 'not measured'
  return (atMost === undefined || measured <= atMost) && (atLeast === undefined || measured >= atLeast)
    ? 'met'
    : 'missed'
}

const withUnit = (value, unit) => {
  if (unit === undefined) return times(value)
  return unit === '/s' ? `${number(value)}/s` : `${number(value)} ${unit}`
}

function aimRow(aim) {
  const { atMost, atLeast, measured, unit, why, note } = aim
  const verdict = judge(aim)
  const wanted = atMost === undefined ? `≥ ${withUnit(atLeast, unit)}` : `≤ ${withUnit(atMost, unit)}`
  const found = verdict === 'not measured' ? '–' : withUnit(measured, unit)
  const remark = verdict === 'not measured' ? (why ?? '') : (note ?? '')
  return [aim.aim, wanted, found, verdict === 'missed' ? '**missed**' : verdict, remark]
}

function machineSection({
  cpu,
  cores,
  memoryBytes,
  kernel,
  virtual,
  fileSystem,
  node,
  syncMs,
  loadBefore,
  loadAfter,
}) {
  const rows = [
    ['CPU', `${cpu}, ${cores} cores${virtual ? ' of a virtual machine' : ''}`],
    ['memory', megabytes(memoryBytes)],
    ['kernel', kernel],
    ['file system', fileSystem],
    ['Node', node],
    [
      'append + fdatasync of 700 bytes',
      `p50 ${duration(syncMs.p50)}, p99 ${duration(syncMs.p99)}, max ${duration(syncMs.max)}`,
    ],
    ['load before and after', `${number(loadBefore)} and ${number(loadAfter)}`],
  ]
  const busy =
    loadBefore > cores / 2 ? '\n\n**The machine was busy when the run began: do not trust the tails.**' : ''
  return `## The machine\n\n${table(['', ''], rows, 'll')}${busy}`
}

export function writeReport(dir, run, measures) {
  const { machine, results, skipped, quick, seconds, commit, date } = run
  const ran = measures.filter(({ name }) => results[name] !== undefined)
  const aims = measures.flatMap((measure) => {
    if (measure.aims === undefined) return []
    if (results[measure.name] !== undefined)
      return measure.aims(results[measure.name]).map((aim) => ({ measure: measure.name, ...aim }))
    return [
      {
        measure: measure.name,
        aim: `all aims of "${measure.title}"`,
        atMost: 0,
        why: 'not part of this run',
        absent: true,
      },
    ]
  })
  const rows = aims.map((aim) => (aim.absent ? [aim.aim, '', '–', 'not measured', aim.why] : aimRow(aim)))
  const count = (verdict) => aims.filter((aim) => !aim.absent && judge(aim) === verdict).length
  const sections = ran.map(
    (measure) => `## ${measure.title}\n\n${measure.report(results[measure.name], results)}`,
  )
  const left = skipped.map(({ who, why }) => `- ${who}: ${why}`)
  const text = `# Benchmark report

${quick ? 'A **quick** run: smaller histories and short goes; good for a look, not for a verdict.' : 'A full run.'} ${date.slice(0, 10)}, ${number(Math.round(seconds))} s, agent-mailbox ${commit}. What each number means, and why it is measured that way: [docs/benchmarks.md](../../docs/benchmarks.md). Only ratios within one run can be compared.

${machineSection(machine)}

## Aims

${count('met')} met, ${count('missed')} missed, ${count('not measured')} not measured. Each line is worked out from this run.

${table(['aim', 'wanted', 'measured', '', ''], rows, 'lrrll')}

${sections.join('\n\n')}

## Left out

${left.length === 0 ? 'Nobody and nothing.' : left.join('\n')}
`
  mkdirSync(dir, { recursive: true })
  for (const file of readdirSync(dir)) if (file.endsWith('.svg')) rmSync(join(dir, file))
  for (const measure of ran) {
    for (const [file, svg] of Object.entries(measure.plots?.(results[measure.name], results) ?? {}))
      writeFileSync(join(dir, file), svg)
  }
  const judged = aims.filter(({ absent }) => !absent).map((aim) => ({ ...aim, verdict: judge(aim) }))
  writeFileSync(join(dir, 'report.md'), text)
  writeFileSync(join(dir, 'report.json'), `${JSON.stringify({ ...run, aims: judged }, tidy, 1)}\n`)
  return judged
}

/** Six figures are more than any of these numbers deserves. */
const tidy = (_key, value) =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
