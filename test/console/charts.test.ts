import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../helpers/browser.ts'
import { type AxeRules, expectAccessible } from './axe.ts'
import { serveCharts } from './charts-server.ts'

let browser: Browser
/** One for all tests: a new window takes as much work as the charts. */
let page: Page
/** Errors in the page: any of them fails the test. */
const complaints: string[] = []
let server: { url: string; close: () => Promise<void> }

beforeAll(async () => {
  server = await serveCharts()
  browser = await launchBrowser()
  page = await browser.newPage({ reducedMotion: 'reduce', timezoneId: 'UTC' })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()))
})

afterEach(async () => {
  await page.goto('about:blank')
  expect(complaints.splice(0)).toEqual([])
})

afterAll(async () => {
  await browser?.close()
  await server?.close()
})

interface Look {
  query?: string
  dark?: boolean
  width?: number
}

/** Opens the page with all charts. */
async function open({ query = '', dark = false, width = 1_100 }: Look = {}): Promise<Page> {
  await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
  await page.setViewportSize({ width, height: 800 })
  await page.goto(`${server.url}${query}`)
  await page.locator('#series canvas').nth(2).waitFor()
  return page
}

/** The page shows the effect of a key with its next frame. */
const soon = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 120_000 })

/** What was selected last. */
async function picked(page: Page): Promise<unknown> {
  const text = await page.locator('#picked').textContent()
  return text === null || text === 'nothing' ? text : JSON.parse(text)
}

const nodePlaces = (page: Page) =>
  page.locator('#graph .node').evaluateAll((all) => all.map((node) => node.getAttribute('transform')))

describe('the charts', () => {
  it.each([
    ['light', {}, 'all'],
    ['dark', { dark: true }, 'colours'],
    ['on a phone', { width: 360 }, 'all but colours'],
  ] as [string, Look, AxeRules][])('have no axe violations, %s', async (_name, look, rules) => {
    const page = await open(look)
    const tables = page.locator('#series details summary')
    for (let at = 0; at < (await tables.count()); at++) await tables.nth(at).click()
    await soon(() => page.locator('#series table').count()).toBe(await tables.count())
    await expectAccessible(page, { rules })
  })

  it('never make the page wider than a phone', async () => {
    const page = await open({ width: 360, query: '?agents=60&messages=60' })
    expect(await page.locator('body').evaluate((body) => body.scrollWidth)).toBe(360)
  })
})

describe('traffic', () => {
  it('is the same picture for the same traffic', async () => {
    const places = await nodePlaces(await open())
    expect(await nodePlaces(await open())).toEqual(places)
    expect(new Set(places).size).toBe(15)
  })

  it('is navigated with arrow keys and selected with Enter', async () => {
    const page = await open()
    const first = page.locator('#graph .node[tabindex="0"]')
    expect(await first.count()).toBe(1)
    await first.focus()
    const from = await first.getAttribute('aria-label')
    await page.keyboard.press('ArrowLeft')
    const now = page.locator('#graph .node:focus')
    expect(await now.getAttribute('aria-label')).not.toBe(from)
    const readout = () => page.locator('.traffic-readout').textContent()
    await soon(readout).toBe(await now.getAttribute('aria-label'))
    await page.keyboard.press('Enter')
    const name = (await now.getAttribute('aria-label'))?.match(/^[^,:]+/)?.[0]
    await soon(() => picked(page)).toEqual({ kind: 'agent', name })
  })

  it('highlights the contacts of a node, and nothing else', async () => {
    const page = await open()
    await page.locator('#graph .node[aria-label^="chen"]').focus()
    const lit = page.locator('#graph .edge.is-lit')
    const rows = page.locator('#graph tbody tr', { has: page.getByText('chen', { exact: true }) })
    await soon(() => lit.count()).toBe(await rows.count())
  })

  it('drops labels when it is crowded, so that none overlap', async () => {
    const page = await open({ query: '?agents=200' })
    expect(await page.locator('#graph .node').count()).toBeGreaterThan(200)
    const boxes = await page
      .locator('#graph text')
      .evaluateAll((all) => all.map((text) => text.getBoundingClientRect().toJSON() as DOMRectLike))
    expect(boxes.length).toBeGreaterThan(20)
    const covered = boxes.filter((a, at) =>
      boxes.some(
        (b, other) =>
          other > at && a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom,
      ),
    )
    expect(covered).toEqual([])
  })

  it('is also a matrix, in either order', async () => {
    const page = await open()
    const heads = page.locator('#matrix tbody th')
    const busiest = await heads.allTextContents()
    await page.getByRole('button', { name: 'By name' }).click()
    expect([...busiest].sort()).not.toEqual(busiest)
    await soon(() => heads.allTextContents()).toEqual([...busiest].sort())
    const cell = page.getByRole('button', { name: 'kofi to chen: 27 messages' })
    await cell.click()
    await soon(() => picked(page)).toEqual({ kind: 'pair', from: 'kofi', to: 'chen' })
    await page.keyboard.press('ArrowLeft')
    expect(await page.locator('#matrix button:focus').getAttribute('aria-label')).toMatch(/^kofi to ada/)
  })

  it('shows the busiest first, and all on request', async () => {
    const page = await open({ query: '?agents=200' })
    expect(await page.locator('#matrix tbody tr').count()).toBe(40)
    await page.getByRole('button', { name: /Show all/ }).click()
    await soon(() => page.locator('#matrix tbody tr').count()).toBeGreaterThan(190)
  })
})

interface DOMRectLike {
  left: number
  right: number
  top: number
  bottom: number
}

describe('a thread as a sequence', () => {
  it('has a text alternative', async () => {
    const page = await open({ query: '?messages=60' })
    const words = await page
      .locator('.sequence-row')
      .evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''))
    expect(words).toHaveLength(60)
    expect(words[0]).toMatch(/^1\. 08:00:00 \w+ to \w+.*: status update, urgent, Flaky test/)
    expect(words.join('\n')).toMatch(/claimed from role:reviewer/)
    expect(words.join('\n')).toMatch(/replies to \d+/)
  })

  it('points from the sender to the recipient', async () => {
    const page = await open()
    const row = page.locator('.sequence-row').nth(2)
    const said = (await row.getAttribute('aria-label'))!.match(/\d (\w+) to (\w+)/)!
    const middle = async (name: string) => {
      const box = (await page.locator('.sequence-head', { hasText: name }).boundingBox())!
      return box.x + box.width / 2
    }
    const start = (await row.locator('.sequence-start').boundingBox())!
    const end = (await row.locator('.sequence-end').boundingBox())!
    expect(Math.abs(start.x + start.width / 2 - (await middle(said[1]!)))).toBeLessThan(3)
    expect(Math.abs(end.x - (await middle(said[2]!)))).toBeLessThan(3)
  })

  it('fans out to everybody who received a broadcast', async () => {
    const page = await open({ query: '?messages=200' })
    const row = page.locator('.sequence-row', { hasText: 'broadcast' }).first()
    expect(await row.locator('.sequence-end').count()).toBe(6)
  })

  it('keeps its headings in view over 200 messages, and jumps to the end with a key', async () => {
    const page = await open({ query: '?messages=200' })
    await page.locator('.sequence-row').first().focus()
    await page.keyboard.press('End')
    expect(await page.locator('.sequence-row:focus').getAttribute('aria-label')).toMatch(/^200\./)
    const frame = (await page.locator('.sequence-scroll').boundingBox())!
    const heads = (await page.locator('.sequence-heads').boundingBox())!
    expect(Math.abs(heads.y - frame.y)).toBeLessThan(3)
    await page.keyboard.press('Enter')
    await soon(() => picked(page)).toBe('m199')
  })
})

describe('the replay slider', () => {
  it('moves by entry, by page and to both ends', async () => {
    const page = await open()
    const slider = page.getByRole('slider', { name: 'Position in history' })
    await slider.focus()
    const seq = async () => Number(await page.locator('#seq').textContent())
    await page.keyboard.press('ArrowRight')
    await soon(seq).toBe(401)
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await soon(seq).toBe(399)
    await page.keyboard.press('PageUp')
    await soon(seq).toBeGreaterThan(450)
    await page.keyboard.press('Home')
    await soon(seq).toBe(1)
    await soon(() => slider.getAttribute('aria-valuetext')).toBe('08:00:00, entry 1 of 1200')
    await page.keyboard.press('End')
    await soon(seq).toBe(1_200)
  })

  it('plays to the end and stops there', async () => {
    const page = await open()
    await page.getByRole('combobox', { name: 'Speed' }).selectOption('7200')
    await page.getByRole('button', { name: 'Play' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.locator('#seq', { hasText: /^1200$/ }).waitFor()
    await page.getByRole('button', { name: 'Play' }).waitFor()
    // From the end it starts over.
    await page.getByRole('button', { name: 'Play' }).click()
    await page.locator('#seq', { hasText: /^\d{1,3}$/ }).waitFor()
  })
})

describe('values over time', () => {
  it('use the colours of the theme', async () => {
    const inks = async (page: Page) =>
      page
        .locator('#series canvas')
        .first()
        .evaluate((canvas) => {
          const { width, height } = canvas as unknown as { width: number; height: number }
          const context = (canvas as unknown as { getContext: (kind: '2d') => Context }).getContext('2d')
          const { data } = context.getImageData(0, 0, width, height)
          const seen = new Set<string>()
          for (let at = 0; at < data.length; at += 4)
            if (data[at + 3] === 255) seen.add(`${data[at]},${data[at + 1]},${data[at + 2]}`)
          return [...seen]
        })
    expect(await inks(await open())).toContain('31,95,191')
    expect(await inks(await open({ dark: true }))).toContain('127,176,255')
  })

  it('are shown under the pointer, in all charts at once', async () => {
    const page = await open()
    const legends = page.locator('#series .series-legend')
    const before = await legends.nth(2).textContent()
    await page
      .locator('#series .u-over')
      .first()
      .hover({ position: { x: 90, y: 40 } })
    await soon(() => legends.nth(2).textContent()).not.toBe(before)
  })

  it('are also a table, with a dash where there is no data', async () => {
    const page = await open()
    await page.getByText('Time to read as a table').click()
    const table = page.locator('#series table')
    await soon(() => table.locator('tbody tr').count()).toBe(48)
    expect(await table.locator('tbody td', { hasText: '–' }).count()).toBe(15)
  })
})

interface Context {
  getImageData: (x: number, y: number, width: number, height: number) => { data: Uint8ClampedArray }
}
