import { hostname } from 'node:os'
import { type Agent, person } from '../../model/agent.ts'
import type { Cli } from '../cli.ts'
import { foreignWords } from './foreign.ts'
import { table } from './table.ts'
import { relative } from './time.ts'

export const paintState = ({ dim, blue, yellow, green }: Cli['colors'], state: Agent['state']) =>
  ({ alive: green, idle: green, waiting: yellow, frozen: blue, dead: dim })[state]

/** One line per agent: its state, run, roles, tags and when it was last seen. */
export function agentTable(cli: Cli, agents: readonly Agent[]): string {
  const { colors, width, now } = cli
  return table(
    [
      { head: 'NAME', flexible: true, paint: colors.cyan },
      { head: 'STATE', paint: (text, at) => paintState(colors, agents[at]!.state)(text) },
      { head: 'RUN', right: true },
      { head: 'ROLES', flexible: true, optional: true },
      { head: 'TAGS', flexible: true, optional: true },
      { head: 'SEEN', paint: colors.dim },
      { head: 'PROCESS', flexible: true, optional: true, paint: colors.dim },
      { head: 'NOTE', flexible: true, optional: true },
    ],
    agents.map(({ name, state, roles, tags, lastSeenAt, note, session }) => [
      name,
      // The person need not join.
      name === person && session.generation === 0 ? 'the person' : state,
      session.generation === 0 ? '' : String(session.generation),
      roles.join(', '),
      tags.join(', '),
      session.generation === 0 && name === person ? '' : relative(lastSeenAt, now),
      processOf(session),
      note === undefined ? '' : foreignWords(cli, note),
    ]),
    width,
    colors,
  ).join('\n')
}

/** The pid comes first, because that is what you type next. */
const processOf = ({ pid, host, client }: Agent['session']): string =>
  [
    pid === undefined ? undefined : `${pid}${host === undefined || host === hostname() ? '' : `@${host}`}`,
    client,
  ]
    .filter(Boolean)
    .join(' ')
