import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { expectAccessible } from './axe.ts'
import { expectNothingClipped, expectTargets } from './layout.ts'
import { eventually, phone, Stage, shoot } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await Stage.open(async (dir) => {
    await using space = await openDisk({ dir, settings: { durability: 'os', 'limits.ratePerMinute': 0 } })
    await space.join('ada', { roles: ['architect'], tags: ['project:lantern'] })
    await space.join('bob', { roles: ['backend'], tags: ['project:lantern'] })
    const cleo = await space.mailbox('cleo', { join: { tags: ['project:lantern'] } })
    await space.join('dora')
    for (const n of [1, 2, 3]) await cleo.send({ to: 'dora', subject: `Lost ${n}`, body: 'Are you there?' })
    await (await space.mailbox('dora', { join: false })).leave()
    await space.runDue()
  })
})
afterAll(() => stage.close())
afterEach(async () => expect(await stage.rest()).toEqual([]))

const to = (page: Page) => page.getByLabel('To', { exact: true })
const bodyOf = (page: Page) => page.getByRole('textbox', { name: 'Message' })
const reach = (page: Page) => page.locator('.composer-reach')
const lastTo = async (name: string) => {
  const { messages } = await (await stage.space.mailbox(name, { join: false })).inbox({ limit: 200 })
  return messages.toSorted((a, b) => b.seq - a.seq)[0]
}
const sendNow = (page: Page) => page.keyboard.press('Control+Enter')
const compose = async (page: Page) => {
  await page.keyboard.press('c')
  await to(page).waitFor()
}
const opened = async () => {
  const page = await stage.page('/threads')
  await page.locator('.row').first().waitFor()
  return page
}

describe('a new message', () => {
  it('completes each recipient, and says whom it reaches and what is probably wrong', async () => {
    const page = await opened()
    await compose(page)
    await page.keyboard.type('ad')
    await eventually(() => page.locator('.completions li').allTextContents()).toEqual(['adaalive'])
    await page.keyboard.press('Tab')
    await page.keyboard.type('arch')
    await eventually(() => page.locator('.completions li').allTextContents()).toEqual([
      'role:architect1 holder',
    ])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await to(page).inputValue()).toBe('ada, role:architect, ')
    await eventually(() => reach(page).textContent()).toBe('Reaches ada and one holder of role:architect.')
    await page.keyboard.type('bbo')
    // A name that is being typed is not a mistake yet.
    expect(await reach(page).textContent()).not.toContain('bbo')
    await page.keyboard.press('Enter')
    await eventually(() => reach(page).textContent()).toContain('Nobody is called bbo. Did you mean bob?')
    await to(page).fill('#lantern')
    await page.keyboard.press('Enter')
    await eventually(() => reach(page).textContent()).toBe('Reaches ada, bob and cleo.')
  })

  it('is written from a template, with tags, attachments and a life, as its preview shows it', async () => {
    const page = await opened()
    await compose(page)
    await to(page).fill('bob')
    await page.getByLabel('Subject').fill('Build the lexer')
    await page.getByRole('button', { name: 'Task' }).click()
    await page.getByLabel('Task', { exact: true }).fill('T-7')
    await page.getByLabel('Within').fill('2h')
    await bodyOf(page).fill('Along the *grammar*.')
    await page.getByText('Tags, attachments, schedule, expiry').click()
    await page.getByLabel('Tags').fill('handoff, concern:speed')
    await page.getByLabel('Attachments').fill(`${stage.dir}/config.json`)
    await page.getByLabel('Expires').selectOption('4h')
    await page.getByRole('button', { name: 'Preview' }).click()
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.locator('em').getByText('grammar').waitFor()
    await eventually(() => preview.locator('.facts').textContent()).toContain('TaskT-7')
    await shoot(page, 'compose-preview')
    await expectAccessible(page, { exclude: '.nav' })
    await page.setViewportSize(phone)
    await expectNothingClipped(page)
    await expectTargets(page)
    await sendNow(page)
    await page.getByRole('heading', { name: 'Build the lexer', level: 1 }).waitFor()
    const sent = (await lastTo('bob'))!
    expect(sent).toMatchObject({
      ...{ type: 'task_assignment', subject: 'Build the lexer', body: 'Along the *grammar*.' },
      ...{ payload: { taskId: 'T-7', withinMs: 7_200_000 }, attachments: [`${stage.dir}/config.json`] },
      tags: ['handoff', 'concern:speed'],
    })
    expect(Date.parse(sent.expiresAt!) - Date.parse(sent.createdAt)).toBe(4 * 3_600_000)
    expect(await stage.space.owed({ by: 'bob', kind: 'task' })).toHaveLength(1)
  })

  it('is sent at its time, is listed until then, and can be taken back as a draft', async () => {
    const page = await opened()
    await compose(page)
    await to(page).fill('bob')
    await page.getByLabel('Subject').fill('Stand-up')
    await bodyOf(page).fill('What is next?')
    await page.getByText('Tags, attachments, schedule, expiry').click()
    await page.getByLabel('Send', { exact: true }).selectOption('Tomorrow morning')
    await page.getByRole('button', { name: 'Schedule' }).click()
    const row = page.getByRole('region', { name: 'Scheduled' }).getByRole('row', { name: 'Stand-up' })
    await row.waitFor()
    const [kept] = await (await stage.space.mailbox('user', { join: false })).scheduled()
    expect(kept).toMatchObject({ subject: 'Stand-up', to: ['bob'] })
    expect(new Date(kept!.createdAt).getHours()).toBe(9)
    expect(await lastTo('bob')).not.toMatchObject({ subject: 'Stand-up' })
    await shoot(page, 'scheduled')
    await expectAccessible(page, { exclude: '.nav' })
    await page.setViewportSize(phone)
    await expectNothingClipped(page)
    await expectTargets(page)
    await row.getByRole('button', { name: 'Take back Stand-up' }).click()
    await row.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Stand-up/ }).click()
    await eventually(() => bodyOf(page).inputValue()).toBe('What is next?')
    await page.getByText('Tags, attachments, schedule, expiry').click()
    await page.getByLabel('Send', { exact: true }).selectOption('At another time')
    await page.getByLabel('Date and time').fill('2031-03-04T05:06')
    await page.getByRole('button', { name: 'Schedule' }).click()
    await row.waitFor()
    const mailbox = await stage.space.mailbox('user', { join: false })
    const [later] = await mailbox.scheduled()
    expect(later!.createdAt).toBe(new Date('2031-03-04T05:06').toISOString())
    await mailbox.withdraw(later!.id)
    await row.waitFor({ state: 'detached' })
  })

  it('hands work over from a start, and passes on the comments of a review', async () => {
    const page = await opened()
    await compose(page)
    await to(page).fill('ada, bob')
    await page.getByLabel('Subject').fill('The parser')
    await page.getByRole('button', { name: 'Handoff' }).click()
    await page.getByLabel('Start from').selectOption('review')
    await page.getByLabel('Work completed').fill('Built, 40 tests')
    await sendNow(page)
    await page.getByRole('heading', { name: 'The parser' }).waitFor()
    expect(await lastTo('ada')).toMatchObject({
      ...{ type: 'handoff', to: ['ada', 'bob'] },
      context: { workCompleted: 'Built, 40 tests', currentState: 'It is built and its tests pass.' },
      body: expect.stringContaining('**Next steps:**\n- Read the change'),
    })

    await compose(page)
    await to(page).fill('ada')
    await page.getByRole('button', { name: 'Review', exact: true }).click()
    await page.getByLabel('PR', { exact: true }).fill('12')
    await page.getByLabel('Comment', { exact: true }).fill('src/lexer.ts:42: This never ends.\nAdd a test.')
    await sendNow(page)
    await page.locator('.message').getByText('This never ends').waitFor()
    expect((await lastTo('ada'))!.payload).toEqual({
      pr: '12',
      comments: [{ path: 'src/lexer.ts', line: 42, body: 'This never ends.' }, { body: 'Add a test.' }],
    })
  })

  it('is taken back while nobody has read it, and is a draft again', async () => {
    const page = await opened()
    await compose(page)
    await to(page).fill('ada')
    await bodyOf(page).fill('Too early')
    await sendNow(page)
    await page.locator('.message').getByText('Too early').waitFor()
    await page.keyboard.press('z')
    await eventually(() => bodyOf(page).inputValue()).toBe('Too early')
    expect((await lastTo('ada'))!.body).not.toBe('Too early')
  })
})

describe('drafts', () => {
  it('are listed, kept side by side, and come back when they are discarded by mistake', async () => {
    const page = await opened()
    const drafts = page.locator('.nav').getByRole('link', { name: 'Drafts' })
    await compose(page)
    await to(page).fill('ada')
    await page.keyboard.press('Escape')
    await eventually(() => drafts.textContent()).toBe('Drafts1')
    await page.reload()
    await compose(page)
    await eventually(() => to(page).inputValue()).toBe('ada')
    await page.getByRole('button', { name: 'Keep this draft and start another' }).click()
    await eventually(() => to(page).inputValue()).toBe('')
    await page.getByRole('button', { name: 'Handoff' }).click()
    await page.getByLabel('Work completed').fill('Half of it')
    await page.reload()
    await drafts.click()
    const rows = page.locator('.drafts tbody tr')
    await eventually(() => rows.count()).toBe(2)
    await expectAccessible(page)
    await shoot(page, 'drafts')
    await page.getByRole('button', { name: 'Half of it', exact: true }).click()
    await eventually(() => page.getByLabel('Work completed').inputValue()).toBe('Half of it')
    await page.getByRole('button', { name: 'Discard', exact: true }).last().click()
    await eventually(() => rows.count()).toBe(1)
    await page.keyboard.press('z')
    await eventually(() => page.getByLabel('Work completed').inputValue()).toBe('Half of it')
  })

  it('changed after the answer was lost with the page are another message', async () => {
    const page = await opened()
    await compose(page)
    await to(page).fill('bob')
    await bodyOf(page).fill('First wording')
    await page.route('**/api/mailboxes/user/send', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await sendNow(page)
    await page.locator('.toast').getByText('Cannot reach the hub').waitFor()
    await page.unroute('**/api/mailboxes/user/send')
    await page.reload()
    await page.locator('.row').first().waitFor()
    await compose(page)
    await bodyOf(page).fill('Second wording')
    await sendNow(page)
    await page.locator('.message').getByText('Second wording').waitFor()
    expect(await lastTo('bob')).toMatchObject({ body: 'Second wording' })
    stage.faults.splice(0)
  })
})

describe('several at once', () => {
  it('dead letters are resent together, and that is undone', async () => {
    const page = await stage.page('/dead')
    const rows = page.locator('.row')
    await eventually(() => rows.count()).toBe(3)
    await page.keyboard.press('S')
    const field = page.getByLabel('Resend the selected to')
    await field.fill('cleo')
    await page.getByRole('button', { name: 'Resend 3' }).click()
    await eventually(() => rows.count()).toBe(0)
    await page.keyboard.press('z')
    await eventually(() => rows.count()).toBe(3)
    await page.getByRole('toolbar').getByText('3 selected').waitFor()
    expect((await stage.space.deadLetters()).letters).toHaveLength(3)
    await field.fill('bob')
    await page.keyboard.press('Enter')
    await eventually(() => rows.count()).toBe(0)
    await eventually(async () => (await stage.space.deadLetters()).letters.length).toBe(0)
  })

  it('threads are marked as seen, and that is undone', async () => {
    const page = await stage.page('/threads')
    await page.locator('.row').first().waitFor()
    const ada = await stage.space.mailbox('ada', { join: false })
    await ada.send({ to: 'bob', subject: 'Unseen', body: 'One' })
    const fresh = page.locator('.row.new')
    await eventually(() => fresh.count()).toBe(1)
    await page.keyboard.press('S')
    await page.getByRole('button', { name: 'Mark as seen' }).click()
    await eventually(() => fresh.count()).toBe(0)
    await page.keyboard.press('z')
    await eventually(() => fresh.count()).toBe(1)
  })
})
