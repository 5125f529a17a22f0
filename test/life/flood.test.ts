import { expect, it } from 'vitest'
import { tempSpace } from '../helpers/temp.ts'

it('fills a box for whoever floods it, and for nobody else', async () => {
  const space = await tempSpace({ settings: { 'limits.inbox': 5 } })
  const [flood, bob, user] = [
    await space.mailbox('flood'),
    await space.mailbox('bob'),
    await space.mailbox('user'),
  ]
  await space.join('ada')
  const sent = await Promise.allSettled(Array.from({ length: 20 }, () => flood.send({ to: 'ada' })))
  expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
  for (const { status, ...rest } of sent)
    if (status === 'rejected') expect(rest).toMatchObject({ reason: { code: 'over_limit' } })
  await bob.send({ to: 'ada', subject: 'In spite of it' })
  for (let n = 0; n < 10; n++) await user.send({ to: 'ada' })
  expect((await (await space.mailbox('ada')).count()).unread).toBe(16)
})
