import { expect, it, onTestFinished } from 'vitest'
import { openSpace } from '../../src/mod.ts'
import { stageHub } from '../helpers/hub.ts'

it('takes over HTTP what the library takes: numbers, dates, other names, tags that address', async () => {
  const stage = await stageHub()
  const ada = await stage.space.mailbox('ada', { join: { tags: ['project:x', 'frontend'] } })
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const body = { tags: ['project:x', 'handoff'], priority: 4, expiresAt, type: 'TaskAssignment' }
  const { status, json } = await stage.act('user', 'send', body)
  expect([status, json]).toMatchObject([
    200,
    {
      to: ['project:x'],
      tags: ['project:x', 'handoff'],
      priority: 'urgent',
      expiresAt,
      type: 'task_assignment',
    },
  ])
  await stage.act('user', 'send', { to: 'tag:frontend', type: 'plan' })
  expect((await ada.inbox()).messages).toHaveLength(2)
  const looked = await stage.act('ada', 'inbox', { minPriority: 4 }, { token: stage.agentToken('ada') })
  expect(looked.json.messages).toHaveLength(1)
  const task = await stage.act('user', 'assign-task', { to: 'ada', subject: 'S', priority: 1 })
  expect(task.json).toMatchObject({ priority: 'low' })
  expect((await stage.act('user', 'send', { tags: ['handoff'] })).status).toBe(400)
})

it('refuses a field that it does not have, and says which was meant', async () => {
  const stage = await stageHub()
  await stage.space.mailbox('ada')
  for (const [name, meant] of [
    ['ttl_hours', 'ttlMs'],
    ['reply_to', 'replyTo'],
    ['sbject', 'subject'],
  ]) {
    const { status, json } = await stage.act('user', 'send', { to: 'ada', [name!]: 'x' })
    expect([status, json.error.message]).toEqual([400, `unknown field: ${name}`])
    expect(json.error.hint).toContain(`did you mean ${meant}?`)
  }
})

it('looks for no attachment: the files are on the machine of the sender', async () => {
  const stage = await stageHub()
  await stage.space.mailbox('ada')
  const space = await openSpace({ url: stage.url, token: stage.agentToken('bob') })
  onTestFinished(() => space.close())
  const bob = await space.mailbox('bob')
  const sent = await bob.send({ to: 'ada', attachments: ['only/on/another/machine.md'], type: 'shutdown' })
  expect(sent).toMatchObject({
    ...{ attachments: ['only/on/another/machine.md'], type: 'shutdown_request' },
    warnings: ['the type shutdown was taken as shutdown_request'],
  })
})
