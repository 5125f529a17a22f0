import { describe, expect, test } from 'vitest'
import type { Mailbox } from '../../src/mod.ts'
import { clockAt, expectRefused, hour, subjects, trio } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

async function library() {
  const clock = clockAt('2026-11-10T10:00:00.000Z')
  const space = await tempSpace({ now: clock.now })
  const { ada, bob, cy } = await trio(space)
  await ada.update({ addRoles: ['architect'], addTags: ['project:p'] })
  const day = () => clock.advance(24 * hour)
  const life = { ttlMs: null }
  await bob.send({ ...life, to: 'ada', subject: 'one', body: 'the plan for the parser' })
  day()
  await bob.send({
    ...life,
    to: 'role:architect',
    subject: 'two',
    body: 'no plan at all',
    attachments: ['package.json'],
  })
  day()
  await cy.send({
    ...life,
    to: 'project:p',
    subject: 'three',
    body: 'parser tests',
    type: 'request',
    tags: ['concern:c'],
  })
  day()
  await cy.send({ ...life, to: ['bob', 'all'], subject: 'four', body: 'Größe der Pläne' })
  day()
  await ada.send({
    ...life,
    to: 'bob',
    subject: 'five',
    body: 'see https://example.org/plan',
    type: 'response',
  })
  return { space, ada, bob, cy }
}

/** What ada finds, oldest first. */
const find = async (mailbox: Mailbox, query: string) => subjects(await mailbox.search(query)).reverse()

describe('a search', () => {
  test.each([
    ['plan', ['one', 'two', 'five']],
    ['PLAN', ['one', 'two', 'five']],
    ['plan parser', ['one']],
    ['"no plan"', ['two']],
    ['"plan no"', []],
    ['pars*', ['one', 'three']],
    ['grosse', []],
    ['große', ['four']],
    ['plane', ['four']],
    ['two', ['two']],
    ['from:bob', ['one', 'two']],
    ['from:cy', ['three', 'four']],
    ['to:ada', ['one']],
    ['to:role:architect', ['two']],
    ['to:architect', ['two']],
    ['to:bob', ['four', 'five']],
    ['to:all', ['four']],
    ['to:project:p', ['three']],
    ['tag:project:p', ['three']],
    ['tag:concern:c', ['three']],
    ['type:request', ['three']],
    ['is:unread', ['one', 'two', 'three', 'four']],
    ['has:attachment', ['two']],
    ['before:2026-11-12', ['one', 'two']],
    ['after:2026-11-13', ['four', 'five']],
    ['after:2026-11-11 before:2026-11-13', ['two', 'three']],
    ['before:2026-11-11T10:00:00Z', ['one']],
    ['after:2026-11-14T10:00:00.000Z', ['five']],
  ])('for %s', async (query, found) => {
    const { ada } = await library()
    expect(await find(ada, query)).toEqual(found)
  })

  test.each([
    ['plan -parser', ['two', 'five']],
    ['plan -"no plan"', ['one', 'five']],
    ['parser -from:bob', ['three']],
    ['-plan', ['three', 'four']],
    ['-from:bob', ['three', 'four', 'five']],
    ['-to:ada', ['two', 'three', 'four', 'five']],
    ['-tag:project:p', ['one', 'two', 'four', 'five']],
    ['-type:text', ['three', 'five']],
    ['-is:unread', ['five']],
    ['-has:attachment plan', ['one', 'five']],
    ['-before:2026-11-13', ['four', 'five']],
    ['-after:2026-11-12', ['one', 'two']],
    ['from:bob -to:ada', ['two']],
    ['from:bob -parser', ['two']],
    ['is:unread -plan', ['three', 'four']],
  ])('for %s, with a minus', async (query, found) => {
    const { ada } = await library()
    expect(await find(ada, query)).toEqual(found)
  })

  test.each([
    ['plan OR'],
    ['plan AND'],
    ['(plan'],
    ['plan)'],
    ['NEAR(plan'],
    ["plan'"],
    ['plan"'],
    ['plan;--'],
    ['{plan'],
    ['plan:x'],
  ])('takes %s as words, not as syntax', async (query) => {
    const { ada } = await library()
    await expect(ada.search(query)).resolves.toMatchObject({ next: null })
  })

  test('leaves out mail that has any of several excluded words', async () => {
    const space = await tempSpace()
    const { ada, bob } = await trio(space)
    for (const fruit of ['apple', 'pear', 'plum']) await bob.send({ to: 'ada', subject: fruit, body: fruit })
    expect(await find(ada, '-apple -pear')).toEqual(['plum'])
    expect(await find(ada, 'plum -apple -pear')).toEqual(['plum'])
  })

  test('knows no operator that is not one', async () => {
    const { ada } = await library()
    expect(await find(ada, 'https://example.org/plan')).toEqual(['five'])
  })

  test('takes names with spaces in quotes', async () => {
    const { space, bob } = await library()
    const lovelace = await space.mailbox('Ada Lovelace')
    await lovelace.send({ to: 'bob', subject: 'notes' })
    expect(await find(bob, 'from:"Ada Lovelace"')).toEqual(['notes'])
  })

  test('loses no word next to a phrase', async () => {
    const { ada, bob } = await library()
    await bob.send({ to: 'ada', subject: 'six', body: 'two words here' })
    expect(await find(ada, '"two words"here')).toEqual(['six'])
    expect(await find(ada, '"two words"nowhere')).toEqual([])
  })

  test('asks is:unread of the one who searches', async () => {
    const { ada, bob } = await library()
    expect(await find(bob, 'is:unread')).toEqual(['four', 'five'])
    const [newest] = (await ada.search('is:unread')).messages
    await ada.read(newest!.id)
    expect(await find(ada, 'is:unread')).toEqual(['one', 'two', 'three'])
  })

  test('for a recipient finds the same before and after it has read', async () => {
    const { ada } = await library()
    const before = await find(ada, 'to:ada')
    await ada.check({ budgetTokens: 100_000 })
    expect(await find(ada, 'to:ada')).toEqual(before)
  })

  test('finds a broadcast to a swarm by the address it was sent to', async () => {
    const { ada, bob } = await library()
    await bob.broadcast({ swarm: 'dev', subject: 'to the swarm' })
    expect(await find(ada, 'to:broadcast:dev')).toEqual(['to the swarm'])
    expect(await find(ada, 'to:swarm:dev')).toEqual(['to the swarm'])
  })

  test('finds nothing for a sign that no message has', async () => {
    const { ada } = await library()
    expect(await find(ada, '🙂')).toEqual([])
  })

  test('has the newest first, in pages', async () => {
    const { ada } = await library()
    const first = await ada.search('plan', { limit: 2 })
    expect(subjects(first)).toEqual(['five', 'two'])
    expect(await ada.search('plan', { limit: 2, after: first.next! })).toMatchObject({
      messages: [{ subject: 'one' }],
      next: null,
    })
  })

  test('counts what it finds, whatever the page, up to a limit', async () => {
    const { ada, bob } = await library()
    const plans = await ada.search('plan', { limit: 1, counts: true })
    expect(plans).toMatchObject({ total: 3, isMore: false, next: expect.any(String) })
    const { next, ...second } = await ada.search('plan', { limit: 1, after: plans.next! })
    expect(second).not.toHaveProperty('total')
    expect(next).not.toBeNull()
    expect(await ada.search('nowhere', { counts: true })).toMatchObject({ total: 0, isMore: false })
    await Promise.all(Array.from({ length: 1_003 }, () => bob.send({ to: 'ada', body: 'mass' })))
    for (const query of ['mass', 'mass to:ada'])
      expect(await ada.search(query, { limit: 2, counts: true })).toMatchObject({
        total: 1_000,
        isMore: true,
      })
  })

  test('finds by priority, by what is open and by how long ago', async () => {
    const { ada, bob } = await library()
    await bob.send({ to: 'ada', subject: 'loud', priority: 'urgent', awaitingResponse: true })
    expect(await find(ada, 'priority:urgent')).toEqual(['loud'])
    expect(await find(ada, 'priority:4 -priority:low')).toEqual(['loud'])
    expect(await find(ada, 'is:open')).toContain('loud')
    const { messages } = await ada.search('loud is:open')
    await ada.reply(messages[0]!.id, { body: 'heard' })
    expect(await find(ada, 'is:open loud')).toEqual([])
    expect(await find(ada, 'from:bob loud after:24h')).toEqual(['loud'])
    expect(await find(ada, 'from:bob loud before:24h')).toEqual([])
  })

  test('names an operator that is none, and searches it as text', async () => {
    const { ada } = await library()
    expect((await ada.search('fro:bob')).notes).toEqual([expect.stringContaining('did you mean from:?')])
    expect((await ada.search('colour:red')).notes).toEqual([expect.stringContaining('operators: from: to:')])
    for (const query of ['http://example.org', 'plan from:bob', '"fro:bob"'])
      expect((await ada.search(query)).notes).toBeUndefined()
  })

  test('finds what was sent this instant, in another handle, too', async () => {
    const { ada, cy } = await library()
    await cy.send({ to: 'bob', body: 'xylophone' })
    expect(await find(ada, 'xylophone')).toEqual([''])
  })

  test('changes nothing', async () => {
    const { ada } = await library()
    const before = await ada.count()
    await ada.search('is:unread plan')
    expect(await ada.count()).toEqual(before)
  })

  test.each([
    [''],
    ['   '],
    ['"'],
    ['is:read'],
    ['has:cheese'],
    ['before:yesterday'],
    ['priority:loud'],
    ['after:2026-02-31'],
  ])('for %j is refused', async (query) => {
    const { space, ada } = await library()
    await expectRefused(space, 'invalid', () => ada.search(query))
  })

  test('with NUL in it is refused or finds nothing, and breaks nothing', async () => {
    const { ada } = await library()
    const found = await ada.search('pl\0an').catch((error: unknown) => error)
    if (found instanceof Error) expect(found).toMatchObject({ code: 'invalid' })
    else expect(found).toMatchObject({ messages: [] })
  })
})
