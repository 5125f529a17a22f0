import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'

it('answers every verb of the roster with the agent', async () => {
  const box = await createBox()
  const joined = await box.json(
    'join',
    'ada',
    '--role',
    'architect',
    '--note',
    'hello',
    '--pid',
    '42',
    '--client',
    'test',
  )
  expect(joined.agent).toMatchObject({ name: 'ada', state: 'alive', roles: ['architect'], note: 'hello' })
  // A session that comes through a hub says so.
  const client = expect.stringMatching(/^(remote:)?test$/)
  expect(joined.agent.session).toMatchObject({ generation: 1, pid: 42, client })
  const updated = await box.json(
    'update',
    '--as',
    'ada',
    '--role',
    'reviewer',
    '--remove-role',
    'architect',
    '--tag',
    'project:x',
  )
  expect(updated.agent).toMatchObject({ roles: ['reviewer'], tags: ['project:x'] })
  expect((await box.json('leave', 'ada', '--frozen')).agent.state).toBe('frozen')
  expect((await box.json('agents')).agents.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'user alive',
    'ada frozen',
  ])
})

it('answers lists with the messages and a cursor that leads through them', async () => {
  const box = await createBox('ada')
  for (const subject of ['one', 'two', 'three']) await box.ok('send', 'ada', '--subject', subject)
  for (const words of [['inbox', '--as', 'ada'], ['sent'], ['search', 'from:user']]) {
    const first = await box.json(...words, '--limit', '2')
    expect(first.messages).toHaveLength(2)
    const second = await box.json(...words, '--limit', '2', '--after', first.next!)
    expect(second).toMatchObject({ messages: [{}], next: null })
    const subjects = [...first.messages, ...second.messages].map(({ subject }) => subject)
    expect(subjects.sort()).toEqual(['one', 'three', 'two'])
  }
})

it('filters an inbox', async () => {
  const box = await createBox('ada', 'bob')
  await box.ok(
    'send',
    'ada',
    '--subject',
    'a',
    '--type',
    'request',
    '--priority',
    'high',
    '--tag',
    'concern:x',
  )
  const { message } = await box.json('send', 'ada', '--as', 'bob', '--subject', 'b')
  const subjects = async (...filter: string[]) =>
    (await box.json('inbox', '--as', 'ada', ...filter)).messages.map(({ subject }) => subject)
  expect(await subjects()).toEqual(['a', 'b'])
  expect(await subjects('--type', 'request')).toEqual(['a'])
  expect(await subjects('--min-priority', 'high')).toEqual(['a'])
  expect(await subjects('--from', 'bob')).toEqual(['b'])
  expect(await subjects('--tag', 'concern:x')).toEqual(['a'])
  expect(await subjects('--thread', message.id)).toEqual(['b'])
  await box.ok('done', message.id, '--as', 'ada')
  expect(await subjects('--unread')).toEqual(['a'])
  expect(await subjects('--all')).toEqual(['a', 'b'])
})

it('answers check with what is left, and count with numbers', async () => {
  const box = await createBox('ada')
  const long = 'word '.repeat(100)
  for (const priority of ['normal', 'urgent', 'low'])
    await box.ok('send', 'ada', '--priority', priority, '--body', long)
  expect(await box.json('count', '--as', 'ada')).toEqual({
    unread: 3,
    byPriority: { low: 1, normal: 1, high: 0, urgent: 1 },
  })
  const checked = await box.json('check', '--as', 'ada', '--budget', '200')
  expect(checked.messages.map(({ priority, state }) => `${priority} ${state}`)).toEqual(['urgent shown'])
  expect(checked.remaining).toEqual({ unread: 2, byPriority: { low: 1, normal: 1, high: 0, urgent: 0 } })
  expect(checked.next).not.toBeNull()
  const rest = await box.json('check', '--as', 'ada', '--after', checked.next!)
  expect(rest).toMatchObject({ messages: [{ priority: 'normal' }, { priority: 'low' }], next: null })
})

it('answers show with a receipt for each recipient', async () => {
  const box = await createBox('ada', 'bob')
  const { message } = await box.json('send', 'ada', 'bob', '--body', 'x')
  await box.ok('read', message.id, '--as', 'ada')
  const { receipts } = await box.json('show', message.id)
  expect(receipts.map(({ recipient, state }) => `${recipient} ${state}`).sort()).toEqual([
    'ada shown',
    'bob stored',
  ])
})

it('says what the sender should know in warnings', async () => {
  const box = await createBox()
  const { message, warnings } = await box.json('send', 'role:nobody', '--body', 'x')
  expect(warnings).toEqual(['no agent has the role nobody now; the message waits for one'])
  expect(message).not.toHaveProperty('warnings')
  const held = await box.run(['send', 'eve', '--hold', '--body', 'x'])
  expect(held).toMatchObject({ code: 0, stderr: expect.stringContaining('warning: eve has not joined yet') })
})

it('takes every option of a message', async () => {
  const box = await createBox('ada')
  for (const file of ['x.md', 'y.md']) writeFileSync(join(box.dir, '..', file), '')
  const first = await box.json('send', 'ada', '--body', 'first')
  const { message } = await box.json(
    ...['send', 'ada', '--subject', 's', '--body', 'b', '--type', 'request', '--priority', 'high'],
    ...['--payload', '{"n":[1,2]}', '--context', '{"a":"b"}', '--reply-to', first.message.id, '--ttl', '90s'],
    ...[
      '--ack',
      '--await',
      '--tag',
      'concern:a',
      '--tag',
      'concern:b',
      '--attach',
      'x.md',
      '--attach',
      'y.md',
    ],
    ...['--key', 'k1', '--swarm', 'dev', '--exclude', 'bob'],
  )
  expect(message).toMatchObject({
    ...{
      subject: 's',
      body: 'b',
      type: 'request',
      priority: 'high',
      payload: { n: [1, 2] },
      context: { a: 'b' },
    },
    ...{ replyTo: first.message.id, threadId: first.message.id, requiresAck: true, awaitingResponse: true },
    ...{ tags: ['concern:a', 'concern:b'], attachments: ['x.md', 'y.md'], key: 'k1', swarm: 'dev' },
  })
  expect(Date.parse(message.expiresAt!) - Date.parse(message.createdAt)).toBe(90_000)
  const again = await box.json('send', 'ada', '--key', 'k1', '--body', 'other')
  expect(again).toMatchObject({ message: { id: message.id }, warnings: ['already sent with this key'] })
  const kept = await box.json('send', 'ada', '--ttl', 'forever', '--thread', 'topic', '--body', 'x')
  expect(kept.message).toMatchObject({ threadId: 'topic' })
  expect(kept.message.expiresAt).toBeUndefined()
})

it('broadcasts to everybody or to a swarm, never to the sender', async () => {
  const box = await createBox()
  await box.ok('join', 'ada', '--tag', 'swarm:dev')
  await box.ok('join', 'bob')
  await box.ok('broadcast', '--as', 'ada', '--body', 'to all')
  await box.ok('broadcast', '--as', 'bob', '--swarm', 'dev', '--body', 'to dev')
  const bodies = async (agent: string) =>
    (await box.json('check', '--as', agent)).messages.map(({ body }) => body)
  expect(await bodies('ada')).toEqual(['to dev'])
  expect(await bodies('bob')).toEqual(['to all'])
})
