import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { builtFiles } from './built.ts'
import { eventually, type OpenOptions, Stage } from './stage.ts'
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

const mailbox = (name: string) => stage.space.mailbox(name, { join: false })

const isLive = (page: Page) => page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })

/** A browser that is too busy to load anything ahead of time. */
const neverIdle = (page: Page) =>
  page.addInitScript(() => Object.assign(window, { requestIdleCallback: () => 0 }))

/** Counts page loads from now on. */
function countLoads(page: Page): () => number {
  let count = 0
  page.on('load', () => count++)
  return () => count
}

/** The paths of all API requests of the page. */
function watchRequests(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/')) asked.push(pathname)
  })
  return asked
}

/** A page in the background, whose notifications are written down. */
const inBackground: OpenOptions = {
  permissions: ['notifications'],
  before: (page) =>
    page.addInitScript(() => {
      const notes: string[] = []
      Object.assign(window, { notes })
      class Note {
        static permission = 'granted'
        static requestPermission = async () => 'granted'
        onclick = null
        constructor(title: string) {
          notes.push(title)
        }
        close() {}
      }
      Object.assign(window, { Notification: Note })
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
    }),
}
const notesOf = (page: Page) => page.evaluate(() => (window as unknown as { notes: string[] }).notes)

describe('without a reload', () => {
  it('mail, receipts, channels and agents update', async () => {
    const page = await stage.page('/threads')
    await page.locator('.row').first().waitFor()
    const bob = await mailbox('bob')
    const sent = await bob.send({
      to: 'cleo',
      subject: 'Fresh from bob',
      body: 'Look.',
      tags: ['concern:speed'],
    })
    await page.locator('.row').first().getByText('Fresh from bob').waitFor()
    await page.locator('.nav').getByRole('link', { name: 'concern:speed' }).waitFor()

    await page.locator('.row').first().click()
    await page.locator('.receipts').getByText('cleo · unread').waitFor()
    const cleo = await mailbox('cleo')
    await cleo.read(sent.id)
    await page.locator('.receipts').getByText('cleo · read').waitFor()
    await cleo.reply(sent.id, { body: 'Looked.' })
    await page.locator('.message').getByText('Looked.').waitFor()

    await stage.space.join('erin', { roles: ['night'] })
    await page.locator('.nav').getByRole('link', { name: 'erin' }).waitFor()
    await stage.space.leave('erin')
    await eventually(() => page.locator('.nav').getByRole('link', { name: 'erin' }).count()).toBe(0)
  })

  it('what needs the person appears, is counted, announced and, if enabled, notified', async () => {
    const page = await stage.page('/agents', inBackground)
    const badge = page.locator('.nav .badge.call')
    const before = Number(await badge.textContent())
    const ada = await mailbox('ada')
    await ada.send({ to: 'user', subject: 'Thanks', body: 'Nothing to do.' })
    await ada.send({ to: 'user', subject: 'Nobody asked to be told', body: '', requiresAck: true })
    await eventually(async () => Number(await badge.textContent())).toBe(before + 1)
    expect(await notesOf(page)).toEqual([])

    await page.getByRole('button', { name: 'Desktop notifications' }).click()
    await ada.send({ to: 'user', subject: 'A second thing', body: '', requiresAck: true })
    await eventually(() => notesOf(page)).toEqual(['ada: A second thing'])
    await eventually(() => page.locator('[aria-live][role=log]').textContent()).toContain('A second thing')
  })

  it('new mail that a saved search finds is notified, if enabled for it', async () => {
    const page = await stage.page('/search?q=telescope', inBackground)
    await page.getByRole('button', { name: 'Save this search' }).click()
    await page.keyboard.type('stars')
    await page.keyboard.press('Enter')
    const notify = page.getByRole('button', { name: 'Notify' })
    await notify.click()
    await eventually(() => notify.getAttribute('aria-pressed')).toBe('true')
    await page.reload()
    await eventually(() => notify.getAttribute('aria-pressed')).toBe('true')
    const ada = await mailbox('ada')
    await ada.send({ to: 'bob', subject: 'No match', body: 'x' })
    await ada.send({ to: 'bob', subject: 'The telescope is here', body: 'x' })
    await eventually(() => notesOf(page)).toEqual(['stars: 1 new message'])
    await page.getByRole('button', { name: 'Remove' }).click()
  })

  it('applies entries, and requests only what they change', async () => {
    const page = await stage.page(`/threads/${story.thread}`)
    await page.locator('.message').first().waitFor()
    const asked = watchRequests(page)
    const bob = await mailbox('bob')
    await bob.send({
      to: 'cleo',
      threadId: story.thread,
      subject: 'Rebuild the index',
      body: 'One more word.',
    })
    await page.locator('.message').getByText('One more word.').waitFor()
    await eventually(() => asked).toContain('/api/overview')
    expect(asked.filter((path) => path.startsWith('/api/threads'))).toEqual([])
  })

  it('resumes after a break, with nothing missed and nothing twice', async () => {
    const page = await stage.page('/threads', { forgiving: true })
    await page.locator('.row').first().waitFor()
    await stage.stopHub()
    await page.getByText('Reconnecting to the hub').waitFor()
    const bob = await mailbox('bob')
    for (const n of [1, 2, 3]) await bob.send({ to: 'ada', subject: `While you were away ${n}`, body: '' })
    await stage.startHub()
    await isLive(page)
    await eventually(() => page.getByText('Reconnecting to the hub').count()).toBe(0)
    const rows = page.locator('.row-subject', { hasText: 'While you were away' })
    await eventually(() => rows.allTextContents()).toEqual([3, 2, 1].map((n) => `While you were away ${n}`))
    expect(await page.locator('.row', { hasText: 'While you were away' }).getByText('messages').count()).toBe(
      0,
    )
  })
})

describe('a hub that goes away', () => {
  it('is waited for if it goes before the first answer', async () => {
    const page = await stage.page('/agents', {
      ...{ forgiving: true, waits: false },
      before: async (one) => {
        // The page is loaded, but its first requests fail.
        let stopped: Promise<void> | undefined
        await one.route('**/api/**', async (route) => {
          stopped ??= stage.stopHub()
          await stopped
          await route.abort('connectionrefused')
        })
      },
    })
    await page.getByText('Reconnecting to the hub').waitFor()
    await page.getByRole('alert').getByText('Cannot reach the hub').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await stage.startHub()
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
    await isLive(page)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('leaves all views usable, because their code is loaded already', async () => {
    const page = await stage.page('/threads', { forgiving: true })
    const loaded = () =>
      page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname))
    const scripts = builtFiles().filter((file) => file.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(10)
    await eventually(loaded).toEqual(expect.arrayContaining(scripts.map((file) => `/${file}`)))
    await stage.stopHub()
    await page.getByText('Reconnecting to the hub').waitFor()
    await page.getByRole('link', { name: 'Metrics' }).click()
    await page.getByRole('alert').getByText('Cannot reach the hub').waitFor()
    await stage.startHub()
    await page.locator('.chart canvas').first().waitFor()
  })

  it('gets a view loaded when it is back, if the code was requested meanwhile', async () => {
    const page = await stage.page('/threads', { forgiving: true, before: neverIdle })
    await page.locator('.row').first().waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await stage.stopHub()
    await page.getByText('Reconnecting to the hub').waitFor()
    await page.getByRole('link', { name: 'Metrics' }).click()
    await page.getByText('Waiting for the hub').waitFor()
    expect(asked.filter((url) => url.includes('/assets/'))).toEqual([])
    await page.evaluate(() => Object.assign(window, { isSameDocument: true }))
    await stage.startHub()
    await page.getByRole('heading', { name: 'Metrics' }).waitFor()
    await page.locator('.chart canvas').first().waitFor()
    expect(await page.evaluate(() => 'isSameDocument' in window)).toBe(true)
  })
})

describe('code that fails to load', () => {
  it('loads after one reload, which waits until nobody is typing', async () => {
    const page = await stage.page('/threads', { forgiving: true, before: neverIdle })
    let isBroken = true
    await page.route('**/assets/stats-*.js', (route) => (isBroken ? route.abort() : route.continue()))
    const text = page.getByRole('textbox', { name: 'Message' })
    let probes = 0
    await page.route('**/health', async (route) => {
      // The probe is answered only when the person has started to write.
      if (probes === 0) {
        await page.keyboard.press('c')
        await text.fill('Do not lose this')
      }
      probes++
      await route.continue()
    })
    const loads = countLoads(page)
    await page.getByRole('link', { name: 'Metrics' }).click()
    await page.getByText('Reloading').waitFor()
    await eventually(() => probes).toBeGreaterThan(2)
    expect(loads()).toBe(0)
    isBroken = false
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Metrics' }).waitFor()
    expect(loads()).toBe(1)
    await page.keyboard.press('c')
    await eventually(() => text.inputValue()).toBe('Do not lose this')
  })

  it('does not cause a reload loop', async () => {
    const page = await stage.page('/threads', {
      forgiving: true,
      before: (one) => one.route('**/assets/stats-*.js', (route) => route.abort()),
    })
    await page.locator('.row').first().waitFor()
    const loads = countLoads(page)
    await page.getByRole('link', { name: 'Metrics' }).click()
    const reload = page.getByRole('alert').getByRole('button', { name: 'Reload' })
    await reload.waitFor()
    expect(loads()).toBe(1)
    await page.unroute('**/assets/stats-*.js')
    await reload.click()
    await page.getByRole('heading', { name: 'Metrics' }).waitFor()
    expect(loads()).toBe(2)
  })

  it('is reloaded for the Markdown renderer as well', async () => {
    const page = await stage.page('/threads', { forgiving: true, before: neverIdle })
    let isBroken = true
    await page.route('**/assets/markdown-render-*.js', (route) =>
      isBroken ? route.abort() : route.continue(),
    )
    await page.route('**/health', async (route) => {
      isBroken = false
      await route.continue()
    })
    await page.locator('.row', { hasText: 'Rebuild the index' }).click()
    await page.locator('.prose table').waitFor()
  })
})

describe('a first request that fails', () => {
  it.each(['needs-you', 'overview', 'replay'])('is retried: %s', async (reading) => {
    let isBusy = true
    const page = await stage.page(reading === 'replay' ? '/replay' : '/', {
      ...{ forgiving: true, waits: false },
      before: (one) =>
        one.route(`**/api/${reading}*`, async (route) => {
          const json = { error: { code: 'internal', message: 'the hub is busy' } }
          await (isBusy ? route.fulfill({ status: 500, json }) : route.continue())
        }),
    })
    const sign = reading === 'overview' ? page.getByText('Connecting') : page.getByText('The hub is busy')
    await sign.first().waitFor()
    isBusy = false
    await page.locator('.row, .replay-log li').first().waitFor()
    await isLive(page)
  })
})

describe('opening pages', () => {
  it('marks nothing as read', async () => {
    const names = (await stage.space.agents()).map(({ name }) => name)
    const counts = async () =>
      Promise.all(names.map(async (name) => [name, await (await mailbox(name)).count()] as const))
    const before = await counts()
    const end = await stage.space.lastSeq()
    const page = await stage.page('/')
    const threads = '/threads?agent=ada'
    for (const path of [
      '/threads',
      `/threads/${story.thread}`,
      '/agents/ada',
      threads,
      `/messages/${story.question}`,
      '/dead',
      '/stats',
      '/traffic',
      '/replay',
      '/search?q=the',
      `/needs-you/${story.help}`,
    ]) {
      await page.goto(stage.url + path)
      await page.locator('h1').first().waitFor()
      await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })
    }
    for (const _ of [1, 2, 3]) await page.keyboard.press('j')
    expect(await counts()).toEqual(before)
    expect(await stage.space.lastSeq()).toBe(end)
  })
})
