import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventually, Stage } from './stage.ts'
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

/** Every request of the page for data, by what it asks for. */
function watchRequests(page: Page): string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/')) asked.push(pathname)
  })
  return asked
}

describe('without a reload', () => {
  it('mail, receipts, channels and agents move by themselves', async () => {
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
    await page.locator('.receipts').getByText('cleo stored').waitFor()
    const cleo = await mailbox('cleo')
    await cleo.read(sent.id)
    await page.locator('.receipts').getByText('cleo shown').waitFor()
    await cleo.reply(sent.id, { body: 'Looked.' })
    await page.locator('.message').getByText('Looked.').waitFor()

    await stage.space.join('erin', { roles: ['night'] })
    await page.locator('.nav').getByRole('link', { name: 'erin' }).waitFor()
    await stage.space.leave('erin')
    await eventually(() => page.locator('.nav').getByRole('link', { name: 'erin' }).count()).toBe(0)
  })

  it('what needs the person comes in, is counted, announced and, if wanted, notified', async () => {
    const page = await stage.page('/agents', {
      permissions: ['notifications'],
      before: async (one) => {
        await one.addInitScript(() => {
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
          // A page that nobody looks at.
          Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
        })
      },
    })
    const notes = () => page.evaluate(() => (window as unknown as { notes: string[] }).notes)
    const badge = page.locator('.nav .badge.call')
    const before = Number(await badge.textContent())
    const ada = await mailbox('ada')
    await ada.send({ to: 'user', subject: 'Nobody asked to be told', body: '' })
    await eventually(async () => Number(await badge.textContent())).toBe(before + 1)
    expect(await notes()).toEqual([])

    await page.getByRole('button', { name: 'Notify me on the desktop' }).click()
    await ada.send({ to: 'user', subject: 'A second thing', body: '' })
    await eventually(notes).toEqual(['ada: A second thing'])
    await eventually(() => page.locator('[aria-live][role=log]').textContent()).toContain('A second thing')
  })

  it('entries are applied, and only what they change is asked for again', async () => {
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

  it('goes on after a break, with nothing missed and nothing twice', async () => {
    const page = await stage.page('/threads', { forgiving: true })
    await page.locator('.row').first().waitFor()
    await stage.stopHub()
    await page.getByText('Reconnecting to the hub').waitFor()
    const bob = await mailbox('bob')
    for (const n of [1, 2, 3]) await bob.send({ to: 'ada', subject: `While you were away ${n}`, body: '' })
    // A page that was never opened cannot be loaded now; it comes by itself when the hub does.
    await page.getByRole('link', { name: 'Metrics' }).click()
    await page.getByText('could not be loaded').waitFor()
    await stage.startHub()
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Metrics' }).waitFor()
    await page.goBack()
    await eventually(() => page.getByText('Reconnecting to the hub').count()).toBe(0)
    const rows = page.locator('.row-subject', { hasText: 'While you were away' })
    await eventually(() => rows.allTextContents()).toEqual([3, 2, 1].map((n) => `While you were away ${n}`))
    expect(await page.locator('.row', { hasText: 'While you were away' }).getByText('messages').count()).toBe(
      0,
    )
  })
})

describe('looking', () => {
  it('marks nothing as read, for nobody', async () => {
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
      await page.getByText('live', { exact: true }).waitFor({ state: 'attached' })
    }
    for (const _ of [1, 2, 3]) await page.keyboard.press('j')
    expect(await counts()).toEqual(before)
    expect(await stage.space.lastSeq()).toBe(end)
  })
})
