import './shell.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import { usePathname, useSearch } from 'wouter-preact/use-browser-location'
import { unreadableHint, unreadableText } from '../../../src/model/unreadable.ts'
import { connection } from '../data/connection.ts'
import { overlay, show } from '../keys/keyboard.ts'
import { KeysDialog } from '../keys/keys-dialog.tsx'
import { Palette } from '../keys/palette.tsx'
import { hueOf } from '../lib/hue.ts'
import { parseRoute, type Route } from '../lib/route.ts'
import { line } from '../lib/text.ts'
import { Icon } from '../parts/icon.tsx'
import { SnoozeDialog } from '../parts/snooze-dialog.tsx'
import { Toasts } from '../parts/toast.tsx'
import { openCompose } from '../state/compose.ts'
import { isForPerson } from '../state/matters.ts'
import { announcement } from '../state/notify.ts'
import { openNeeds } from '../state/open-needs.ts'
import { overview } from '../state/overview.ts'
import { ComposeDialog } from '../views/compose-dialog.tsx'
import { showFavicon } from './favicon.ts'
import { Nav } from './nav.tsx'
import { View } from './view.tsx'

const titles: Record<Route['page'], string> = {
  'needs-you': 'Needs you',
  triage: 'Triage',
  threads: 'Threads',
  channel: 'Channel',
  agents: 'Agents',
  agent: 'Agent',
  message: 'Message',
  search: 'Search',
  dead: 'Dead letters',
  stats: 'Metrics',
  traffic: 'Traffic',
  replay: 'Replay',
  audit: 'Audit',
  settings: 'Settings',
  compose: 'New message',
  drafts: 'Drafts',
  away: 'While you were away',
  missing: 'Page not found',
}

function titleOf(route: Route): string {
  if (route.page === 'channel') return line(route.tag).replace(/^project:/, '#')
  return route.page === 'agent' ? line(route.name) : titles[route.page]
}

/** The frame: sidebar, current page and dialogs. */
export function Shell() {
  const pathname = usePathname()
  const search = useSearch()
  const route = parseRoute(pathname)
  const title = titleOf(route)
  const needed = openNeeds.value?.filter(isForPerson).length ?? 0
  const unreadable = overview.data.value?.unreadable ?? []
  const [isNavOpen, setNavOpen] = useState(false)
  const menu = useRef<HTMLButtonElement>(null)
  useEffect(() => setNavOpen(false), [pathname, search])
  const { space } = overview.data.value ?? {}
  const name = space === undefined ? 'mailbox' : line(space.name)
  useEffect(() => {
    document.title = `${needed > 0 ? `(${needed}) ` : ''}${title} · ${name}`
  }, [title, needed, name])
  useEffect(() => {
    if (space !== undefined) showFavicon(hueOf(space.id), needed > 0)
  }, [space?.id, needed > 0])
  useEffect(() => {
    if (route.page === 'compose') openCompose({ to: new URLSearchParams(search).get('to') ?? '' })
  }, [route.page, search])
  const returnsFocus = useRef(false)
  useEffect(() => {
    if (isNavOpen) document.querySelector<HTMLElement>('#nav a')?.focus()
    else if (returnsFocus.current) menu.current?.focus()
    returnsFocus.current = false
  }, [isNavOpen])
  const closeNav = () => {
    returnsFocus.current = isNavOpen
    setNavOpen(false)
  }
  return (
    <div class={`shell${isNavOpen ? ' nav-open' : ''}`}>
      <a class="button main skip" href="#main">
        Skip to content
      </a>
      <header class="topbar" inert={isNavOpen}>
        <button
          type="button"
          ref={menu}
          class="button plain icon"
          aria-label="Menu"
          aria-expanded={isNavOpen}
          aria-controls="nav"
          onClick={() => setNavOpen(true)}
        >
          <Icon name="menu" />
        </button>
        {needed > 0 && <span class="badge call">{needed}</span>}
        <span class="title cut">{name}</span>
        <button
          type="button"
          class="button plain icon"
          aria-label="Command menu"
          onClick={() => show('palette')}
        >
          <Icon name="search" />
        </button>
        <button
          type="button"
          class="button plain icon"
          aria-label="New message"
          onClick={() => openCompose()}
        >
          <Icon name="pen" />
        </button>
      </header>
      <Nav route={route} search={search} onEscape={closeNav} />
      {isNavOpen && <button type="button" class="nav-veil" aria-label="Close menu" onClick={closeNav} />}
      <main id="main" tabIndex={-1} inert={isNavOpen}>
        {connection.value === 'reconnecting' && (
          <div class="away" role="status">
            Reconnecting to the hub…
          </div>
        )}
        {unreadable.length > 0 && (
          <div class="away" role="status">
            {unreadableText(unreadable)}; {unreadableHint.replaceAll('`', '')}
          </div>
        )}
        <View route={route} query={new URLSearchParams(search)} />
      </main>
      <div class="hidden" aria-live="polite" role="log">
        {announcement.value}
      </div>
      {overlay.value === 'palette' && <Palette />}
      {overlay.value === 'keys' && <KeysDialog />}
      <ComposeDialog />
      <SnoozeDialog />
      <Toasts />
    </div>
  )
}
