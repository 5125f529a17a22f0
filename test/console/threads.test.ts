import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { submitPlan } from '../../src/agent/requests.ts'
import { expectAccessible } from './axe.ts'
import { eventually, Stage, shoot } from './stage.ts'
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

describe('a list of threads', () => {
  it('shows how each goes on, and what has arrived since one looked', async () => {
    const page = await stage.page('/threads')
    const row = page.locator('.row', { hasText: 'Rebuild the index' })
    await eventually(() => row.textContent()).toContain('Seen. The dashboard shows the lag now.')
    expect(await row.getAttribute('class')).not.toContain('new')
    const bob = await mailbox('bob')
    await bob.send({ to: 'ada', threadId: story.thread, subject: 'Rebuild the index', body: 'It is done.' })
    await eventually(() => row.getAttribute('class')).toContain('new')
    await shoot(page, 'threads-new')
    await row.click()
    const marks = page.locator('.day')
    await eventually(() => marks.allTextContents()).toEqual(['Today', 'New since you left'])
    const after = await page.locator('.day.new + .message').textContent()
    expect(after).toContain('It is done.')
    await page.reload()
    await eventually(() => marks.allTextContents()).toEqual(['Today'])
    await eventually(() => row.getAttribute('class')).not.toContain('new')
  })

  it('marks several as seen at once', async () => {
    const page = await stage.page('/threads')
    await page.locator('.row').first().waitFor()
    const bob = await mailbox('bob')
    for (const n of [1, 2]) await bob.send({ to: 'ada', subject: `News ${n}`, body: 'Look.' })
    const fresh = page.locator('.row.new')
    await eventually(() => fresh.count()).toBe(2)
    await page.keyboard.press('S')
    await page.getByRole('button', { name: 'Mark as seen' }).click()
    await eventually(() => fresh.count()).toBe(0)
  })
})

describe('a thread', () => {
  it('says how many have read a message, with the steps behind it', async () => {
    const ada = await mailbox('ada')
    const sent = await ada.send({
      to: ['bob', 'cleo', 'swarm/scribe'],
      subject: 'Read me',
      body: 'All of you.',
    })
    const page = await stage.page(`/threads/${sent.id}`)
    await page.getByRole('button', { name: 'Read by 0 of 3' }).waitFor()
    await (await mailbox('bob')).read(sent.id)
    await page.getByRole('button', { name: 'Read by 1 of 3' }).click()
    await page.getByRole('region', { name: 'Delivery status for bob' }).waitFor()
    // A group has its members of now.
    const group = await ada.send({ to: 'project:inscription', subject: 'To the project', body: 'Hello.' })
    await (await mailbox('cleo')).read(group.id)
    await page.goto(`${stage.url}/threads/${group.id}`)
    await page.getByRole('button', { name: 'Read by 1 of 3' }).waitFor()
  })

  it('shows two versions of a plan side by side', async () => {
    const cleo = await mailbox('cleo')
    const plan = { to: 'user', subject: 'Move the header', taskId: 'T-20' }
    const first = await submitPlan(cleo, { ...plan, body: 'Keep the logo.\nDrop the menu.\nShip on Friday.' })
    await (await mailbox('user')).send({
      ...{ to: 'cleo', type: 'plan_approval', replyTo: first.id, body: 'Keep the menu.' },
      payload: { approved: false, feedback: 'Keep the menu.' },
    })
    await submitPlan(cleo, {
      ...{ ...plan, revises: first.id },
      body: 'Keep the logo.\nKeep the menu.\nShip on Friday.',
    })
    const page = await stage.page(`/threads/${first.threadId}`)
    await page.getByRole('button', { name: 'Compare with the previous version' }).click()
    const rows = page.locator('.diff tbody tr')
    await eventually(() => rows.locator('.removed').allTextContents()).toEqual(['Removed: Drop the menu.'])
    expect(await rows.locator('.added').allTextContents()).toEqual(['Added: Keep the menu.'])
    expect(await rows.count()).toBe(3)
    await shoot(page, 'plan-diff')
    await expectAccessible(page, { exclude: '.nav' })
  })

  it('can be saved as one file, in HTML that runs nothing and in Markdown', async () => {
    const ada = await mailbox('ada')
    const sent = await ada.send({
      to: 'bob',
      subject: 'Keep <this>',
      body: '**Bold** and <script>alert(1)</script>\n\n- one\n- two',
    })
    await (await mailbox('bob')).reply(sent.id, { body: 'Kept.' })
    const page = await stage.page(`/threads/${sent.id}`)
    await page.locator('.prose').first().waitFor()
    const save = async (name: string) => {
      await page.locator('.menu > summary').click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name }).click(),
      ])
      return { file: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
    }
    const html = await save('As HTML')
    expect(html.file).toBe('Keep-this.html')
    expect(html.text).toContain('<strong>Bold</strong>')
    expect(html.text).toContain('Kept.')
    expect(html.text).not.toMatch(/<script|src=|href=|url\(/)
    const markdown = await save('As Markdown')
    expect(markdown.file).toBe('Keep-this.md')
    expect(markdown.text).toMatch(/^# Keep <this>\n\n## ada to bob\n/)
    expect(markdown.text).toContain('- two')
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.nav').isVisible()).toBe(false)
    expect(await page.locator('.list-pane').isVisible()).toBe(false)
    await page.emulateMedia({ media: null })
  })
})
