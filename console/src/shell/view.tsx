import type { Route } from '../lib/route.ts'
import { lazy } from '../parts/lazy.tsx'
import { AgentsPage } from '../views/agents.tsx'
import { NeedsYouPage } from '../views/needs-you.tsx'
import { Page } from '../views/page.tsx'
import { ChannelPage, ThreadsPage } from '../views/pages.tsx'

const AgentPage = lazy(async () => (await import('../views/agent.tsx')).AgentPage)
const MessagePage = lazy(async () => (await import('../views/message.tsx')).MessagePage)
const SearchPage = lazy(async () => (await import('../views/search.tsx')).SearchPage)
const TriagePage = lazy(async () => (await import('../views/triage.tsx')).TriagePage)
const SettingsPage = lazy(async () => (await import('../views/settings.tsx')).SettingsPage)
const DeadPage = lazy(async () => (await import('../views/dead.tsx')).DeadPage)
const StatsPage = lazy(async () => (await import('../views/stats.tsx')).StatsPage)
const TrafficPage = lazy(async () => (await import('../views/traffic.tsx')).TrafficPage)
const AuditPage = lazy(async () => (await import('../views/audit.tsx')).AuditPage)
const AwayPage = lazy(async () => (await import('../views/away.tsx')).AwayPage)
const DraftsPage = lazy(async () => (await import('../views/drafts.tsx')).DraftsPage)
const ReplayPage = lazy(async () => (await import('../views/replay.tsx')).ReplayPage)

/** The page for a route. */
export function View({ route, query }: { route: Route; query: URLSearchParams }) {
  const target = query.get('m') ?? undefined
  switch (route.page) {
    case 'needs-you':
      return <NeedsYouPage id={route.id} />
    case 'triage':
      return <TriagePage id={route.id} />
    case 'compose':
      return <NeedsYouPage id={undefined} />
    case 'threads':
      return <ThreadsPage id={route.id} agent={query.get('agent') ?? undefined} target={target} />
    case 'channel':
      return <ChannelPage key={route.tag} tag={route.tag} id={route.id} target={target} />
    case 'agents':
      return <AgentsPage />
    case 'agent':
      return <AgentPage key={route.name} name={route.name} />
    case 'message':
      return <MessagePage key={route.id} id={route.id} />
    case 'search':
      return <SearchPage q={query.get('q') ?? ''} id={route.id} />
    case 'dead':
      return <DeadPage id={route.id} />
    case 'stats':
      return <StatsPage query={query} />
    case 'traffic':
      return <TrafficPage query={query} />
    case 'replay':
      return <ReplayPage at={query.has('at') ? Number(query.get('at')) : undefined} />
    case 'away':
      return <AwayPage since={query.get('since') ?? undefined} />
    case 'drafts':
      return <DraftsPage />
    case 'audit':
      return <AuditPage />
    case 'settings':
      return <SettingsPage />
    case 'missing':
      return (
        <Page title="Page not found">
          <p>
            The address may be mistyped. Go to <a href="/needs-you">Needs you</a>, or{' '}
            <a href="/search">search</a>.
          </p>
        </Page>
      )
  }
}
