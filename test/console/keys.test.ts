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

describe('the keyboard alone', () => {
  it('moves in lists, replies, searches and opens every page', async () => {
    const page = await stage.page('/threads')
    const subjects = page.locator('.row-subject')
    await subjects.first().waitFor()
    const names = await subjects.allTextContents()
    const heading = page.locator('.reading h1')
    await page.keyboard.press('j')
    await eventually(() => heading.textContent()).toBe(names[0])
    await page.keyboard.press('j')
    await eventually(() => heading.textContent()).toBe(names[1])
    await page.keyboard.press('k')
    await eventually(() => heading.textContent()).toBe(names[0])
    await eventually(() => page.locator('.row[aria-current=true]').textContent()).toContain(names[0])

    await page.keyboard.press('r')
    await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('body')
    await page.keyboard.type('jk?')
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('jk?')
    await page.keyboard.press('Escape')

    await page.keyboard.press('/')
    await page.getByRole('searchbox').waitFor()
    await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('search')
    await page.keyboard.press('Escape')
    const places = {
      i: 'needs-you',
      t: 'threads',
      a: 'agents',
      d: 'dead',
      m: 'stats',
      w: 'traffic',
      p: 'replay',
    }
    for (const [key, path] of Object.entries(places)) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await eventually(() => new URL(page.url()).pathname).toBe(`/${path}`)
    }
  })

  it('shows the shortcuts, and returns the focus', async () => {
    const page = await stage.page('/agents')
    await page.locator('.agents a').first().focus()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await eventually(() => page.getByRole('dialog').count()).toBe(0)
    await eventually(() => page.evaluate(() => document.activeElement?.className)).toBe('who')
  })

  it('has a command menu', async () => {
    const page = await stage.page('/threads')
    await page.locator('.row').first().waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('scribe')
    await page.getByRole('option', { name: 'swarm/scribe' }).first().waitFor()
    await page.keyboard.press('Enter')
    await eventually(() => new URL(page.url()).pathname).toBe('/agents/swarm%2Fscribe')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('message ada')
    await page.keyboard.press('Enter')
    await eventually(() => page.getByLabel('To', { exact: true }).inputValue()).toBe('ada')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('shortcuts')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Next item').waitFor()
    await page.keyboard.press('Escape')
    await eventually(() => page.getByRole('dialog').count()).toBe(0)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('dark')
    await page.keyboard.press('Enter')
    await eventually(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
    await page.reload()
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
  })
})

describe('with a screen reader', () => {
  it('has landmarks, a skip link, and the focus on what was opened', async () => {
    const page = await stage.page('/threads')
    await page.locator('.row').first().waitFor()
    for (const role of ['main', 'navigation'] as const)
      expect(await page.getByRole(role).count()).toBeGreaterThan(0)
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await eventually(() => page.evaluate(() => document.activeElement?.id)).toBe('main')
    await page.getByRole('link', { name: 'Rollback journal or WAL?' }).click()
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe(
      'Rollback journal or WAL?',
    )
    await page.getByRole('link', { name: 'Metrics' }).click()
    await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Metrics')
    await eventually(() => page.title()).toMatch(/^\(4\) Metrics · /)
  })
})

describe('on a phone', () => {
  it('shows one pane at a time, with ways between them', async () => {
    const page = await stage.page('/', { phone: true })
    await page.locator('.row').first().waitFor()
    expect(await page.locator('.nav').isVisible()).toBe(false)
    expect(await page.locator('.reading').isVisible()).toBe(false)
    await page.getByRole('link', { name: 'Split the projection' }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await eventually(() => page.locator('.list-pane').isVisible()).toBe(false)
    await page.getByRole('link', { name: 'Back to list' }).click()
    await page.locator('.row').first().waitFor()

    await page.getByRole('button', { name: 'Menu', exact: true }).click()
    await page.locator('.nav').getByRole('link', { name: 'Threads' }).waitFor()
    await page.locator('.nav').getByRole('link', { name: 'Threads' }).focus()
    await page.keyboard.press('Escape')
    await eventually(() => page.locator('.nav').isVisible()).toBe(false)
    await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      'Menu',
    )
    await page.getByRole('button', { name: 'Menu', exact: true }).click()
    await page.locator('.nav').getByRole('link', { name: 'Agents', exact: true }).click()
    await eventually(() => page.locator('.nav').isVisible()).toBe(false)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(390)
    await page.goto(`${stage.url}/threads/${story.thread}`)
    await page.locator('.prose table').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  })
})
