import type { Owed, RosterAgent } from '../data/types.ts'
import { path } from '../lib/route.ts'
import { line, plural, subjectOf } from '../lib/text.ts'
import { since } from '../lib/time.ts'
import { Avatar, Empty, Loading, Problem, StateDot, TagChip, When } from '../parts/small.tsx'
import { openMatters } from '../state/matters.ts'
import { overview } from '../state/overview.ts'
import { Page } from './page.tsx'

/** Agents that wait for an answer come first. Being busy does not change the order. */
const rank = ({ state, waitingFor = [] }: RosterAgent): number =>
  state === 'dead' ? 3 : state === 'frozen' ? 2 : waitingFor.length > 0 ? 0 : 1

/** All agents, those that wait first. */
export function AgentsPage() {
  const data = overview.data.value
  if (overview.error.value !== null && data === undefined) return <Problem error={overview.error.value} />
  if (data === undefined) return <Loading />
  const agents = data.agents
    .filter(({ name }) => name !== 'user')
    .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
  const here = agents.filter(({ state }) => state !== 'dead').length
  return (
    <Page title="Agents" tools={<span class="quiet">{`${here} active, ${agents.length - here} gone`}</span>}>
      {agents.length === 0 ? (
        <Empty
          title="No agents yet"
          commands={[
            'mailbox join ada',
            'mailbox join bob --role architect --tag project:inscription',
            'mailbox init',
          ]}
        >
          <p>
            <code>mailbox init</code> connects the agent clients on this machine. They join when they start.
          </p>
        </Empty>
      ) : (
        <div class="table-room">
          <table class="table agents">
            <thead>
              <tr>
                <th>Agent</th>
                <th>State</th>
                <th>Waiting for</th>
                <th>Roles and tags</th>
                <th class="number">Unread</th>
                <th>Last seen</th>
              </tr>
            </thead>
            <tbody>
              {agents.map((agent) => (
                <AgentRow key={agent.name} agent={agent} unread={data.unread[agent.name]?.unread ?? 0} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  )
}

const AgentRow = ({ agent, unread }: { agent: RosterAgent; unread: number }) => (
  <tr>
    <td>
      <span class="name-cell">
        <Avatar name={agent.name} />
        <a class="who" href={path('agents', agent.name)}>
          <bdi>{line(agent.name)}</bdi>
        </a>
      </span>
    </td>
    <td>
      <span class="name-cell">
        <StateDot state={agent.state} /> {stateWord(agent)}
      </span>
    </td>
    <td>
      <Waits agent={agent} />
    </td>
    <td>
      <span class="chips">
        {agent.roles.map((role) => (
          <span key={role} class="chip">
            <bdi>{line(role)}</bdi>
          </span>
        ))}
        {agent.tags.map((tag) => (
          <TagChip key={tag} tag={tag} />
        ))}
      </span>
    </td>
    <td class="number">{unread === 0 ? <span class="quiet">0</span> : unread}</td>
    <td>
      <When at={agent.lastSeenAt} />
    </td>
  </tr>
)

export const stateWord = ({ state, gone }: RosterAgent): string =>
  state === 'dead' && gone !== undefined
    ? { left: 'left', ended: 'process ended', silent: 'silent' }[gone]
    : state

/** What an agent has asked for and not received. */
export function Waits({ agent, none = '–' }: { agent: RosterAgent; none?: string }) {
  const ids = agent.waitingFor ?? []
  const matters = ids
    .map((id) => openMatters.value.get(id)?.[0])
    .filter((one): one is Owed => one !== undefined)
  if (matters.length === 0)
    return ids.length === 0 ? (
      <span class="quiet">{none}</span>
    ) : (
      <span>{plural(ids.length, 'reply', 'replies')}</span>
    )
  return (
    <ul>
      {matters.slice(0, 3).map((one) => (
        <li key={one.id}>
          <bdi>{one.by === 'user' ? 'you' : line(one.by)}</bdi>:{' '}
          <a href={path('messages', one.id)}>
            <bdi>{subjectOf(one.subject)}</bdi>
          </a>{' '}
          <span class="quiet">{since(one.since)}</span>
        </li>
      ))}
      {matters.length > 3 && <li class="quiet">and {matters.length - 3} more</li>}
    </ul>
  )
}
