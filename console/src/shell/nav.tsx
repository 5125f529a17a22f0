import './nav.css'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { connection } from '../data/connection.ts'
import { show } from '../keys/keyboard.ts'
import { channelName } from '../lib/address.ts'
import { draftPlaces } from '../lib/drafts.ts'
import { hueOf } from '../lib/hue.ts'
import { path, type Route } from '../lib/route.ts'
import { compact, line } from '../lib/text.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { StateDot } from '../parts/small.tsx'
import { openCompose } from '../state/compose.ts'
import { isForPerson } from '../state/matters.ts'
import { notifies, toggleNotify } from '../state/notify.ts'
import { openNeeds } from '../state/open-needs.ts'
import { overview } from '../state/overview.ts'
import { scheduled } from '../state/scheduled.ts'
import { isDark, setTheme } from '../state/theme.ts'
import { views } from '../state/views.ts'

const mostListed = 40

/** The sidebar: pages, channels and agents. */
export function Nav({ route, search, onEscape }: { route: Route; search: string; onEscape: () => void }) {
  const data = overview.data.value
  const needed = openNeeds.value?.filter(isForPerson).length ?? data?.asksYou ?? 0
  const q = route.page === 'search' ? new URLSearchParams(search).get('q') : null
  const isView = views.data.value?.some(({ query }) => query === q) ?? false
  useEffect(() => scheduled.use(), [])
  const drafts = draftPlaces.value.size + (scheduled.data.value?.length ?? 0)
  const item = (
    page: Route['page'],
    href: string,
    icon: IconName,
    name: string,
    count = 0,
    calls = false,
  ) => (
    <li>
      <a
        class="nav-link"
        href={href}
        aria-current={route.page === page && !(page === 'search' && isView) ? 'page' : undefined}
      >
        <Icon name={icon} />
        <span class="cut">{name}</span>
        {count > 0 && <span class={`badge${calls ? ' call' : ''}`}>{compact(count)}</span>}
      </a>
    </li>
  )
  return (
    <nav
      class="nav"
      aria-label="Mailbox"
      id="nav"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onEscape()
      }}
    >
      <div class="nav-head">
        <a class="brand" href="/needs-you" title={data && `Space ${line(data.space.name)}`}>
          <span
            class="space-mark"
            style={{ '--hue': String(data === undefined ? 265 : hueOf(data.space.id)) }}
            aria-hidden="true"
          >
            <Icon name="letter" />
          </span>
          <bdi class="cut">{data === undefined ? 'mailbox' : line(data.space.name)}</bdi>
        </a>
        <button
          type="button"
          class="button plain icon"
          aria-label="Command menu"
          title="Command menu (Ctrl K)"
          onClick={() => show('palette')}
        >
          <Icon name="search" />
        </button>
      </div>
      <button type="button" class="button nav-write" onClick={() => openCompose()}>
        <Icon name="pen" /> New message <kbd>c</kbd>
      </button>
      <div class="nav-scroll">
        <ul>
          {item('needs-you', '/needs-you', 'inbox', 'Needs you', needed, true)}
          {item('away', '/away', 'moon', 'While away')}
          {item('threads', '/threads', 'threads', 'Threads')}
          {item('search', '/search', 'search', 'Search')}
          {drafts > 0 && item('drafts', '/drafts', 'pen', 'Drafts', drafts)}
          {item('agents', '/agents', 'people', 'Agents')}
          {item('dead', '/dead', 'alert', 'Dead letters', data?.dead)}
          {item('stats', '/stats', 'chart', 'Metrics')}
          {item('traffic', '/traffic', 'graph', 'Traffic')}
          {item('replay', '/replay', 'play', 'Replay')}
          {item('audit', '/audit', 'ladder', 'Audit')}
          {item('settings', '/settings', 'gear', 'Settings')}
        </ul>
        <Views q={q} />
        <Channels route={route} />
        <Agents route={route} />
      </div>
      <Foot />
    </nav>
  )
}

const Section = ({
  title,
  more,
  children,
}: {
  title: string
  more?: string | undefined
  children: ComponentChildren
}) => (
  <>
    <h2>
      {title}
      {more && <span class="number">{more}</span>}
    </h2>
    <ul>{children}</ul>
  </>
)

/** Saved searches, with how many messages each finds. */
function Views({ q }: { q: string | null }) {
  useEffect(() => views.use(), [])
  const saved = views.data.value ?? []
  if (saved.length === 0) return null
  return (
    <Section title="Views">
      {saved.map(({ name, query, total, isMore }) => (
        <li key={name}>
          <a
            class="nav-link"
            href={`/search?q=${encodeURIComponent(query)}`}
            aria-current={q === query ? 'page' : undefined}
            title={line(query)}
          >
            <Icon name="search" />
            <bdi class="cut">{line(name)}</bdi>
            <span class="badge">
              {compact(total)}
              {isMore && '+'}
            </span>
          </a>
        </li>
      ))}
    </Section>
  )
}

/** Projects first, then other tags, each by name. */
const sortKey = (tag: string): string => (tag.startsWith('project:') ? ` ${tag}` : tag)

function Channels({ route }: { route: Route }) {
  const channels = (overview.data.value?.channels ?? []).toSorted((a, b) =>
    sortKey(a.tag) < sortKey(b.tag) ? -1 : 1,
  )
  if (channels.length === 0) return null
  return (
    <Section title="Channels">
      {channels.slice(0, mostListed).map(({ tag, messages }) => {
        const { name, kind } = channelName(tag)
        const isHere = route.page === 'channel' && route.tag === tag
        return (
          <li key={tag}>
            <a
              class="nav-link"
              href={path('channels', tag)}
              aria-current={isHere ? 'page' : undefined}
              title={line(tag)}
            >
              <bdi class="cut">
                {kind === null ? '#' : `${line(kind)}:`}
                {line(name)}
              </bdi>
              <span class="badge">{compact(messages)}</span>
            </a>
          </li>
        )
      })}
    </Section>
  )
}

function Agents({ route }: { route: Route }) {
  const data = overview.data.value
  const agents = (data?.agents ?? [])
    .filter(({ name, state }) => name !== 'user' && state !== 'dead')
    // By name, because states change often and click targets should not move.
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  if (data === undefined || agents.length === 0) return null
  return (
    <Section title="Agents" more={String(agents.length)}>
      {agents.slice(0, mostListed).map(({ name, state }) => {
        const unread = data.unread[name]?.unread ?? 0
        const isHere = route.page === 'agent' && route.name === name
        return (
          <li key={name}>
            <a class="nav-link" href={path('agents', name)} aria-current={isHere ? 'page' : undefined}>
              <StateDot state={state} />
              <bdi class="cut">{line(name)}</bdi>
              {unread > 0 && (
                <span class="badge" title={`${unread} unread`}>
                  {compact(unread)}
                </span>
              )}
            </a>
          </li>
        )
      })}
      {agents.length > mostListed && (
        <li>
          <a class="nav-link gone" href="/agents">
            View all {agents.length} agents
          </a>
        </li>
      )}
    </Section>
  )
}

const connectionNames = { connecting: 'Connecting…', live: 'Live', reconnecting: 'Reconnecting…' } as const

function Foot() {
  return (
    <div class="nav-foot">
      <span class={`dot ${connection.value === 'live' ? 'live' : 'waiting'}`} />
      <span role="status">{connectionNames[connection.value]}</span>
      <span class="tools">
        <button
          type="button"
          class="button plain icon small"
          aria-pressed={notifies.value}
          aria-label="Desktop notifications"
          title="Desktop notifications"
          onClick={() => void toggleNotify()}
        >
          <Icon name="bell" />
        </button>
        <button
          type="button"
          class="button plain icon small"
          aria-label={isDark.value ? 'Use light theme' : 'Use dark theme'}
          title={isDark.value ? 'Use light theme' : 'Use dark theme'}
          onClick={() => setTheme(isDark.value ? 'light' : 'dark')}
        >
          <Icon name={isDark.value ? 'sun' : 'moon'} />
        </button>
        <button
          type="button"
          class="button plain icon small"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={() => show('keys')}
        >
          <kbd>?</kbd>
        </button>
      </span>
    </div>
  )
}
