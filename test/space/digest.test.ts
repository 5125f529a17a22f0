import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { approvePlan, askForHelp, assignTask, rejectPlan, submitPlan } from '../../src/mod.ts'
import { clockAt, hour, minute } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

it('tells what was decided, what was finished, what waits and who is blocked, since a time and no earlier', async () => {
  const clock = clockAt()
  const space = await tempSpace({ now: clock.now })
  const user = await space.mailbox('user')
  const lead = await space.mailbox('lead', { join: { roles: ['lead'] } })
  const ada = await space.mailbox('ada')
  const early = await submitPlan(ada, { to: 'lead', subject: 'Early', body: 'first', taskId: 'T-0' })
  await lead.check()
  await approvePlan(lead, early.id)
  clock.advance(30 * hour)

  const plan = await submitPlan(ada, { to: 'lead', subject: 'Split the parser', body: '...', taskId: 'T-1' })
  await lead.check()
  await rejectPlan(lead, plan.id, { feedback: 'Start with the lexer.' })
  const task = await assignTask(lead, { to: 'ada', subject: 'Write the lexer' })
  const other = await assignTask(lead, { to: 'ada', subject: 'Fix the tests' })
  await ada.check()
  await ada.done(task.id, { note: 'All green.', archive: false })
  await ada.fail(other.id, { reason: 'no compiler' })
  const small = await ada.send({ to: 'lead', subject: 'Small', awaitingResponse: true })
  await lead.reply(small.id, { body: 'Yes.' })
  const question = await user.send({ to: 'ada', subject: 'When?', awaitingResponse: true })
  await ada.reply(question.id, { body: 'Tomorrow.' })
  clock.advance(minute)
  const help = await askForHelp(ada, {
    to: 'user',
    subject: 'Port',
    body: 'Which port?',
    options: ['80', '8080'],
  })

  const digest = await space.digest()
  expect(digest.decided.map(({ subject, outcome, by, says }) => [subject, outcome, by, says])).toEqual([
    ['Split the parser', 'rejected', 'lead', 'Start with the lexer.'],
    ['When?', 'answered', 'ada', 'Tomorrow.'],
  ])
  expect(digest.finished.map(({ subject, outcome, by, note }) => [subject, outcome, by, note])).toEqual([
    ['Write the lexer', 'done', 'ada', 'All green.'],
    ['Fix the tests', 'failed', 'ada', 'no compiler'],
  ])
  expect(digest.needsYou).toMatchObject([{ id: help.id, kind: 'help', frees: ['ada'] }])
  expect(digest.blocked).toMatchObject([{ agent: 'ada', for: 'user', id: help.id, seq: help.seq }])
  expect(digest.totals).toMatchObject({
    answered: 1,
    decided: 2,
    finished: 1,
    failed: 1,
    needsYou: 1,
    died: 0,
  })

  const week = await space.digest({ since: '7d' })
  expect(week.decided.map(({ subject, outcome }) => `${subject} ${outcome}`)).toEqual([
    'Early approved',
    'Split the parser rejected',
    'When? answered',
  ])
  // What was finished before, and is only put away now, is not finished a second time.
  clock.advance(2 * hour)
  await ada.archive(task.id)
  expect((await space.digest({ since: '1h' })).totals).toMatchObject({ decided: 0, finished: 0, needsYou: 1 })
})

it('tells who died, with the mail that waits for it, and what was not delivered', async () => {
  const clock = clockAt()
  const space = await tempSpace({ now: clock.now })
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  await once(child, 'spawn')
  await space.join('ada', { session: { pid: child.pid! } })
  const bob = await space.mailbox('bob')
  child.kill('SIGKILL')
  await once(child, 'exit')
  await bob.send({ to: 'ada', subject: 'For her' })
  const short = await bob.send({ to: 'role:nobody', subject: 'Short', ttlMs: 1_000 })
  clock.advance(minute)
  const digest = await space.digest({ since: '1h' })
  expect(digest.died).toMatchObject([{ agent: 'ada', reason: 'ended', unread: 1, isBack: false }])
  expect(digest.lost).toMatchObject([{ id: short.id, recipient: 'role:nobody', state: 'expired' }])
  // It is back, and so is no loss.
  await space.join('ada', {})
  expect((await space.digest({ since: '1h' })).died).toMatchObject([{ agent: 'ada', isBack: true }])
})

it('counts nothing of what was imported, and refuses what is no time', async () => {
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  const { message } = await ada.show((await ada.send({ to: 'user', subject: 'Hello' })).id)
  const other = await tempSpace()
  expect(await other.importMessages([{ message, receipts: [] }])).toMatchObject({ imported: 1 })
  expect((await other.digest({ since: '7d' })).totals.messages).toBe(0)
  await expect(other.digest({ since: 'yesterday' })).rejects.toMatchObject({ code: 'invalid' })
})
