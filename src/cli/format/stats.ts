import type { Figures, Latency, Stats } from '../../query/stats.ts'
import type { Cli } from '../cli.ts'
import { count } from '../progress.ts'
import { table } from './table.ts'
import { relative } from './time.ts'

/** One line per agent, after the total. */
export function statsTable({ colors, width, now }: Cli, { all, agents, roles, deadLetters }: Stats): string {
  const waiting = (time: string | null) =>
    time === null ? '' : relative(time, now).replace(/ ago|just /, '')
  const line = (name: string, figures: Figures) => [
    name,
    count(figures.sent),
    count(figures.received),
    count(figures.pending),
    count(figures.unacked),
    waiting(figures.oldestWaiting),
    latency(figures.shown),
    latency(figures.done),
  ]
  const roleLine = ({ name, pending, oldestWaiting }: Stats['roles'][number]) => [
    ...[name, '', '', count(pending), '', waiting(oldestWaiting), '', ''],
  ]
  const own = agents.reduce((sum, { sent }) => sum + sent, 0)
  const system = all.sent > own ? [['system', count(all.sent - own), '', '', '', '', '', '']] : []
  const active = agents.filter(({ sent, received, pending }) => sent + received + pending > 0)
  const lines = table(
    [
      { head: 'AGENT', flexible: true, paint: colors.cyan },
      { head: 'SENT', right: true },
      { head: 'RECEIVED', right: true },
      { head: 'UNREAD', right: true },
      { head: 'NO ACK', right: true },
      { head: 'OLDEST', right: true },
      { head: 'TIME TO READ', paint: colors.dim },
      { head: 'TIME TO DONE', paint: colors.dim },
    ],
    [line('all', all), ...active.map((one) => line(one.name, one)), ...roles.map(roleLine), ...system],
    width,
    colors,
  )
  const dead =
    deadLetters === 0
      ? []
      : ['', `${count(deadLetters)} dead ${deadLetters === 1 ? 'letter' : 'letters'}: mailbox dead`]
  return [...lines, ...dead, '', colors.dim('times: p50/p95/p99')].join('\n')
}

const latency = ({ p50, p95, p99 }: Latency): string =>
  p50 === null ? '' : [p50, p95!, p99!].map(short).join('/')

/** Two or three digits and a unit. */
function short(ms: number): string {
  if (ms < 100) return `${ms}ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)}s`
  if (ms < 60_000) return `${Math.round(ms / 1_000)}s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)}m`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)}h` : `${Math.round(ms / 86_400_000)}d`
}
