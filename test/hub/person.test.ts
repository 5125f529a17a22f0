import { expect, it } from 'vitest'
import { askForHelp } from '../../src/mod.ts'
import { stageHub } from '../helpers/hub.ts'
import { tempDir } from '../helpers/temp.ts'

/** A hub whose clock the test moves, as the person uses it. */
async function stagePerson() {
  const clock = { now: Date.parse('2026-11-15T09:00:00.000Z') }
  const stage = await stageHub({ open: { dir: tempDir(), now: () => clock.now } })
  const get = async (path: string) => (await stage.ask(path)).json
  const act = (name: string, operation: string, body: object) =>
    stage.ask(`/api/mailboxes/${name}/${operation}`, { body })
  const needs = async () =>
    ((await get('/api/needs-you')).items as { section: string; message: { subject: string } }[]).map(
      ({ section, message }) => `${section}: ${message.subject}`,
    )
  return { ...stage, clock, get, act, needs }
}

it('puts first what frees most agents, and says who waits for whom', async () => {
  const { space, get, needs } = await stagePerson()
  const [ada, bob, cleo, dora] = await Promise.all(
    ['ada', 'bob', 'cleo', 'dora'].map((name) => space.mailbox(name)),
  )
  const ask = (mailbox: typeof ada, to: string, subject: string) =>
    mailbox!.send({ to, subject, awaitingResponse: true })
  await askForHelp(dora!, { to: 'user', subject: 'Urgent, and only dora waits', body: 'Help.' })
  await ask(bob, 'ada', 'Which schema?')
  await ask(cleo, 'bob', 'Which port?')
  // Two that wait for each other are no endless chain, and nobody frees itself.
  await ask(ada, 'cleo', 'Ready?')
  const question = await ask(ada, 'user', 'May I drop the table?')
  await ada!.send({ to: 'user', subject: 'Please acknowledge', requiresAck: true, priority: 'high' })
  await cleo!.send({ to: 'all', subject: 'Thanks, everybody', priority: 'urgent' })
  expect(await needs()).toEqual([
    'blocked: May I drop the table?',
    'blocked: Urgent, and only dora waits',
    'asked: Please acknowledge',
    'info: Thanks, everybody',
  ])
  const [first] = (await get('/api/needs-you')).items
  expect(first.frees).toEqual([
    { agent: 'ada', for: 'user', id: question.id, subject: 'May I drop the table?' },
    { agent: 'bob', for: 'ada', id: expect.any(String), subject: 'Which schema?' },
    { agent: 'cleo', for: 'bob', id: expect.any(String), subject: 'Which port?' },
  ])
  // Whoever has left does not go on.
  await cleo!.leave()
  expect((await get('/api/needs-you')).items[0].frees).toHaveLength(2)
})

it('hides what is snoozed until its time, for the person only', async () => {
  const { space, get, act, needs, clock } = await stagePerson()
  const ada = await space.mailbox('ada')
  const { id } = await ada.send({ to: 'user', subject: 'Later', awaitingResponse: true })
  await ada.send({ to: 'user', subject: 'Now', awaitingResponse: true })
  const end = await space.lastSeq()
  expect((await act('user', 'snooze', { ids: [id], until: '2026-11-15T10:00:00Z' })).status).toBe(200)
  expect(await needs()).toEqual(['blocked: Now', 'snoozed: Later'])
  expect(await get('/api/overview')).toMatchObject({ asksYou: 1 })
  clock.now = Date.parse('2026-11-15T10:00:01Z')
  expect(await needs()).toEqual(['blocked: Later', 'blocked: Now'])
  await act('user', 'snooze', { ids: [id], until: '2026-11-16T10:00:00Z' })
  await act('user', 'snooze', { ids: [id], until: null })
  expect(await needs()).toEqual(['blocked: Later', 'blocked: Now'])
  // Nothing of it is in the journal.
  expect(await space.lastSeq()).toBe(end)
  expect((await act('ada', 'snooze', { ids: [id], until: null })).status).toBe(403)
})

it('keeps searches under a name in the space, with their counts', async () => {
  const { space, get, act } = await stagePerson()
  const ada = await space.mailbox('ada')
  await ada.send({ to: 'user', subject: 'Night shift', priority: 'high' })
  await ada.send({ to: 'user', subject: 'Day shift' })
  expect((await act('user', 'save-view', { name: 'loud', query: 'priority:high from:ada' })).status).toBe(200)
  await act('user', 'save-view', { name: 'shifts', query: 'shift' })
  expect(await get('/api/views')).toEqual({
    views: [
      { name: 'loud', query: 'priority:high from:ada', total: 1, isMore: false },
      { name: 'shifts', query: 'shift', total: 2, isMore: false },
    ],
  })
  expect((await act('user', 'save-view', { name: 'two words', query: 'x' })).json.error.hint).toContain(
    'one word',
  )
  expect((await act('user', 'save-view', { name: 'bad', query: 'is:nonsense' })).status).toBe(400)
  await act('user', 'save-view', { name: 'loud', query: null })
  expect((await get('/api/views')).views).toHaveLength(1)
  expect((await act('user', 'save-view', { name: 'loud', query: null })).status).toBe(404)
})

it('lists every setting with what it does, and no secret', async () => {
  const { get } = await stagePerson()
  const { settings } = await get('/api/settings')
  const rules = settings.find(({ key }: { key: string }) => key === 'rules')
  expect(rules).toMatchObject({ value: 'open', default: 'open', about: expect.stringContaining('hub') })
})
