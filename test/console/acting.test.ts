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
const lastTo = async (name: string) => {
  const { messages } = await (await mailbox(name)).inbox({ limit: 200 })
  return messages.toSorted((a, b) => b.seq - a.seq)[0]!
}
const bodyOf = (page: Page) => page.getByRole('textbox', { name: 'Message' })
const toast = (page: Page, text: string | RegExp) => page.locator('.toast').getByText(text).first().waitFor()

describe('the person', () => {
  it('writes to anybody, from anywhere, as user', async () => {
    const page = await stage.page('/stats')
    await page.getByRole('heading', { name: 'Metrics' }).waitFor()
    await page.keyboard.press('c')
    await page.getByLabel('To', { exact: true }).fill('ada, #inscription')
    await page.getByLabel('Subject').fill('Lunch')
    await bodyOf(page).fill('At *one*.')
    await page.getByLabel('Priority').selectOption('high')
    await page.getByLabel('wants an ack').check()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('heading', { name: 'Lunch' }).waitFor()
    const { from, to, body, priority, requiresAck } = await lastTo('ada')
    expect({ from, to, body, priority, requiresAck }).toEqual({
      ...{
        from: 'user',
        to: ['ada', 'project:inscription'],
        body: 'At *one*.',
        priority: 'high',
        requiresAck: true,
      },
    })
  })

  it('is told what the hub refuses, and keeps the text', async () => {
    const page = await stage.page('/compose?to=nobody-here')
    await bodyOf(page).fill('Are you there?')
    await page.keyboard.press('Control+Enter')
    await toast(page, /nobody-here/)
    expect(await bodyOf(page).inputValue()).toBe('Are you there?')
    stage.faults.splice(0)
  })

  it('approves a plan, and it needs nobody any more', async () => {
    const page = await stage.page(`/needs-you/${story.plan}`)
    await page.getByRole('button', { name: 'Approve' }).click()
    await toast(page, 'Plan approved')
    await eventually(async () => (await stage.space.owed({ by: 'user', kind: 'plan' })).length).toBe(0)
    const answer = await lastTo('ada')
    expect(answer).toMatchObject({ type: 'plan_approval', from: 'user', payload: { approved: true } })
    await eventually(() => page.locator('.row-subject', { hasText: 'Split the projection' }).count()).toBe(0)
  })

  it('sends a plan back with a reason', async () => {
    const bob = await mailbox('bob')
    const plan = await bob.send({
      to: 'user',
      type: 'plan_submission',
      subject: 'Drop the tests',
      body: 'Faster.',
      payload: {},
    })
    const page = await stage.page(`/needs-you/${plan.id}`)
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByLabel('What should be different').fill('Keep them.')
    await page.keyboard.press('Enter')
    await toast(page, 'Plan sent back')
    const answer = await lastTo('bob')
    expect(answer).toMatchObject({
      type: 'plan_approval',
      payload: { approved: false, feedback: 'Keep them.' },
    })
  })

  it('answers a request for help, and the asker waits no more', async () => {
    const page = await stage.page(`/needs-you/${story.help}`)
    await page.getByRole('button', { name: 'Answer' }).click()
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('bob')
    await bodyOf(page).fill('Use the one in the vault.')
    await page.getByRole('button', { name: 'Send' }).click()
    await toast(page, 'Sent to bob')
    expect(await lastTo('bob')).toMatchObject({
      from: 'user',
      replyTo: story.help,
      body: 'Use the one in the vault.',
    })
    const { agents } = { agents: await stage.space.agents() }
    expect(agents.find(({ name }) => name === 'bob')?.waitingFor).not.toContain(story.help)
    const user = await mailbox('user')
    const left = (await user.inbox({ unread: true })).messages.map(({ id }) => id)
    expect(left).not.toContain(story.help)
  })

  it('acknowledges what wants it, and puts other mail away with a key', async () => {
    const page = await stage.page(`/needs-you/${story.ack}`)
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await toast(page, 'Acknowledged')
    expect((await stage.space.show(story.ack)).receipts[0]?.state).toBe('acked')
    await page.getByRole('link', { name: 'Notes of the night' }).click()
    await page.getByRole('button', { name: 'Done' }).waitFor()
    await page.keyboard.press('e')
    await toast(page, 'Put away')
    await eventually(() => page.locator('.row-subject', { hasText: 'Notes of the night' }).count()).toBe(0)
  })

  it('asks an agent to shut down, and how far it is', async () => {
    const page = await stage.page('/agents/cleo')
    await page.getByRole('button', { name: 'Ask for status' }).click()
    await toast(page, /Asked cleo how far/)
    expect(await lastTo('cleo')).toMatchObject({ type: 'status_request', from: 'user' })
    await page.getByRole('button', { name: 'Shut down' }).click()
    await page.getByLabel('Why it should shut down').fill('The day is over')
    await page.keyboard.press('Enter')
    await toast(page, /Asked cleo to shut down/)
    expect(await lastTo('cleo')).toMatchObject({
      type: 'shutdown_request',
      payload: { reason: 'The day is over' },
    })
  })

  it('sends a dead letter to somebody else', async () => {
    const page = await stage.page('/dead')
    await page.locator('.row').click()
    await page.getByLabel('Send to').fill('cleo')
    await page.getByRole('button', { name: 'Send again' }).click()
    await toast(page, 'Sent again to cleo')
    await page.getByText('No dead letters').waitFor()
    expect(await lastTo('cleo')).toMatchObject({
      subject: 'Run the storm tests',
      body: 'All of them, twice.',
    })
    expect((await stage.space.deadLetters()).letters).toEqual([])
  })
})

describe('a draft', () => {
  it('survives going away and a reload, each thread its own, and goes when it is sent', async () => {
    const page = await stage.page(`/threads/${story.thread}`)
    await page.locator('.message').first().waitFor()
    await page.keyboard.press('r')
    await bodyOf(page).fill('Half a sent')
    await page.keyboard.press('Escape')
    await page.locator('.nav').getByRole('link', { name: 'Agents', exact: true }).click()
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
    await page.goBack()
    await eventually(() => bodyOf(page).inputValue()).toBe('Half a sent')
    await page.reload()
    await eventually(() => bodyOf(page).inputValue()).toBe('Half a sent')
    expect(await page.locator('.row', { hasText: 'Rebuild the index' }).textContent()).toContain('draft')

    await page.goto(`${stage.url}/threads/${story.question}`)
    await page.locator('.message').first().waitFor()
    expect(await bodyOf(page).count()).toBe(0)

    await page.goto(`${stage.url}/threads/${story.thread}`)
    await bodyOf(page).fill('Half a sentence.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.message').getByText('Half a sentence.').waitFor()
    await page.reload()
    await page.locator('.message').getByText('Half a sentence.').waitFor()
    expect(await bodyOf(page).count()).toBe(0)
  })

  it('of a new letter is there when it is opened again', async () => {
    const page = await stage.page('/threads')
    await page.locator('.row').first().waitFor()
    await page.keyboard.press('c')
    await page.getByLabel('To', { exact: true }).fill('ada')
    await bodyOf(page).fill('Not finished')
    await page.reload()
    await page.locator('.row').first().waitFor()
    await page.keyboard.press('c')
    expect(await bodyOf(page).inputValue()).toBe('Not finished')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.keyboard.press('c')
    expect(await bodyOf(page).inputValue()).toBe('')
  })

  it('is sent once, though the answer was lost and it was tried again', async () => {
    const page = await stage.page('/compose?to=ada')
    await bodyOf(page).fill('Exactly once')
    let isLost = false
    await page.route('**/api/mailboxes/user/send', async (route) => {
      if (isLost) return route.continue()
      isLost = true
      await route.fetch()
      await route.abort()
    })
    await page.keyboard.press('Control+Enter')
    await toast(page, /cannot be reached/)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.message').getByText('Exactly once').waitFor()
    const { messages } = await (await mailbox('user')).search('"Exactly once"')
    expect(messages).toHaveLength(1)
    stage.faults.splice(0)
  })
})
