import { type Agent, person } from '../../model/agent.ts'
import type { Cli } from '../cli.ts'
import { table } from './table.ts'
import { relative } from './time.ts'

export function agentTable({ colors, width, now }: Cli, agents: readonly Agent[]): string {
  const paintState = (text: string, at: number) => {
    const { state } = agents[at]!
    return state === 'dead' ? colors.dim(text) : state === 'frozen' ? colors.blue(text) : colors.green(text)
  }
  return table(
    [
      { head: 'NAME', flexible: true, paint: colors.cyan },
      { head: 'STATE', paint: paintState },
      { head: 'ROLES', flexible: true },
      { head: 'TAGS', flexible: true },
      { head: 'SEEN', paint: colors.dim },
      { head: 'NOTE', flexible: true },
    ],
    agents.map(({ name, state, roles, tags, lastSeenAt, note, session }) => [
      name,
      // The person is here without ever having joined.
      name === person && session.generation === 0 ? 'the person' : state,
      roles.join(', '),
      tags.join(', '),
      session.generation === 0 ? '' : relative(lastSeenAt, now),
      note ?? '',
    ]),
    width,
    colors,
  ).join('\n')
}
