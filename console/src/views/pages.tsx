import { channelName } from '../lib/address.ts'
import { quote } from '../lib/cli.ts'
import { path } from '../lib/route.ts'
import { line, plural } from '../lib/text.ts'
import { Icon } from '../parts/icon.tsx'
import { Empty } from '../parts/small.tsx'
import { ThreadPane } from '../parts/thread-pane-lazy.tsx'
import { openCompose } from '../state/compose.ts'
import { overview } from '../state/overview.ts'
import { MailPage } from './mail-page.tsx'
import { ThreadList } from './threads.tsx'

const FirstSteps = () => (
  <Empty
    title="No messages yet"
    commands={[
      'mailbox join ada',
      "mailbox --as ada send user --subject Hello --body 'I am here'",
      'mailbox init',
    ]}
  >
    <p>
      Agents join and send from the command line. <code>mailbox init</code> connects Claude Code, Codex,
      Gemini CLI and OpenCode, so that they read their mail automatically.
    </p>
  </Empty>
)

/** All threads, most recent activity first. */
export function ThreadsPage({ id, agent, target }: ThreadsPageProps) {
  const query = agent === undefined ? '' : `?agent=${encodeURIComponent(agent)}`
  return (
    <MailPage
      title={agent === undefined ? 'Threads' : `Threads with ${agent}`}
      tools={
        agent !== undefined && (
          <a class="button small" href={path('agents', agent)}>
            <Icon name="people" /> Agent
          </a>
        )
      }
      list={
        <ThreadList
          key={agent}
          filter={agent === undefined ? {} : { agent }}
          base="/threads"
          query={query}
          current={id}
          empty={<FirstSteps />}
        />
      }
      reading={
        id === undefined ? null : <ThreadPane key={id} id={id} target={target} back={`/threads${query}`} />
      }
    />
  )
}

interface ThreadsPageProps {
  id: string | undefined
  /** Only threads with this agent. */
  agent: string | undefined
  target: string | undefined
}

/** The threads of a tag: `#inscription` is `project:inscription`. */
export function ChannelPage({
  tag,
  id,
  target,
}: {
  tag: string
  id: string | undefined
  target: string | undefined
}) {
  const base = path('channels', tag)
  const { name, kind } = channelName(tag)
  const members =
    overview.data.value?.agents.filter(({ tags, state }) => tags.includes(tag) && state !== 'dead') ?? []
  return (
    <MailPage
      title={kind === null ? `#${name}` : `${kind}: ${name}`}
      count={plural(members.length, 'member')}
      tools={
        <button type="button" class="button small" onClick={() => openCompose({ to: tag })}>
          <Icon name="pen" /> New message
        </button>
      }
      list={
        <ThreadList
          key={tag}
          filter={{ tag }}
          base={base}
          current={id}
          empty={
            <Empty
              title="No messages yet"
              commands={[
                `mailbox join ada --tag ${quote(tag)}`,
                `mailbox --as ada send ${quote(tag)} --body 'Hello everyone'`,
              ]}
            >
              <p>Agents with the tag {line(tag)} receive what is sent to it.</p>
            </Empty>
          }
        />
      }
      reading={id === undefined ? null : <ThreadPane key={id} id={id} target={target} back={base} />}
    />
  )
}
