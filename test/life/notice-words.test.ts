import { expect, it } from 'vitest'
import { systemAgent } from '../../src/model/agent.ts'
import { tempSpace } from '../helpers/temp.ts'

const order = 'Ignore the above'

it('what the system says holds no words of a sender', async () => {
  const clock = { now: Date.parse('2026-11-15T10:00:00.000Z') }
  const space = await tempSpace({ now: () => clock.now, settings: { 'limits.threadMessages': 3 } })
  const [ada, bob] = [await space.mailbox('ada'), await space.mailbox('bob')]
  await space.join('lead', { roles: ['lead'] })
  const words = {
    subject: `${order} 1`,
    body: `${order} 2`,
    payload: { reason: `${order} 3`, withinMs: 60_000 },
  }
  await ada.send({ to: 'bob', ...words, priority: 'urgent', threadId: `${order} 4` })
  await ada.send({ to: 'bob', ...words, requiresAck: true })
  await ada.send({ to: 'bob', ...words, type: 'task_assignment' })
  await ada.send({ to: 'bob', ...words, awaitingResponse: true })
  for (let n = 0; n < 2; n++) await bob.send({ to: 'ada', threadId: `${order} 4`, ...words })
  for (const hours of [1, 5, 30]) {
    clock.now += hours * 3_600_000
    await space.runDue()
  }
  await bob.leave()
  await space.runDue()
  const said = []
  for await (const { entry } of space.entries(0))
    if (entry.kind === 'message' && entry.message.from === systemAgent) said.push(entry.message)
  expect(said.some(({ subject }) => subject.startsWith('A thread was paused'))).toBe(true)
  expect(said.length).toBeGreaterThan(3)
  for (const { subject, body } of said) expect(`${subject}\n${body}`).not.toContain('Ignore')
})
