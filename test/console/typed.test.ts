import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { escalate, handOff, reportCiFailure, reportReview } from '../../src/mod.ts'
import { openDisk } from '../../src/space/open.ts'
import { eventually, Stage } from './stage.ts'

/** Typed mail as its reader meets it: words, each thing once. */
let stage: Stage
const ids = { ci: '', bare: '', review: '', handoff: '', question: '' }
const log = 'src/lexer.ts:42:17  Missing semicolon\n\tsrc/lexer.ts:57:3  Unexpected any\n\n2 problems\n'

beforeAll(async () => {
  stage = await Stage.open(async (dir) => {
    await using space = await openDisk({ dir, settings: { durability: 'os' } })
    const lead = await space.mailbox('lead', { join: { roles: ['lead'] } })
    await space.join('ada')
    const ci = { to: 'ada', check: 'lint', pr: '12', url: 'https://ci.example.org/runs/7', log }
    ids.ci = (await reportCiFailure(lead, ci)).id
    const payload = { check: 'types', error: 'Missing semicolon' }
    ids.bare = (await lead.send({ to: 'ada', type: 'fix_ci_failure', payload })).id
    const review = { pr: '12', url: 'https://example.org/pull/12', comments: [{ body: 'Say why.' }] }
    ids.review = (await reportReview(lead, { to: 'ada', ...review })).id
    const work = { workCompleted: 'The lexer.', filesModified: ['src/lexer.ts', 'test/lexer.test.ts'] }
    ids.handoff = (await handOff(lead, { to: 'ada', subject: 'The parser', ...work })).id
    const asked = { to: 'ada', subject: 'Which port?', body: 'For the preview.', awaitingResponse: true }
    ids.question = (await lead.send(asked)).id
    await escalate(lead, { about: ids.question, to: 'user', reason: 'Blocked for two hours.' })
  })
})
afterAll(() => stage.close())
afterEach(async () => expect(await stage.rest()).toEqual([]))

it('a log keeps its lines, and each thing that is awaited has a line of its own', async () => {
  const page = await stage.page(`/messages/${ids.ci}`)
  const text = page.locator('.message .facts pre')
  await eventually(() => text.textContent()).toBe(log.trimEnd().replace('\t', '  '))
  const awaited = page.locator('.matter > p > span')
  await eventually(() => awaited.count()).toBe(2)
  const [first, second] = [await awaited.nth(0).boundingBox(), await awaited.nth(1).boundingBox()]
  expect(second!.y).toBeGreaterThanOrEqual(first!.y + first!.height)
})

it('an address among the facts can be followed, and its name is written as people write it', async () => {
  const page = await stage.page(`/messages/${ids.review}`)
  const facts = page.locator('.message .facts')
  await eventually(() => facts.locator('dt').allTextContents()).toEqual(['PR', 'URL'])
  const link = facts.getByRole('link', { name: 'https://example.org/pull/12' })
  expect(await link.getAttribute('href')).toBe('https://example.org/pull/12')
  expect(await link.getAttribute('rel')).toContain('noreferrer')
})

it('mail without a subject is called what its conversation calls it, wherever it is listed', async () => {
  const page = await stage.page(`/messages/${ids.bare}`)
  await page.getByRole('heading', { name: 'CI failed: types' }).waitFor()
  const list = await stage.page('/threads')
  await list.locator('.row-subject', { hasText: 'CI failed: types' }).waitFor()
})

it('a handoff names each file once', async () => {
  const page = await stage.page(`/messages/${ids.handoff}`)
  const body = page.locator('.message-body')
  await body.locator('.prose li').first().waitFor()
  expect((await body.textContent())!.split('test/lexer.test.ts')).toHaveLength(2)
})

it('the delivery status says to whom a message was escalated, by whom and why', async () => {
  const page = await stage.page(`/messages/${ids.question}`)
  const said = page.getByText(/^Escalated to user by lead at .* because: Blocked for two hours\.$/)
  await said.waitFor()
  await said.getByRole('link').click()
  await page.getByRole('heading', { name: 'Escalation: Blocked for two hours.' }).waitFor()
})
