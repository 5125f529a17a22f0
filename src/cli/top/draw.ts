import { needs as needLabels } from '../../conversation/registry.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { Need } from '../../query/needs.ts'
import type { Cli } from '../cli.ts'
import { paintState } from '../format/agents.ts'
import { subjectIn } from '../format/foreign.ts'
import { paintPriority } from '../format/message.ts'
import { table, truncate } from '../format/table.ts'
import { age, clock } from '../format/time.ts'
import { count } from '../progress.ts'
import type { Snapshot, TopAgent } from './snapshot.ts'

/** The space at a glance. With `selected` one of the needs is marked, and no more is shown than fits. */
export function draw(
  cli: Cli,
  snapshot: Snapshot,
  { selected, height = Number.POSITIVE_INFINITY }: { selected?: string | undefined; height?: number } = {},
): string[] {
  const { agents } = snapshot
  // A heading for each list and a line between them.
  const room = height - 5
  const agentRows = Math.min(agents.length, Math.max(2, room - Math.max(1, snapshot.needs.length)))
  const needRows = Math.max(1, room - agentRows)
  return [
    titleOf(cli, snapshot),
    '',
    ...needLines(cli, snapshot.needs, needRows, selected),
    '',
    ...agentLines(cli, agents, agentRows),
  ]
}

/** Where roles and notes would leave no room for names. */
const narrowWidth = 60

function titleOf({ colors, width, now }: Cli, { name, agents, dead, messages }: Snapshot): string {
  const facts = [
    `${count(agents.length)} ${agents.length === 1 ? 'agent' : 'agents'}`,
    `${count(messages)} ${messages === 1 ? 'message' : 'messages'}`,
    ...(dead > 0 ? [`${count(dead)} undeliverable`] : []),
  ].join(' · ')
  const time = clock(new Date(now).toISOString())
  const left = truncate(`${toPrintableLine(name)}  ${facts}`, width - time.length - 2)
  return colors.bold(left) + ' '.repeat(Math.max(2, width - left.length - time.length)) + colors.dim(time)
}

function needLines(cli: Cli, all: readonly Need[], rows: number, selected: string | undefined): string[] {
  const { colors, width, now } = cli
  const asks = all.filter(({ section }) => section !== 'info').length
  const blocked = new Set(all.flatMap(({ frees }) => frees.map(({ agent }) => agent))).size
  const facts = [
    ...(asks > 0 ? [`${count(asks)} to decide`] : []),
    ...(all.length > asks ? [`${count(all.length - asks)} for your information`] : []),
    ...(blocked > 0 ? [`${count(blocked)} ${blocked === 1 ? 'agent' : 'agents'} blocked`] : []),
  ]
  const heading = `${colors.bold('Needs you')}${facts.length === 0 ? '' : `  ${facts.join(', ')}`}`
  if (all.length === 0) return [heading, colors.dim('  nothing')]
  const at = Math.max(
    0,
    all.findIndex(({ message }) => message.id === selected),
  )
  const isCut = all.length > rows
  const fit = isCut ? Math.max(1, rows - 1) : rows
  const start = Math.max(0, Math.min(at - Math.floor(fit / 2), all.length - fit))
  const shown = all.slice(start, start + fit)
  const isSelected = (row: number) => selected !== undefined && shown[row]!.message.id === selected
  const [, ...lines] = table(
    [
      { head: ' ', paint: colors.bold },
      { head: '', right: true, paint: colors.cyan },
      {
        head: '',
        flexible: true,
        paint: (text, row) => {
          const painted = paintPriority(colors, shown[row]!.message.priority)(text)
          return isSelected(row) ? colors.bold(painted) : painted
        },
      },
      { head: '', flexible: true },
      { head: '', flexible: true, paint: colors.cyan },
      { head: '', paint: colors.dim },
      { head: '', optional: true, paint: colors.yellow },
    ],
    shown.map(({ kind, message, since, frees }, row) => [
      isSelected(row) ? '>' : ' ',
      `#${message.seq}`,
      subjectIn(cli, message),
      needLabels.get(kind) ?? kind,
      message.from,
      age(since, now),
      frees.length > 1 && width >= narrowWidth ? `frees ${frees.length}` : '',
    ]),
    width,
    colors,
  )
  const more = isCut ? [colors.dim(`  ${count(at + 1)} of ${count(all.length)}`)] : []
  return [heading, ...lines, ...more]
}

function agentLines(cli: Cli, all: readonly TopAgent[], rows: number): string[] {
  const { colors, width, now } = cli
  if (all.length === 0) return [colors.bold('Agents'), colors.dim('  nobody has joined: mailbox join NAME')]
  const isCut = all.length > rows
  const isNarrow = width < narrowWidth
  const shown = all.slice(0, isCut ? Math.max(1, rows - 1) : rows)
  const lines = table(
    [
      { head: 'Agents', flexible: true, paint: colors.cyan },
      { head: 'State', paint: (text, row) => paintState(colors, shown[row]!.state)(text) },
      {
        head: 'Unread',
        right: true,
        paint: (text, row) => (shown[row]!.urgent > 0 ? colors.red(text) : text),
      },
      { head: 'Roles', flexible: true, optional: true },
      { head: 'Seen', paint: colors.dim },
      { head: 'Note', flexible: true, optional: true },
    ],
    shown.map(({ name, state, unread, urgent, roles, lastSeenAt, note = '', waitingFor }) => [
      name,
      state,
      unread === 0 ? '-' : `${count(unread)}${urgent > 0 ? '!' : ''}`,
      isNarrow ? '' : roles.join(', '),
      age(lastSeenAt, now),
      isNarrow ? '' : note || (waitingFor === undefined ? '' : 'waits for an answer'),
    ]),
    width,
    colors,
  )
  return [...lines, ...(isCut ? [colors.dim(`  and ${count(all.length - shown.length)} more`)] : [])]
}
