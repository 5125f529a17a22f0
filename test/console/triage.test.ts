import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { askForHelp, submitPlan } from '../../src/agent/requests.ts'
import { openDisk } from '../../src/space/open.ts'
import { expectAccessible } from './axe.ts'
import { eventually, Stage, shoot } from './stage.ts'

const items = 50
/** The ways to deal with an item, in turn. */
const ways = ['approve', 'reject', 'pick', 'answer', 'done', 'snooze'] as const

interface Item {
  id: string
  subject: string
  way: (typeof ways)[number]
  from: string
}
const told: Item[] = []

let stage: Stage
beforeAll(async () => {
  stage = await Stage.open(async (dir) => {
    const space = await openDisk({ dir, settings: { durability: 'os', 'limits.ratePerMinute': 0 } })
    await space.join('idle')
    for (let n = 0; n < items; n++) {
      const from = `agent-${String(n).padStart(2, '0')}`
      const way = ways[n % ways.length]!
      const subject = `Item ${n}: ${way}`
      const mailbox = await space.mailbox(from)
      const body = `Please ${way} this.`
      const isPlan = way === 'approve' || way === 'reject'
      const { id } = isPlan
        ? await submitPlan(mailbox, { to: 'user', subject, body, taskId: `T-${n}` })
        : await askForHelp(mailbox, {
            ...{ to: 'user', subject, body, priority: 'high' },
            ...(way === 'pick' && { options: ['The first', 'The second'] }),
          })
      told.push({ id, subject, way, from })
    }
    await space.close()
  })
})
afterAll(() => stage.close())
afterEach(async () => expect(await stage.rest()).toEqual([]))

const heading = (page: Page) => page.locator('.triage h1, .triage-over h2')

/** Decides on the item that is shown, with the keyboard. */
async function decide(page: Page, way: Item['way']): Promise<void> {
  switch (way) {
    case 'approve':
      return page.keyboard.press('a')
    case 'done':
      return page.keyboard.press('e')
    case 'pick':
      return page.keyboard.press('2')
    case 'reject':
      await page.keyboard.press('x')
      await page.getByLabel('What should change').waitFor()
      await page.keyboard.type('Smaller steps')
      return page.keyboard.press('Enter')
    case 'answer': {
      await page.keyboard.press('r')
      const field = page.getByLabel(/^Answer agent/)
      await field.waitFor()
      // What was undone is still there.
      if ((await field.inputValue()) === '') await page.keyboard.type('Use port 80')
      return page.keyboard.press('Control+Enter')
    }
    case 'snooze':
      await page.keyboard.press('h')
      await page.getByRole('dialog', { name: 'Snooze until' }).waitFor()
      return page.keyboard.press('1')
  }
}

describe('triage', () => {
  it(`decides ${items} items with the keyboard alone, each undone once`, async () => {
    const page = await stage.page('/needs-you')
    await page.locator('.row').first().waitFor()
    expect(await page.title()).toMatch(new RegExp(`^\\(${items}\\) Needs you`))
    await page.keyboard.press('t')
    for (const [at, { subject, way }] of told.entries()) {
      await eventually(() => heading(page).textContent()).toBe(subject)
      expect(await page.locator('.triage-head [role=status]').textContent()).toBe(`${at + 1} of ${items}`)
      await decide(page, way)
      await eventually(() => heading(page).textContent()).not.toBe(subject)
      await page.keyboard.press('z')
      await eventually(() => heading(page).textContent()).toBe(subject)
      // An answer that was undone is in its field again, where z is a letter.
      if (way === 'answer') await page.keyboard.press('Escape')
      await decide(page, way)
      if (at === 0) await shoot(page, 'triage-next')
    }
    await eventually(() => heading(page).textContent()).toBe('All clear')
    await eventually(() => page.title()).toMatch(/^Triage/)
    // Six seconds later everything is sent, each decision once.
    await eventually(async () => (await stage.space.owed({ by: 'user' })).length).toBe(
      told.filter(({ way }) => way === 'snooze').length,
    )
    for (const { id, way, from } of told) {
      const { messages } = await (await stage.space.mailbox(from, { join: false })).inbox({ replyTo: id })
      const own = messages.filter((message) => message.from === 'user')
      const answers = own.map(({ type, payload, body }) => ({ type, payload, body }))
      const expected = {
        approve: [expect.objectContaining({ type: 'plan_approval', payload: { approved: true } })],
        reject: [expect.objectContaining({ payload: { approved: false, feedback: 'Smaller steps' } })],
        pick: [expect.objectContaining({ body: 'The second' })],
        answer: [expect.objectContaining({ body: 'Use port 80' })],
        done: [expect.objectContaining({ type: 'status_update' })],
        snooze: [],
      }[way]
      expect([way, answers]).toEqual([way, expected])
    }
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Snoozed/ }).waitFor()
  })

  it('sends what was decided when the page is closed before the time to undo is over', async () => {
    const mailbox = await stage.space.mailbox('agent-00', { join: false })
    const plan = await submitPlan(mailbox, { to: 'user', subject: 'One more', body: 'Go?', taskId: 'T-99' })
    const page = await stage.page('/triage')
    await eventually(() => heading(page).textContent()).toBe('One more')
    await page.keyboard.press('a')
    await eventually(() => heading(page).textContent()).toBe('All clear')
    expect(await stage.space.owed({ by: 'user', kind: 'plan' })).toHaveLength(1)
    await page.goto('about:blank')
    await eventually(async () => (await stage.space.owed({ by: 'user', kind: 'plan' })).length).toBe(0)
    const { messages } = await mailbox.inbox({ replyTo: plan.id })
    expect(messages).toMatchObject([{ payload: { approved: true } }])
  })

  it('shows who goes on, through the chain that ends at the person', async () => {
    const [a, b, c] = await Promise.all(
      ['agent-01', 'agent-02', 'agent-03'].map((name) => stage.space.mailbox(name, { join: false })),
    )
    await b!.send({ to: 'agent-01', subject: 'Which schema?', awaitingResponse: true })
    await c!.send({ to: 'agent-02', subject: 'Which port?', awaitingResponse: true })
    await a!.send({ to: 'user', subject: 'May I drop the table?', awaitingResponse: true })
    const page = await stage.page('/triage')
    await page.getByText('Answer this and 3 agents go on').waitFor()
    const chain = page.getByRole('list', { name: 'Who waits for whom' }).locator('li')
    await eventually(() => chain.allTextContents()).toEqual([
      'agent-03 waits for agent-02: Which port?',
      'agent-02 waits for agent-01: Which schema?',
      'agent-01 waits for you: May I drop the table?',
    ])
    await shoot(page, 'triage-chain')
    await expectAccessible(page)
  })

  it('acts on several at once, and takes that back at once', async () => {
    const sender = await stage.space.mailbox('agent-04', { join: false })
    for (const n of [1, 2, 3])
      await sender.send({ to: 'user', subject: `Thanks ${n}`, body: 'Nothing to do.' })
    const page = await stage.page('/needs-you')
    const thanks = page.locator('.row-subject', { hasText: /^Thanks/ })
    await eventually(() => thanks.count()).toBe(3)
    await page.getByRole('button', { name: /^For your information/ }).waitFor()
    for (const n of [1, 2, 3]) await page.getByLabel(`Select Thanks ${n}`).check({ force: true })
    await page.getByRole('toolbar', { name: 'Selected items' }).getByText('3 selected').waitFor()
    await shoot(page, 'needs-you-selected')
    await expectAccessible(page, { exclude: '.nav' })
    await page.keyboard.press('Escape')
    await eventually(() => page.getByRole('toolbar').count()).toBe(0)
    await page.keyboard.press('S')
    await page.keyboard.press('e')
    await eventually(() => page.locator('.row').count()).toBe(0)
    await page.keyboard.press('z')
    await eventually(() => thanks.count()).toBe(3)
    await page.getByRole('button', { name: 'All done' }).click()
    await eventually(() => thanks.count()).toBe(0)
    await eventually(async () => {
      const user = await stage.space.mailbox('user', { join: false })
      return (await user.search('from:agent-04 Thanks is:unread')).messages.length
    }).toBe(0)
  })
})
