import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { eventually, Stage } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await Stage.open()
})
afterAll(() => stage.close())
afterEach(async () => expect(await stage.rest()).toEqual([]))

const isLive = (page: Page) => page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })

/** A page with a half-written message in it. */
async function openPage(): Promise<Page> {
  const page = await stage.page('/agents', { forgiving: true, keep: true })
  await page.keyboard.press('c')
  await page.getByRole('textbox', { name: 'Message' }).fill('half a message')
  return page
}

it('says that the hub was restarted, and goes on with the new link', async () => {
  const page = await openPage()
  const before = stage.link
  await stage.stopHub()
  await page.getByText('Reconnecting to the hub').waitFor()
  await stage.startHub({ opens: false })
  await page.getByRole('heading', { name: 'The hub was restarted' }).waitFor()
  await eventually(() => page.locator('.command code').textContent()).toBe('mailbox token user --link')
  expect(stage.link).not.toBe(before)
  // The link can be opened in another tab: this one goes on as well.
  const other = await page.context().newPage()
  await other.goto(stage.link)
  await isLive(other)
  await isLive(page)
  await page.keyboard.press('c')
  await eventually(() => page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('half a message')
  await page.context().close()
})

it('gives whoever takes the port a token that is good for nothing', async () => {
  const page = await openPage()
  const { port } = new URL(stage.url)
  await stage.stopHub()
  const heard = new Set<string>()
  const thief = createServer((incoming, response) => {
    heard.add(incoming.headers.authorization ?? '')
    response.writeHead(503).end()
  })
  await new Promise<void>((resolve) => thief.listen(Number(port), '127.0.0.1', resolve))
  await eventually(() => [...heard].some((one) => one.startsWith('Bearer mbx_'))).toBe(true)
  thief.closeAllConnections()
  await new Promise((resolve) => thief.close(resolve))
  await stage.startHub({ opens: false })
  for (const authorization of heard)
    expect((await fetch(`${stage.url}/api/space`, { headers: { authorization } })).status).toBe(401)
  await page.getByRole('heading', { name: 'The hub was restarted' }).waitFor()
  await page.context().close()
})

it('takes no token that is kept for programs', async () => {
  const page = await stage.stranger('/agents')
  const kept = readFileSync(join(stage.dir, 'hub', 'token'), 'utf8').trim()
  await page.getByLabel('Token', { exact: true }).fill(kept)
  await page.keyboard.press('Enter')
  await page.getByText('this token is for programs').waitFor()
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('mbx_')
  await page.getByLabel('Token', { exact: true }).fill(stage.token)
  await page.keyboard.press('Enter')
  await isLive(page)
})
