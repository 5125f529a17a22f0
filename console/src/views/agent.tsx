import './agent.css'
import { useState } from 'preact/hooks'
import type { Owed, RosterAgent } from '../data/types.ts'
import { quote } from '../lib/cli.ts'
import { path } from '../lib/route.ts'
import { line, subjectOf } from '../lib/text.ts'
import { since } from '../lib/time.ts'
import { Icon } from '../parts/icon.tsx'
import { Avatar, Command, Empty, Loading, Problem, StateDot, TagChip, When } from '../parts/small.tsx'
import { askStatus, busy, requestShutdown } from '../state/act.ts'
import { openCompose } from '../state/compose.ts'
import { owed } from '../state/matters.ts'
import { agentsByName, overview } from '../state/overview.ts'
import { stateWord, Waits } from './agents.tsx'
import { Page } from './page.tsx'
import { ThreadList } from './threads.tsx'

/** One agent: its state, open requests and mail. */
export function AgentPage({ name }: { name: string }) {
  const agent = agentsByName.value.get(name)
  if (overview.error.value !== null && overview.data.value === undefined)
    return <Problem error={overview.error.value} />
  if (agent === undefined)
    return overview.data.value === undefined ? (
      <Loading />
    ) : (
      <Page title={name}>
        <Empty title="Agent not found" commands={[`mailbox join ${quote(name)}`]} />
      </Page>
    )
  return (
    <Page title={name} lead={<Avatar name={name} large />} tools={<Tools agent={agent} />}>
      <div class="columns">
        <div class="section">
          <h2>Threads</h2>
          <div class="agent-threads">
            <ThreadList
              filter={{ agent: name }}
              base="/threads"
              query={`?agent=${encodeURIComponent(name)}`}
              current={undefined}
              empty={
                <Empty title="No messages yet" commands={[`mailbox send ${quote(name)} --body Hello`]} />
              }
            />
          </div>
        </div>
        <Facts agent={agent} />
      </div>
    </Page>
  )
}

function Facts({ agent }: { agent: RosterAgent }) {
  const { session } = agent
  const unread = overview.data.value?.unread[agent.name]
  const run = [session.client, session.host, session.pid === undefined ? undefined : `pid ${session.pid}`]
  const owes = (owed.data.value ?? []).filter(({ by }) => by === agent.name)
  return (
    <div class="section">
      <h2>Details</h2>
      <dl class="facts">
        <dt>State</dt>
        <dd class="name-cell">
          <StateDot state={agent.state} /> {stateWord(agent)}
        </dd>
        <dt>Unread</dt>
        <dd>
          {unread?.unread ?? 0}
          {(unread?.byPriority.urgent ?? 0) > 0 && `, ${unread!.byPriority.urgent} urgent`}
        </dd>
        <dt>Last seen</dt>
        <dd>
          <When at={agent.lastSeenAt} />
        </dd>
        <dt>Session</dt>
        <dd>
          {session.generation}
          <span class="quiet"> · started {since(session.startedAt)} ago</span>
        </dd>
        {run.some((one) => one !== undefined) && (
          <>
            <dt>Process</dt>
            <dd>{line(run.filter((one) => one !== undefined).join(', '))}</dd>
          </>
        )}
        {agent.roles.length > 0 && (
          <>
            <dt>Roles</dt>
            <dd>{agent.roles.map(line).join(', ')}</dd>
          </>
        )}
        {agent.tags.length > 0 && (
          <>
            <dt>Channels</dt>
            <dd class="chips">
              {agent.tags.map((tag) => (
                <TagChip key={tag} tag={tag} />
              ))}
            </dd>
          </>
        )}
        {agent.note && (
          <>
            <dt>Note</dt>
            <dd>{line(agent.note)}</dd>
          </>
        )}
      </dl>
      <h2>Waiting for</h2>
      <Waits agent={agent} none="Nothing" />
      <h2>Owes others</h2>
      <Owes owes={owes} />
      <h2>Read this inbox</h2>
      <Command text={`mailbox --as ${quote(agent.name)} inbox`} />
    </div>
  )
}

const Owes = ({ owes }: { owes: readonly Owed[] }) =>
  owes.length === 0 ? (
    <p class="quiet">Nothing</p>
  ) : (
    <ul>
      {owes.slice(0, 12).map((one) => (
        <li key={`${one.kind} ${one.id}`}>
          {one.kind} from <bdi>{line(one.from)}</bdi>:{' '}
          <a href={path('messages', one.id)}>
            <bdi>{subjectOf(one.subject)}</bdi>
          </a>{' '}
          <span class="quiet">
            {since(one.since)}
            {one.overdue && ' · overdue'}
          </span>
        </li>
      ))}
    </ul>
  )

function Tools({ agent: { name, state } }: { agent: RosterAgent }) {
  const [isStopping, setStopping] = useState(false)
  const [reason, setReason] = useState('')
  if (name === 'user') return null
  if (isStopping)
    return (
      <form
        class="name-cell"
        onSubmit={(event) => {
          event.preventDefault()
          void requestShutdown(name, reason).then((done) => done && setStopping(false))
        }}
      >
        <input
          class="field"
          aria-label="Reason"
          placeholder="Reason"
          ref={(field) => {
            if (reason === '') field?.focus()
          }}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <button type="submit" class="button bad" disabled={busy.value !== null}>
          Request shutdown
        </button>
        <button type="button" class="button plain" onClick={() => setStopping(false)}>
          Cancel
        </button>
      </form>
    )
  return (
    <>
      <button type="button" class="button main" onClick={() => openCompose({ to: name })}>
        <Icon name="pen" /> New message
      </button>
      <button
        type="button"
        class="button"
        disabled={busy.value !== null || state === 'dead'}
        onClick={() => void askStatus(name)}
      >
        Request status
      </button>
      <button type="button" class="button bad" disabled={state === 'dead'} onClick={() => setStopping(true)}>
        <Icon name="stop" /> Shut down…
      </button>
    </>
  )
}
