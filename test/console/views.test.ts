import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { expectAccessible } from './axe.ts'
import { expectNothingClipped, expectTargets } from './layout.ts'
import { desk, eventually, laptop, phone, Stage, shoot } from './stage.ts'
import { type Story, tellStory } from './story.ts'

let stage: Stage
let story: Story

beforeAll(async () => {
  stage = await Stage.open(async (dir) => {
    story = await tellStory(dir)
  })
})
afterAll(() => stage.close())
afterEach(async () => expect(await stage.rest()).toEqual([]))

interface View {
  name: string
  path: () => string
  /** Present once the view is loaded. */
  ready: string
  act?: (page: Page) => Promise<void>
}

const views: View[] = [
  { name: 'needs-you', path: () => '/', ready: 'text=Which token may the CI use?' },
  { name: 'needs-you-open', path: () => `/needs-you/${story.plan}`, ready: 'text=Approve' },
  { name: 'triage', path: () => `/triage/${story.plan}`, ready: 'text=Approve' },
  {
    name: 'snooze',
    path: () => `/triage/${story.help}`,
    ready: '.triage-actions',
    act: async (page) => {
      await page.keyboard.press('h')
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'settings', path: () => '/settings', ready: 'text=limits.inbox' },
  { name: 'threads', path: () => '/threads', ready: 'text=Rebuild the index' },
  { name: 'thread', path: () => `/threads/${story.thread}`, ready: '.prose table' },
  {
    name: 'ladder',
    path: () => `/threads/${story.thread}`,
    ready: '.prose table',
    act: async (page) => {
      await page.getByRole('button', { name: 'Delivery status' }).first().click()
      await page.locator('.ladder').first().waitFor()
    },
  },
  {
    name: 'sequence',
    path: () => `/threads/${story.thread}`,
    ready: '.prose table',
    act: async (page) => {
      await page.getByRole('link', { name: 'Sequence' }).click()
      await page.locator('.sequence-room .chart').waitFor()
    },
  },
  {
    name: 'reply',
    path: () => `/threads/${story.thread}`,
    ready: '.prose table',
    act: (page) => page.keyboard.press('r'),
  },
  { name: 'channel', path: () => '/channels/project:inscription', ready: 'text=Stand-up' },
  { name: 'agents', path: () => '/agents', ready: 'text=Rollback journal or WAL?' },
  { name: 'agent', path: () => '/agents/swarm%2Fscribe', ready: 'text=Notes of the night' },
  { name: 'message', path: () => `/messages/${story.done}`, ready: '.ladder >> text=rebuilt in 8 s' },
  { name: 'search', path: () => '/search?q=index', ready: '.row' },
  { name: 'dead', path: () => '/dead', ready: '.row', act: (page) => page.locator('.row').click() },
  { name: 'stats', path: () => '/stats', ready: '.chart canvas' },
  { name: 'traffic', path: () => '/traffic', ready: '.chart svg' },
  { name: 'matrix', path: () => '/traffic?view=matrix', ready: '.chart table' },
  { name: 'replay', path: () => '/replay', ready: '.replay-log a' },
  { name: 'audit', path: () => '/audit', ready: '.table >> text=joined' },
  { name: 'compose', path: () => '/compose?to=ada', ready: 'dialog[open]' },
  {
    name: 'compose-handoff',
    path: () => '/compose?to=ada,bob',
    ready: 'dialog[open] .composer-templates',
    act: async (page) => {
      await page.getByRole('button', { name: 'Handoff' }).click()
      await page.getByText('Tags, attachments, schedule, expiry').click()
    },
  },
  { name: 'away', path: () => '/away?since=24h', ready: '.digest li' },
  { name: 'drafts', path: () => '/drafts', ready: 'h1:has-text("Drafts")' },
  { name: 'timeline', path: () => `/threads/${story.thread}?view=timeline`, ready: '.timeline-rows li' },
  {
    name: 'palette',
    path: () => '/threads',
    ready: '.row',
    act: (page) => page.keyboard.press('Control+k'),
  },
  { name: 'keys', path: () => '/threads', ready: '.row', act: (page) => page.keyboard.press('?') },
  {
    name: 'triage-answer',
    path: () => `/triage/${story.help}`,
    ready: '.triage-actions',
    act: async (page) => {
      await page.keyboard.press('r')
      await page.keyboard.type('Take the one of the release job.')
    },
  },
  {
    name: 'triage-reject',
    path: () => `/triage/${story.plan}`,
    ready: '.triage-actions',
    act: (page) => page.keyboard.press('x'),
  },
  {
    name: 'selected',
    path: () => '/needs-you',
    ready: '.row',
    act: (page) => page.keyboard.press('S'),
  },
  {
    name: 'completion',
    path: () => '/search',
    ready: '.search-form input',
    act: async (page) => {
      await page.getByRole('searchbox').fill('fr')
      await page.getByRole('option').first().waitFor()
    },
  },
  { name: 'search-nothing', path: () => '/search?q=xylophone', ready: '.list-pane .empty' },
  { name: 'not-found', path: () => '/nowhere', ready: 'h1:has-text("Page not found")' },
]

const sizes = { desk, laptop, phone }
const themes = ['light', 'dark'] as const

describe(`at ${Object.values(sizes)
  .map(({ width }) => width)
  .join(', ')} px, in both themes`, () => {
  let page: Page
  beforeAll(async () => {
    page = await stage.page('/', { keep: true })
  })

  let isChanged = false
  /** Goes to a view as a link does; loads the page where something was done in the view before, or will be in this. */
  async function show(path: string, isActedOn: boolean): Promise<void> {
    if (isChanged || isActedOn) await page.goto(`${stage.url}${path}`)
    else await page.evaluate((to) => history.pushState(null, '', to), path)
    isChanged = isActedOn
  }

  it.each(views)('$name is accessible, and nothing in it is clipped', async ({ name, path, ready, act }) => {
    await page.setViewportSize(desk)
    await page.emulateMedia({ colorScheme: 'light' })
    await show(path(), act !== undefined)
    await page.locator(ready).first().waitFor()
    await act?.(page)
    // The sidebar is the same on every page.
    const exclude = name === views[0]!.name ? undefined : '.nav'
    for (const [size, viewport] of Object.entries(sizes)) {
      await page.setViewportSize(viewport)
      for (const theme of themes) {
        await page.emulateMedia({ colorScheme: theme })
        await shoot(page, `${name}-${theme}-${size}`)
        await expectNothingClipped(page)
        // The theme changes only colours.
        await expectAccessible(page, { exclude, rules: theme === 'light' ? 'all' : 'colours' })
      }
    }
    await expectTargets(page)
  })
})

describe('every view', () => {
  it('has a URL that leads back to it', async () => {
    const page = await stage.page('/')
    for (const name of [
      'While away',
      'Threads',
      'Search',
      'Agents',
      'Dead letters',
      'Metrics',
      'Traffic',
      'Replay',
    ]) {
      await page.locator('.nav').getByRole('link', { name, exact: false }).first().click()
      const title = await page.getByRole('heading', { level: 1 }).first().textContent()
      await page.reload()
      await eventually(() => page.getByRole('heading', { level: 1 }).first().textContent()).toBe(title)
    }
    await page.goBack()
    await eventually(() => page.url()).toContain('/traffic')
  })

  it('has a policy that blocks everything else', async () => {
    const { headers } = await fetch(`${stage.url}/threads/anything.js`)
    const policy = headers.get('content-security-policy')!.split('; ')
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "require-trusted-types-for 'script'",
      'trusted-types dompurify',
    ])
      expect(policy).toContain(rule)
  })

  it('removes the token from the address bar', async () => {
    const page = await stage.page('/agents')
    expect(page.url()).toBe(`${stage.url}/agents`)
    expect(await page.evaluate(() => sessionStorage.getItem('mailbox.token'))).toBe(stage.token)
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(stage.token)
  })

  it('respects reduced motion', async () => {
    const page = await stage.page('/', { phone: true, reducedMotion: 'reduce' })
    await page.getByRole('button', { name: 'Menu', exact: true }).click()
    const nav = page.locator('.nav')
    expect(await nav.evaluate((element) => getComputedStyle(element).transitionDuration)).toBe('0s')
  })
})

describe('a view', () => {
  it('shows agents, their state and what they are waiting for', async () => {
    const page = await stage.page('/agents')
    const row = page.locator('.agents tr', { hasText: 'bob' })
    await row.getByText('Rollback journal or WAL?').waitFor()
    expect(await row.textContent()).toContain('waiting')
    expect(await row.textContent()).toContain('ada: Rollback')
    await eventually(() => page.locator('.agents tr', { hasText: 'dora' }).textContent()).toContain('left')
  })

  it('shows a channel for each tag', async () => {
    const page = await stage.page('/threads')
    const channels = page.locator('.nav').getByRole('link', { name: '#inscription' })
    await channels.click()
    expect(page.url()).toBe(`${stage.url}/channels/${encodeURIComponent('project:inscription')}`)
    const rows = page.locator('.row-subject')
    await eventually(() => rows.allTextContents()).toEqual(['Stand-up', 'Rebuild the index'])
  })

  it('shows what needs the person, by what it frees, and the rest below', async () => {
    const page = await stage.page('/')
    await eventually(() => page.locator('.row-subject').allTextContents()).toEqual([
      // Bob waits for ada, and ada for the person.
      'Split the projection in two',
      'Which token may the CI use?',
      'Staging is nearly full',
      'Freeze from 18:00',
      'Notes of the night',
    ])
    await eventually(() => page.locator('.needs-head h2').allTextContents()).toEqual([
      ' Agents are blocked 3',
      ' Asked of you 1',
      ' For your information 1',
    ])
  })

  it('shows the delivery history, the raw message and the command that sends it', async () => {
    const page = await stage.page(`/messages/${story.done}`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const rungs = page.getByRole('region', { name: 'Delivery status for bob' }).locator('li > b')
    await eventually(() => rungs.allTextContents()).toEqual([
      'sent',
      'read',
      'in progress',
      'completed',
      'archived',
    ])
    await page.getByRole('button', { name: 'Raw JSON' }).click()
    const raw = JSON.parse((await page.locator('.raw').textContent())!) as { id: string; body: string }
    expect(raw.id).toBe(story.done)
    await page.getByRole('button', { name: 'Copy as command' }).first().click()
    const command = await page.evaluate(() => navigator.clipboard.readText())
    expect(command).toMatch(
      /^mailbox --as ada send bob --subject 'Rebuild the index' --priority urgent --tag project:inscription --body '/,
    )
    expect(command).toContain(raw.body.slice(0, 40))
  })

  it('finds mail by words and operators', async () => {
    const page = await stage.page('/search')
    const found = async (query: string) => {
      await page.getByRole('searchbox').fill(query)
      await page.keyboard.press('Enter')
      await eventually(() => new URL(page.url()).searchParams.get('q')).toBe(query)
      return eventually(() => page.locator('.row-subject').allTextContents())
    }
    await (await found('projection')).toEqual(['Split the projection in two'])
    await (await found('from:cleo to:user')).toEqual(['Freeze from 18:00'])
    await (await found('has:attachment')).toEqual(['Please review the minutes'])
    await (await found('tag:concern:governance -from:ada')).toEqual(['Who decides on limits?'])
    await (await found('type:plan_submission')).toEqual(['Split the projection in two'])
    await (await found('before:2001-01-01')).toEqual([])
    await page.getByRole('searchbox').fill('is:nonsense')
    await page.getByText('unknown search term is:nonsense').waitFor()
  })

  it('searches while one types: completed, counted, highlighted, and saved as a view', async () => {
    const page = await stage.page('/search')
    const field = page.getByRole('searchbox')
    const options = page.getByRole('option')
    await field.waitFor()
    await page.keyboard.type('fr')
    await eventually(() => options.allTextContents()).toEqual(['from:sender'])
    await page.keyboard.press('Tab')
    await page.keyboard.type('cl')
    await eventually(() => options.allTextContents()).toEqual(['from:cleo'])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await field.inputValue()).toBe('from:cleo ')
    await page.keyboard.type('after:24h freez')
    const result = page.locator('.row-subject')
    await eventually(() => result.locator('mark').allTextContents()).toEqual(['Freez'])
    await eventually(() => page.locator('.list-head .count').textContent()).toBe('1 result')
    await field.fill('fron:cleo')
    await page.getByText('did you mean from:?').waitFor()

    await field.fill('priority:urgent')
    await eventually(() => page.locator('.list-head .count').textContent()).toBe('3 results')
    await page.getByRole('button', { name: 'Save this search' }).click()
    await page.keyboard.type('loud')
    await page.keyboard.press('Enter')
    const view = page.locator('.nav').getByRole('link', { name: 'loud' })
    await eventually(() => view.textContent()).toBe('loud3')
    await page.goto(`${stage.url}/threads`)
    await view.click()
    await eventually(() => field.inputValue()).toBe('priority:urgent')
    await shoot(page, 'search-view')
    await page.getByRole('button', { name: 'Remove' }).click()
    await eventually(() => view.count()).toBe(0)
  })

  it('shows rates, latencies and unread mail, in total and by agent', async () => {
    const page = await stage.page('/stats')
    await page.locator('.chart canvas').first().waitFor()
    const bob = page.locator('.table tr', { hasText: 'bob' })
    expect(await bob.locator('td').nth(1).textContent()).toBe('5')
    expect(await page.locator('.tile', { hasText: 'Sent' }).textContent()).toContain('16')
    expect(await page.locator('.tile', { hasText: 'Dead letters' }).textContent()).toContain('1')
    expect(await page.locator('.tile', { hasText: 'Time to read' }).textContent()).toMatch(/p95\s.*\sm?s\b/)
  })

  it('shows traffic, and leads to the mail', async () => {
    const page = await stage.page('/traffic?view=matrix')
    await page.locator('.chart table').first().waitFor()
    await page.getByRole('link', { name: 'Graph' }).click()
    const bob = page.locator('.chart svg').getByText('bob', { exact: true })
    await bob.waitFor()
    await page
      .locator('.chart svg [role=button], .chart svg [role=link], .chart svg g[tabindex]')
      .first()
      .focus()
    await page.keyboard.press('Enter')
    await eventually(() => page.url()).not.toContain('/traffic')
  })

  it('replays the history from the first entry to the last', async () => {
    const page = await stage.page('/replay?at=3')
    const heads = page.locator('.replay-agents li')
    await eventually(() => heads.count()).toBe(3)
    expect(await page.locator('.replay-log li').first().textContent()).toContain('bob joined')
    const slider = page.getByRole('slider')
    await slider.focus()
    await page.keyboard.press('End')
    // What the hub has refused since may be behind it.
    await eventually(() => page.locator('.replay-log').textContent()).toContain('Run the storm tests')
    await eventually(() => heads.count()).toBe(6)
    await page.keyboard.press('Home')
    await eventually(() => page.url()).toContain('at=1')
  })
})
