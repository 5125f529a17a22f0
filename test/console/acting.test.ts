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
/** What the person decides is sent at once, as they may set it. */
const withoutUndo = (page: Page) => page.evaluate(() => localStorage.setItem('mailbox.undoMs', '0'))
const toast = (page: Page, text: string | RegExp) => page.locator('.toast').getByText(text).first().waitFor()

describe('the person', () => {
  it('sends to anybody, from any page, as user', async () => {
    const page = await stage.page('/stats')
    await page.getByRole('heading', { name: 'Metrics' }).waitFor()
    await page.keyboard.press('c')
    await page.getByLabel('To', { exact: true }).fill('ada, #inscription')
    await page.getByLabel('Subject').fill('Lunch')
    await bodyOf(page).fill('At *one*.')
    await page.getByLabel('Priority').selectOption('high')
    await page.getByLabel('Request acknowledgement').check()
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

  it('sees why the hub rejected a message, and keeps the text', async () => {
    const page = await stage.page('/compose?to=nobody-here')
    await bodyOf(page).fill('Are you there?')
    await page.keyboard.press('Control+Enter')
    await toast(page, /nobody-here/)
    expect(await bodyOf(page).inputValue()).toBe('Are you there?')
    stage.faults.splice(0)
  })

  it('approves a plan, which then needs nobody', async () => {
    const page = await stage.page(`/needs-you/${story.plan}`)
    await withoutUndo(page)
    await page.getByRole('button', { name: 'Approve' }).click()
    await toast(page, 'Plan approved')
    await eventually(async () => (await stage.space.owed({ by: 'user', kind: 'plan' })).length).toBe(0)
    const answer = await lastTo('ada')
    expect(answer).toMatchObject({ type: 'plan_approval', from: 'user', payload: { approved: true } })
    await eventually(() => page.locator('.row-subject', { hasText: 'Split the projection' }).count()).toBe(0)
  })

  it('rejects a plan with a reason', async () => {
    const bob = await mailbox('bob')
    const plan = await bob.send({
      to: 'user',
      type: 'plan_submission',
      subject: 'Drop the tests',
      body: 'Faster.',
      payload: {},
    })
    const page = await stage.page(`/needs-you/${plan.id}`)
    await withoutUndo(page)
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByLabel('What should change').fill('Keep them.')
    await page.keyboard.press('Enter')
    await toast(page, 'Plan rejected')
    const answer = await lastTo('bob')
    expect(answer).toMatchObject({
      type: 'plan_approval',
      payload: { approved: false, feedback: 'Keep them.' },
    })
  })

  it('answers a request for help, and the asker stops waiting', async () => {
    const page = await stage.page(`/needs-you/${story.help}`)
    await page.getByRole('button', { name: 'Answer' }).click()
    await eventually(() => page.getByLabel('To', { exact: true }).inputValue()).toBe('bob')
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

  it('acknowledges on request, and marks other mail as done with a key', async () => {
    const page = await stage.page(`/needs-you/${story.ack}`)
    await withoutUndo(page)
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await toast(page, 'Acknowledged')
    expect((await stage.space.show(story.ack)).receipts[0]?.state).toBe('acked')
    await page.getByRole('link', { name: 'Notes of the night' }).click()
    await page.getByRole('button', { name: /^Done/ }).waitFor()
    await page.keyboard.press('e')
    await toast(page, 'Marked as done')
    await eventually(() => page.locator('.row-subject', { hasText: 'Notes of the night' }).count()).toBe(0)
  })

  it('requests the status and the shutdown of an agent', async () => {
    const page = await stage.page('/agents/cleo')
    await page.getByRole('button', { name: 'Request status' }).click()
    await toast(page, /Status requested from cleo/)
    expect(await lastTo('cleo')).toMatchObject({ type: 'status_request', from: 'user' })
    await page.getByRole('button', { name: 'Shut down' }).click()
    await page.getByLabel('Reason').fill('The day is over')
    await page.keyboard.press('Enter')
    await toast(page, /Shutdown requested from cleo/)
    expect(await lastTo('cleo')).toMatchObject({
      type: 'shutdown_request',
      payload: { reason: 'The day is over' },
    })
  })

  it('resends a dead letter to somebody else', async () => {
    const page = await stage.page('/dead')
    await page.locator('.row').click()
    await page.getByLabel('Resend to').fill('cloe')
    await page.getByRole('button', { name: 'Resend' }).click()
    await toast(page, 'Nobody is called cloe.')
    await page.getByLabel('Resend to').fill('cleo')
    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('No dead letters').waitFor()
    await page.keyboard.press('z')
    await page.getByRole('heading', { name: 'Run the storm tests' }).waitFor()
    expect((await stage.space.deadLetters()).letters).toHaveLength(1)
    await withoutUndo(page)
    await page.getByLabel('Resend to').fill('cleo')
    await page.keyboard.press('Enter')
    await toast(page, 'Resent to cleo')
    await page.getByText('No dead letters').waitFor()
    expect(await lastTo('cleo')).toMatchObject({
      subject: 'Run the storm tests',
      body: 'All of them, twice.',
    })
    expect((await stage.space.deadLetters()).letters).toEqual([])
  })
})

describe('a draft', () => {
  it('survives navigation and a reload, is kept per thread, and is removed once sent', async () => {
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
    await eventually(() => page.locator('.row', { hasText: 'Rebuild the index' }).textContent()).toContain(
      'draft',
    )

    await page.goto(`${stage.url}/threads/${story.question}`)
    await page.locator('.message').first().waitFor()
    expect(await bodyOf(page).count()).toBe(0)

    await page.goto(`${stage.url}/threads/${story.thread}`)
    await bodyOf(page).fill('Half a sentence.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.message').getByText('Half a sentence.').waitFor()
    // The stream may be faster than the answer, which removes the draft.
    await eventually(() => bodyOf(page).count()).toBe(0)
    await page.reload()
    await page.locator('.message').getByText('Half a sentence.').waitFor()
    expect(await bodyOf(page).count()).toBe(0)
  })

  it('keeps its target when mail arrives meanwhile', async () => {
    const page = await stage.page(`/threads/${story.thread}`)
    await page.locator('.message').first().getByRole('button', { name: 'Reply' }).click()
    await bodyOf(page).fill('To the first')
    const bob = await mailbox('bob')
    await bob.send({
      to: 'user',
      threadId: story.thread,
      subject: 'Rebuild the index',
      body: 'A word between.',
    })
    await page.locator('.message').getByText('A word between.').waitFor()
    await bodyOf(page).press('End')
    await page.keyboard.type(', and only to it')
    await page.reload()
    await eventually(() => bodyOf(page).inputValue()).toBe('To the first, and only to it')
    await page.getByRole('button', { name: 'Send' }).click()
    await toast(page, 'Sent to ada')
    expect(await lastTo('ada')).toMatchObject({ replyTo: story.done, body: 'To the first, and only to it' })
  })

  it('of a new message is restored', async () => {
    const page = await stage.page('/threads')
    await page.locator('.row').first().waitFor()
    await page.keyboard.press('c')
    await page.getByLabel('To', { exact: true }).fill('ada')
    await page.reload()
    await page.locator('.row').first().waitFor()
    await page.keyboard.press('c')
    // The recipients alone are kept.
    await eventually(() => page.getByLabel('To', { exact: true }).inputValue()).toBe('ada')
    await bodyOf(page).fill('Not finished')
    await page.reload()
    await page.locator('.row').first().waitFor()
    await page.keyboard.press('c')
    await eventually(() => bodyOf(page).inputValue()).toBe('Not finished')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.keyboard.press('c')
    await eventually(() => bodyOf(page).inputValue()).toBe('')
  })

  it('is sent once, even when the answer was lost and it was retried', async () => {
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
    await toast(page, /Cannot reach the hub/)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.message').getByText('Exactly once').waitFor()
    const { messages } = await (await mailbox('user')).search('"Exactly once"')
    expect(messages).toHaveLength(1)
    stage.faults.splice(0)
  })

  it('that was changed after a lost answer is another message', async () => {
    const page = await stage.page('/compose?to=ada')
    await bodyOf(page).fill('First wording')
    await page.route('**/api/mailboxes/user/send', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await page.keyboard.press('Control+Enter')
    await toast(page, /Cannot reach the hub/)
    await page.unroute('**/api/mailboxes/user/send')
    await bodyOf(page).fill('Second wording')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.message').getByText('Second wording').waitFor()
    stage.faults.splice(0)
  })

  it('works without the browser features that need https', async () => {
    const page = await stage.page('/threads', {
      before: async (one) => {
        await one.addInitScript(() => {
          Object.defineProperty(Crypto.prototype, 'randomUUID', { value: undefined })
          Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })
          Reflect.deleteProperty(window, 'Notification')
        })
      },
    })
    await page.locator('.row').first().click()
    await page.getByRole('button', { name: 'Copy as command' }).first().click()
    await toast(page, 'Command copied')
    await page.getByRole('button', { name: 'Desktop notifications' }).click()
    await toast(page, 'blocked notifications')
    await page.keyboard.press('c')
    await page.getByLabel('To', { exact: true }).fill('bob')
    await bodyOf(page).fill('Over plain http')
    await page.keyboard.press('Control+Enter')
    await page.locator('.message').getByText('Over plain http').waitFor()
  })
})
