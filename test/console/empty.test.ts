import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { expectAccessible } from './axe.ts'
import { eventually, Stage, shoot } from './stage.ts'

let stage: Stage

beforeAll(async () => {
  stage = await Stage.open()
})
afterAll(() => stage.close())
afterEach(async () => expect(await stage.rest()).toEqual([]))

describe('an empty space', () => {
  it('shows the next command on every page', async () => {
    const page = await stage.page('/')
    const commands: Record<string, readonly string[]> = {
      '/': ['mailbox join ada', 'mailbox init'],
      '/threads': ['mailbox join ada', 'mailbox init'],
      '/agents': ['mailbox join ada', 'mailbox init'],
      '/agents/ada': ['mailbox join ada'],
      '/channels/project:x': [
        'mailbox join ada --tag project:x',
        "mailbox --as ada send project:x --body 'Hello everyone'",
      ],
      '/stats': ['mailbox demo'],
      '/traffic': ["mailbox --as ada send bob --body 'hello'"],
    }
    for (const [path, expected] of Object.entries(commands)) {
      await page.goto(stage.url + path)
      await page.locator('.command').first().waitFor()
      const shown = await page.locator('.command code').allTextContents()
      for (const command of expected) expect(shown).toContain(command)
      await shoot(page, `empty${path.replaceAll(/[/:]/g, '-')}`)
      if (['/', '/agents/ada'].includes(path)) await expectAccessible(page)
    }
    for (const path of ['/dead', '/search']) {
      await page.goto(stage.url + path)
      await page.locator('.empty').first().waitFor()
    }
  })

  it('fills when the command is run', async () => {
    const page = await stage.page('/')
    await page.getByText('This space is empty').waitFor()
    const ada = await stage.space.join('ada').then(() => stage.space.mailbox('ada', { join: false }))
    await ada.send({ to: 'user', subject: 'Hello', body: 'I am here' })
    await page.getByRole('link', { name: 'Hello' }).click()
    await page.locator('.prose').getByText('I am here').waitFor()
  })
})

describe('signing in', () => {
  it('asks for a token, accepts a valid one and rejects a wrong one', async () => {
    const page = await stage.page('/', { forgiving: true })
    await page.evaluate(() => sessionStorage.setItem('mailbox.token', 'wrong'))
    await page.goto(`${stage.url}/agents`)
    await page.getByText('The hub rejected the token').waitFor()
    await expectAccessible(page)
    await shoot(page, 'sign-in')
    await page.getByLabel('Token', { exact: true }).fill(stage.token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
  })

  it('shares the token with a second tab, and with nobody else', async () => {
    const page = await stage.page('/')
    const second = await page.context().newPage()
    await second.goto(`${stage.url}/agents`)
    await second.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
    const stranger = await stage.stranger('/agents')
    await stranger.getByText('It contains your token').waitFor()
    await eventually(() => stranger.locator('.command code').textContent()).toBe('mailbox token user --link')
  })
})
