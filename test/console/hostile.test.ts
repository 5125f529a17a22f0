import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { hostileBodies, hostileNames } from './hostile-corpus.ts'
import { eventually, Stage } from './stage.ts'

const perThread = 40
const threads: string[] = []
const byName = new Map<string, string>()
let stage: Stage

/** Sends the corpus: each entry as a body and a subject, and, where valid, as a name and a tag. */
async function tell(dir: string): Promise<void> {
  const space = await openDisk({
    dir,
    settings: { durability: 'os', 'limits.ratePerMinute': 0, 'limits.inbox': 0, 'limits.threadMessages': 0 },
  })
  for (const name of ['mallory', ...hostileNames])
    await space.join(name, { roles: [name], tags: [`project:${name}`] })
  const mallory = await space.mailbox('mallory', { join: false })
  for (const [n, body] of hostileBodies.entries()) {
    const subject = body.replace(/\s+/g, ' ').slice(0, 480)
    const to = hostileNames[n % hostileNames.length]!
    const threadId = n % perThread === 0 ? undefined : threads.at(-1)!
    const sent = await mallory.send({
      ...{
        to,
        subject,
        body: `marked ${n}\n\n${body}`,
        tags: [`project:${to}`],
        payload: { field: body, [subject.slice(0, 50)]: 1 },
      },
      ...(threadId === undefined ? {} : { threadId }),
    })
    if (threadId === undefined) threads.push(sent.threadId)
  }
  for (const name of hostileNames) {
    const agent = await space.mailbox(name, { join: false })
    const sent = await agent.send({
      to: 'user',
      type: 'help_request',
      subject: name,
      body: name,
      awaitingResponse: true,
    })
    byName.set(name, sent.id)
    await agent.check()
  }
  await space.close()
}

beforeAll(async () => {
  stage = await Stage.open(tell)
})
afterAll(() => stage.close())
afterEach(async () => expect(await stage.rest()).toEqual([]))

/** Records everything an injected script could do. The stage records requests and policy violations. */
async function trap(page: Page): Promise<void> {
  const home = new URL(stage.url).origin
  page.on('dialog', (dialog) => {
    stage.faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('popup', (popup) => stage.faults.push(`popup: ${popup.url()}`))
  page.on('framenavigated', (frame) => {
    if (frame !== page.mainFrame() || !frame.url().startsWith(home))
      stage.faults.push(`went to ${frame.url()}`)
  })
  await page.addInitScript(() => {
    const hits: string[] = []
    const note = (what: string) => () => {
      hits.push(what)
    }
    const { eval: evaluate } = window
    Object.assign(window, {
      // The test itself uses it.
      eval: (text: string) => (text.includes('hit(') ? note('eval')() : evaluate(text)),
      hits,
      hit: note('hit'),
      alert: note('alert'),
      confirm: note('confirm'),
      prompt: note('prompt'),

      open: note('open'),
    })
  })
}

const hitsOf = (page: Page) => page.evaluate(() => (window as unknown as { hits: string[] }).hits)

/** Elements and attributes that could run code, load something or link to anything but the web. */
const dangers = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = []
    for (const element of document.querySelectorAll(
      '.prose *, .message *, .row *, .nav *, .chart *, .agents *',
    )) {
      const isOurs = element.closest('.icon, .chart, .message-tools, .avatar') !== null
      if (
        !isOurs &&
        /^(?:script|iframe|object|embed|svg|math|img|style|link|form|input|base|meta|video|audio|template)$/i.test(
          element.tagName,
        ) &&
        element.closest('.matter, .composer') === null
      )
        found.push(element.outerHTML.slice(0, 120))
      for (const { name, value } of element.attributes) {
        if (name.startsWith('on')) found.push(`${name} in ${element.outerHTML.slice(0, 120)}`)
        const isLink = /^(?:href|src|xlink:href|action|formaction|srcdoc|ping|background)$/.test(name)
        if (isLink && !/^(?:https?:\/\/|mailto:|\/)/.test(value)) found.push(`${name}=${value}`)
        if (isLink && element.closest('.prose') !== null && !/^(?:https?:\/\/|mailto:)/.test(value))
          found.push(`${name}=${value}`)
      }
    }
    return found
  })

async function expectHarmless(page: Page): Promise<void> {
  // After two frames, anything that would run automatically has run.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
  expect(await hitsOf(page)).toEqual([])
  expect(await dangers(page)).toEqual([])
}

describe(`${hostileBodies.length} hostile bodies`, () => {
  it('are many', () => expect(hostileBodies.length).toBeGreaterThanOrEqual(200))

  it('do nothing as Markdown, as subjects, in the sequence diagram and as raw text', async () => {
    const page = await stage.page('/threads', { before: trap })
    let seen = 0
    for (const id of threads) {
      await page.goto(`${stage.url}/threads/${id}`)
      const letters = page.locator('.message')
      await letters.first().waitFor()
      await eventually(() => page.locator('.prose.plain').count()).toBe(0)
      seen += await letters.count()
      await expectHarmless(page)
      await page.getByRole('link', { name: 'Sequence' }).click()
      await page.locator('.sequence-room .chart').waitFor()
      await expectHarmless(page)
    }
    expect(seen).toBe(hostileBodies.length)
  })

  it('do nothing in search results', async () => {
    const page = await stage.page('/search?q=marked', { before: trap })
    await page.locator('.row').first().waitFor()
    const list = page.locator('.list')
    const height = await list.evaluate((element) => element.scrollHeight)
    for (let top = 0; top < height; top += 700) {
      await list.evaluate((element, to) => element.scrollTo(0, to), top)
      await expectHarmless(page)
    }
  })
})

describe(`${hostileNames.length} hostile names`, () => {
  it('do nothing as agents, roles, tags and channels, and stay distinguishable', async () => {
    const page = await stage.page('/agents', { before: trap })
    await page.locator('.agents tr').first().waitFor()
    await expectHarmless(page)
    const shown = await page.locator('.agents .who').allTextContents()
    for (const name of hostileNames) expect(shown).toContain(name)
    for (const path of ['/', '/threads', '/traffic', '/traffic?view=matrix', '/stats', '/replay']) {
      await page.goto(stage.url + path)
      await page.locator('h1').first().waitFor()
      await page.locator('.row, .chart').first().waitFor()
      await expectHarmless(page)
    }
    await page.keyboard.press('Control+k')
    await page.keyboard.type('img')
    await expectHarmless(page)
  })

  it('have pages that their links lead to', async () => {
    const page = await stage.page('/agents', { before: trap })
    for (const name of hostileNames) {
      await page.keyboard.press('g')
      await page.keyboard.press('a')
      await page.locator('.agents').getByRole('link', { name, exact: true }).first().click()
      await eventually(() => page.locator('.page h1').textContent()).toBe(name)
      // Loading the page again depends only on how the name is written in the URL.
      if (/[./\\?#%]/.test(name)) {
        await page.reload()
        await eventually(() => page.locator('.page h1').textContent()).toBe(name)
      }
      await page
        .getByRole('link', { name: `#${name}`, exact: true })
        .last()
        .click()
      await eventually(() => page.locator('.list-head h1').textContent()).toBe(`#${name}`)
      await expectHarmless(page)
    }
  })
})
