import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { approvePlan, submitPlan } from '../../src/agent/requests.ts'
import { remember } from '../../src/bridges/remembered.ts'
import { createAgentToken } from '../../src/hub/tokens.ts'
import { openDisk } from '../../src/space/open.ts'
import { eventually, Stage, shoot } from './stage.ts'

const hourMs = 3_600_000
const agents = Array.from({ length: 14 }, (_, n) => `agent-${String(n).padStart(2, '0')}`)
/** More than the hub takes for usual. */
const unread = 51

let stage: Stage
let plan: string
/** The folder of another system. */
let other: string

beforeAll(async () => {
  stage = await Stage.open(async (dir) => {
    let now = Date.now() - 6 * hourMs
    const routes = [{ when: 'type:ci_failure', to: 'role:ci' }]
    writeFileSync(join(dir, 'config.json'), JSON.stringify({ routes }), { mode: 0o600 })
    const settings = { durability: 'os', 'limits.ratePerMinute': 0 } as const
    await using space = await openDisk({ dir, settings, now: () => now })
    for (const name of agents) await space.join(name)
    const box = (name: string) => space.mailbox(name, { join: false })
    const lead = await space.mailbox('lead', { join: { roles: ['lead'] } })
    const ada = await box(agents[0]!)
    for (const to of agents)
      await (await box(agents.at(-1)!)).send({ to: to === agents.at(-1) ? 'lead' : to })
    for (let n = 0; n < unread; n++) {
      now += 60_000
      await ada.send({ to: [agents[1]!, agents[2]!], subject: `Note ${n}` })
    }
    plan = (await submitPlan(ada, { to: 'lead', subject: 'Drop the old API', body: 'Soon.', taskId: 'T-1' }))
      .id
    await ada.send({ to: 'role:lead', subject: 'For whoever leads' })
    now += 60_000
    await lead.check()
    now += 120_000
    await approvePlan(lead, plan, { feedback: 'In three releases.' })
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    await once(child, 'spawn')
    await space.join('mortal', { session: { pid: child.pid! } })
    child.kill('SIGKILL')
    await once(child, 'exit')
    now += 60_000
    await space.runDue()
    now += 120_000
    await space.join('mortal')
    await (await box('mortal')).send({ to: agents[3]!, subject: 'Which one?', awaitingResponse: true })
    createAgentToken(dir, 'lead')
    mkdirSync(join(dir, 'other'))
    other = join(dir, 'other')
    remember(dir, { format: 'ralph', path: other, direction: 'both', runs: true })
  })
})
afterAll(() => stage.close())
afterEach(async () => expect(await stage.rest()).toEqual([]))

const params = (page: Page) => new URL(page.url()).searchParams

describe('metrics', () => {
  it('have their time in the URL, which a drag makes smaller', async () => {
    const page = await stage.page('/stats?span=7d')
    const plot = page.locator('.series-plot .u-over').first()
    await plot.waitFor()
    await eventually(() => page.getByRole('link', { name: '7 d' }).getAttribute('aria-current')).toBe('page')
    const box = (await plot.boundingBox())!
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + box.width * 0.25, y)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 })
    await page.mouse.up()
    await eventually(() => params(page).has('from')).toBe(true)
    const spanMs = Date.parse(params(page).get('to')!) - Date.parse(params(page).get('from')!)
    // A quarter of the six hours that the space is old: there is no empty week before it.
    expect(spanMs).toBeGreaterThan(hourMs)
    expect(spanMs).toBeLessThan(2 * hourMs)
    await page.reload()
    await plot.waitFor()
    await page.getByRole('link', { name: 'Zoom out' }).click()
    await eventually(() => Date.parse(params(page).get('to')!) - Date.parse(params(page).get('from')!)).toBe(
      2 * spanMs,
    )
    await page.goBack()
    await page.goBack()
    await eventually(() => params(page).get('span')).toBe('7d')
  })

  it('mark deaths, returns and starts, and say warnings in one line', async () => {
    const page = await stage.page('/stats')
    const warnings = page.locator('.warnings')
    await eventually(() => warnings.locator('summary').textContent()).toBe(
      `2 warnings: ${agents[1]} has ${unread + 1} unread messages and 1 more`,
    )
    await page.getByText('Marked in the charts: 1 death, 1 return, 1 start of a hub').click()
    const events = page.locator('.events li')
    await eventually(() => events.count()).toBe(3)
    expect((await events.allTextContents()).map((text) => text.replace(/\s.*/, ''))).toContain('mortal')
    await shoot(page, 'stats-events')
  })
})

describe('traffic', () => {
  it('of more than a dozen is a matrix; a graph of them has lines where one points', async () => {
    const page = await stage.page('/traffic')
    await page.locator('.traffic-matrix table').waitFor()
    // What the lead took from its role is theirs.
    const toRole = page.getByRole('button', { name: 'agent-00 to role:lead: 1 message' })
    await page.getByRole('button', { name: 'agent-00 to lead: 2 messages' }).waitFor()
    expect(await toRole.count()).toBe(0)
    await page.getByRole('link', { name: 'By role' }).click()
    await toRole.waitFor()
    await page.getByRole('link', { name: 'Graph' }).click()
    expect(params(page).get('roles')).toBe('shown')
    const lines = page.locator('.traffic-graph .edge')
    await page.locator('.traffic-graph .node').first().waitFor()
    expect(await lines.count()).toBe(0)
    await page.locator('.traffic-graph .node', { hasText: 'mortal' }).focus()
    await eventually(() => lines.count()).toBe(1)
    await shoot(page, 'traffic-pointed')
  })
})

describe('a matter', () => {
  it('has a sequence and a timeline with URLs of their own', async () => {
    const page = await stage.page(`/threads/${plan}?view=timeline`)
    const rows = page.locator('.timeline-rows > li')
    await eventually(() => rows.count()).toBe(2)
    await eventually(() => page.locator('.timeline > p').first().textContent()).toMatch(/^Took 3 min/)
    const steps = rows.first().locator('.timeline-steps > li')
    await eventually(() => steps.allTextContents()).toContain('read by lead +1 min')
    expect((await steps.allTextContents()).some((text) => text.startsWith('completed by lead +3 min'))).toBe(
      true,
    )
    await shoot(page, 'timeline')
    await page.getByRole('link', { name: 'Sequence' }).click()
    await page.locator('.sequence-room .chart').waitFor()
    expect(params(page).get('view')).toBe('sequence')
    await page.reload()
    await page.locator('.sequence-room .chart').waitFor()
    await page.getByRole('link', { name: 'Sequence' }).click()
    await page.locator('.message').first().waitFor()
    expect(params(page).has('view')).toBe(false)
  })
})

describe('while the person was away', () => {
  it('says what was decided, who is blocked and what died, each linked, until it is dismissed', async () => {
    const page = await stage.page('/needs-you')
    await page.locator('.needs-head, .empty').first().waitFor()
    // A browser that was last here before any of it.
    await page.evaluate(
      (at) => {
        const key = Object.keys(localStorage).find((one) => one.startsWith('mailbox.here.'))!
        addEventListener('pagehide', () => localStorage.setItem(key, String(at)))
      },
      Date.now() - 7 * hourMs,
    )
    await page.reload()
    const note = page.locator('.away-line')
    await eventually(() => note.textContent()).toContain('1 agent died, 1 blocked, 1 decided')
    await shoot(page, 'away-line')
    const summary = page.getByRole('region', { name: 'While you were away' })
    await summary.getByText('approved by lead').waitFor()
    await note.getByRole('link').click()
    await page.getByRole('heading', { name: 'While you were away' }).waitFor()
    await eventually(() => page.locator('.digest h2').allTextContents()).toEqual([
      'Died 1',
      'Blocked 1',
      ...(await page.locator('.digest h2').allTextContents()).filter((text) => text.startsWith('Waits')),
      'Decided 1',
    ])
    await page.getByRole('link', { name: '1 h', exact: true }).click()
    expect(params(page).get('since')).toBe('1h')
    await page.goBack()
    await page.getByRole('link', { name: 'Drop the old API' }).click()
    await page.locator('.message.target').getByText('In three releases.').waitFor()
    await page.goto(`${stage.url}/needs-you`)
    await page.getByRole('button', { name: 'Dismiss' }).waitFor({ state: 'detached' })
  })
})

describe('settings', () => {
  it('show rules, limits, routes, tokens and bridges, and what each does', async () => {
    const page = await stage.page('/settings')
    const part = (name: string) =>
      page.locator('section', { has: page.getByRole('heading', { name, exact: true }) })
    await eventually(() => part('Routes').locator('ol').textContent()).toBe('type:ci_failureto role:ci')
    await eventually(() => part('Tokens').locator('tbody').textContent()).toMatch(/^leadact, read-own/)
    await eventually(() => part('Bridges').locator('.settings').textContent()).toMatch(/^ralph .*running$/)
    mkdirSync(join(other, 'alpha', 'mailbox'), { recursive: true })
    const line = { MessageId: 'm1', FromAgentId: 'lead', ToAgentId: 'agent-1', Type: 'Text', Content: 'live' }
    writeFileSync(join(other, 'alpha', 'mailbox', 'agent-1.jsonl'), `half\n${JSON.stringify(line)}\n`)
    const bridges = async () => {
      await page.reload()
      return part('Bridges').locator('.settings').textContent()
    }
    await eventually(bridges).toMatch(
      /1 message on both sides, 1 problem, lag \d+ ms inIn mailbox \w+, process \d+Last problem: .*line 1: is not JSONrunning$/,
    )
    await part('Audit').getByRole('link').waitFor()
    for (const name of ['Who may do what', 'Limits', 'Times'])
      await part(name).locator('code').first().waitFor()
  })
})
