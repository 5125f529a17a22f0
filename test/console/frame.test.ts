import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { writeSetting } from '../../src/space/settings.ts'
import { desk, eventually, Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await Stage.open(async (dir) => {
    const space = await openDisk({ dir, settings: { durability: 'os' } })
    await space.join('ada')
    await space.close()
    writeSetting(dir, 'name', 'Inscription')
  })
})
afterAll(() => stage.close())
afterEach(async () => expect(await stage.rest()).toEqual([]))

const icon = async (page: Page): Promise<string> =>
  decodeURIComponent((await page.locator('link[rel=icon]').getAttribute('href'))!)

describe('the frame', () => {
  it('shows the name and the colour of the space, in the sidebar, the title and the icon of the tab', async () => {
    const page = await stage.page('/threads')
    const brand = page.locator('.brand')
    await eventually(() => brand.textContent()).toBe('Inscription')
    await eventually(() => page.title()).toBe('Threads · Inscription')
    const hue = await brand.locator('.space-mark').evaluate((mark) => mark.style.getPropertyValue('--hue'))
    await eventually(() => icon(page)).toContain(`hsl(${hue} `)
    expect(await icon(page)).not.toContain('<circle')
    const ada = await stage.space.mailbox('ada', { join: false })
    const { id } = await ada.send({ to: 'user', subject: 'May I?', body: '?', awaitingResponse: true })
    await eventually(() => page.title()).toBe('(1) Threads · Inscription')
    await eventually(() => icon(page)).toContain('<circle')
    const user = await stage.space.mailbox('user', { join: false })
    await user.reply(id, { body: 'Yes.' })
    await user.done(id)
    await eventually(() => icon(page)).not.toContain('<circle')
  })

  it('has a list that is as wide as the person has dragged it', async () => {
    const page = await stage.page('/threads')
    const line = page.getByRole('separator', { name: 'Width of the list' })
    const list = page.locator('.list-pane')
    const width = async () => Math.round((await list.boundingBox())!.width)
    const before = await width()
    const { x, y, height } = (await line.boundingBox())!
    await page.mouse.move(x + 1, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + 101, y + height / 2, { steps: 4 })
    await page.mouse.up()
    await eventually(width).toBe(before + 100)
    await line.focus()
    await page.keyboard.press('ArrowLeft')
    await eventually(width).toBe(before + 76)
    await page.reload()
    await eventually(width).toBe(before + 76)
    expect(desk.width - (await width())).toBeGreaterThan(desk.width / 2)
  })

  it('offers in the command menu only what does something here', async () => {
    const page = await stage.page('/settings')
    const option = (name: string) => page.getByRole('option', { name })
    await page.keyboard.press('Control+k')
    await option('New message').waitFor()
    for (const name of ['Reject, with a reason', 'Snooze', 'Undo', 'Select all', 'Back to list'])
      expect(await option(name).count(), name).toBe(0)
    await page.keyboard.press('Escape')
    const ada = await stage.space.mailbox('ada', { join: false })
    await ada.send({ to: 'user', subject: 'And now?', body: '?', awaitingResponse: true })
    await page.goto(`${stage.url}/triage`)
    await page.locator('.triage-actions').waitFor()
    await page.keyboard.press('Control+k')
    for (const name of ['Snooze', 'Mark as done', 'Reply']) await option(name).first().waitFor()
  })
})
