import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Folder } from '../../src/bridges/folder.ts'
import { countOneMore } from '../../src/bridges/formats/jean-claude-count.ts'
import { Memory } from '../../src/bridges/memory.ts'
import { mailOf, type Stage, stage, stateOf } from './stage.ts'

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const append = ({ folder }: Stage, path: string, ...values: object[]) => {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  for (const value of values) appendFileSync(join(folder, path), `${JSON.stringify(value)}\n`)
}

describe('a folder of haak', () => {
  it('takes a life that is longer than any date for one without an end', async () => {
    const here = await stage('haak')
    const message = { id: 'm1', sender: 'ann', recipient: 'zoe', content: 'for ever', ttl_hours: 1e300 }
    append(here, 'agent-mailbox.jsonl', { ...message, timestamp: '2026-03-16T14:30:00Z' })
    await here.sync()
    const [brought] = await mailOf(here.space, 'zoe')
    expect(brought).toMatchObject({ body: 'for ever' })
    expect(brought).not.toHaveProperty('expiresAt')
  })

  const message = (more: object = {}) => ({
    ...{ id: 'c0ffee00-0000-4000-8000-000000000001', sender: 'sess-1', recipient: 'zoe' },
    ...{
      timestamp: '2026-03-16T14:30:00Z',
      content: 'The text.',
      thread: null,
      ttl_hours: null,
      read_by: [],
    },
    ...more,
  })
  const mailbox = 'agent-mailbox.jsonl'
  const reads = 'agent-mailbox-reads.jsonl'

  it('brings messages to a session, a role, a tag and all, in both spellings', async () => {
    const here = await stage('haak')
    const { space, sync } = here
    await space.update('zoe', { addRoles: ['architect'], addTags: ['project:x'] })
    append(
      here,
      mailbox,
      message(),
      message({ id: '2', recipient: 'architect' }),
      message({ id: '3', recipient: 'project:x' }),
      message({ id: '4', recipient: 'all' }),
      { id: '5', from: 'sess-2', to: 'zoe', subject: 'S', body: 'B', timestamp: '2026-03-16T14:30:00Z' },
    )
    await sync()
    const mail = await mailOf(space, 'zoe')
    const told = mail.map(({ to, body, subject }) => [to[0], subject, body])
    // The messages of each sender are in order.
    expect(told.filter(([, subject]) => subject === '').map(([to]) => to)).toEqual([
      'zoe',
      'role:architect',
      'project:x',
      'all',
    ])
    expect(told).toContainEqual(['zoe', 'S', 'B'])
  })

  it('records reads on the side where they did not happen', async () => {
    const here = await stage('haak')
    const { space, sync, text } = here
    append(here, mailbox, message(), message({ id: '2', recipient: 'all' }))
    await sync()
    const zoe = await space.mailbox('zoe')
    const { id } = await zoe.send({ to: 'sess-1', body: 'hello', requiresAck: true })
    await zoe.check({ budgetTokens: 10_000 })
    await sync()
    expect(lines(text(reads))).toEqual(
      [message().id, '2'].map((one) => ({
        ...{ message_id: one, reader_session_id: 'zoe', timestamp: expect.any(String) as string },
      })),
    )
    expect(lines(text(mailbox)).at(-1)).toMatchObject({
      ...{ id, sender: 'zoe', recipient: 'sess-1', content: 'hello', ttl_hours: 24, read_by: [] },
    })
    append(here, reads, { message_id: id, reader_session_id: 'sess-1', timestamp: '2026-03-16T14:30:00Z' })
    await sync()
    expect(await stateOf(space, id, 'sess-1')).toBe('shown')
    expect(lines(text(reads))).toHaveLength(3)
  })

  it('writes mail to a group once, and has the archive as history', async () => {
    const here = await stage('haak')
    const { space, sync, text } = here
    append(here, 'agent-mailbox-archive/2026-03.jsonl', message({ id: 'old' }))
    append(here, mailbox, message({ id: '2', sender: 'sess-2' }))
    await sync()
    const [old] = await mailOf(space, 'zoe')
    expect(old).toMatchObject({ imported: true, createdAt: '2026-03-16T14:30:00.000Z' })
    await (await space.mailbox('zoe')).send({ to: 'all', body: 'hear' })
    await sync()
    await sync({ memory: ':memory:' })
    expect(lines(text(mailbox)).map(({ recipient }) => recipient)).toEqual(['zoe', 'all'])
  })

  it('has mail to a role or a tag that nobody here has, for whoever comes', async () => {
    const here = await stage('haak')
    const { space, sync, text } = here
    await space.update('zoe', { addRoles: ['architect'] })
    await space.join('yan')
    append(here, mailbox, message({ id: '2' }))
    await sync()
    const yan = await space.mailbox('yan')
    for (const to of ['role:steward', 'project:x', 'role:architect']) await yan.send({ to, body: to })
    await sync()
    await sync({ memory: ':memory:' })
    const told = lines(text(mailbox)).slice(1)
    expect(told.map(({ recipient }) => recipient)).toEqual(['steward', 'project:x'])
  })

  it('has roles and tags in both rosters', async () => {
    const here = await stage('haak')
    const { space, sync, put, text } = here
    await space.update('zoe', { addTags: ['concern:governance'] })
    put('agent-roster.json', [{ session_id: 'sess-1', role: 'steward', tags: ['project:x'], more: 1 }])
    append(here, mailbox, message())
    await sync()
    await sync()
    const sess = (await space.agents()).find(({ name }) => name === 'sess-1')
    expect(sess).toMatchObject({ roles: ['steward'], tags: ['project:x'] })
    expect(JSON.parse(text('agent-roster.json'))).toEqual([
      { session_id: 'sess-1', role: 'steward', tags: ['project:x'], more: 1 },
      { session_id: 'zoe', tags: ['concern:governance'] },
    ])
  })
})

describe('a folder of jean-claude', () => {
  const message = (more: object = {}) => ({
    ...{ id: 'msg-001', from: 'beads-xyz', to: 'zoe', type: 'help_request', subject: 'S', body: 'B' },
    ...{ priority: 'urgent', created_at: '2025-12-26T18:11:57', awaiting_response: true },
    ...more,
  })

  it('brings what a workflow writes to its outbox or to an inbox, once', async () => {
    const here = await stage('jean-claude')
    const { space, sync } = here
    append(here, 'beads-xyz/mailbox/outbox.jsonl', message())
    append(here, 'zoe/mailbox/inbox.jsonl', message(), message({ id: 'msg-002', priority: 'low' }))
    await sync()
    const mail = await mailOf(space, 'zoe')
    expect(mail.map(({ bridge, priority }) => [bridge?.['id'], priority])).toEqual([
      ['msg-001', 'urgent'],
      ['msg-002', 'low'],
    ])
    expect(mail[0]).toMatchObject({ type: 'help_request', awaitingResponse: true })
  })

  it('brings what is sent to a role of an agent here to that role', async () => {
    const here = await stage('jean-claude')
    await here.space.update('zoe', { addRoles: ['coordinator'] })
    append(here, 'beads-xyz/mailbox/outbox.jsonl', message({ to: 'coordinator' }))
    await here.sync()
    const [asked] = await mailOf(here.space, 'zoe')
    expect(asked).toMatchObject({ to: ['role:coordinator'], from: 'beads-xyz' })
    await (await here.space.mailbox('zoe')).reply(asked!.id, { body: 'so' })
    await here.sync()
    expect(lines(here.text('beads-xyz/mailbox/inbox.jsonl'))).toMatchObject([{ from: 'zoe', body: 'so' }])
  })

  it('keeps the count of unread messages, whoever reads', async () => {
    const here = await stage('jean-claude')
    const { space, sync, text, put } = here
    append(here, 'beads-xyz/mailbox/outbox.jsonl', message())
    append(here, 'zoe/mailbox/inbox.jsonl', message({ id: 'a' }), message({ id: 'b' }))
    await sync()
    const zoe = await space.mailbox('zoe')
    const [first] = await mailOf(space, 'zoe')
    await zoe.read(first!.id)
    const one = await zoe.send({ to: 'beads-xyz', body: '1' })
    const two = await zoe.send({ to: 'beads-xyz', body: '2' })
    await sync()
    const count = 'beads-xyz/mailbox/inbox_count.json'
    expect(text(count)).toBe('{"unread": 2, "last_checked": ""}')
    expect(JSON.parse(text('zoe/mailbox/inbox_count.json'))).toMatchObject({ unread: 2 })
    expect(await stateOf(space, one.id, 'beads-xyz')).toBe('notified')
    put(count, `{"unread": 1, "last_checked": "${two.createdAt}"}`)
    await sync()
    expect(await stateOf(space, one.id, 'beads-xyz')).toBe('shown')
    expect(await stateOf(space, two.id, 'beads-xyz')).toBe('notified')
  })
})

describe('the count of a mailbox of jean-claude, which has no lock', () => {
  const box = 'flow/mailbox'
  const counted = ({ text }: Stage) => JSON.parse(text(`${box}/inbox_count.json`)) as object
  /** The folder as a bridge sees it. */
  const folderOf = ({ folder, space }: Stage) => {
    const memory = new Memory(':memory:')
    onTestFinished(() => memory.close())
    return new Folder(folder, memory, space.now)
  }
  const checked = (unread: number, ms: number) => ({ unread, last_checked: new Date(ms).toISOString() })

  it('is not raised by a line that its reader has seen before it could be counted', async () => {
    const here = await stage('jean-claude')
    const folder = folderOf(here)
    countOneMore(folder, box, 'a', () => {
      const at = folder.append(`${box}/inbox.jsonl`, '{"id":"a"}')
      here.put(`${box}/inbox_count.json`, checked(0, at + 1))
      return at
    })
    expect(counted(here)).toMatchObject({ unread: 0 })
    countOneMore(folder, box, 'b', () => folder.append(`${box}/inbox.jsonl`, '{"id":"b"}') + 60_000)
    expect(counted(here)).toMatchObject({ unread: 1 })
  })

  it('keeps what somebody else writes at the same moment, and the rest of the file', async () => {
    const here = await stage('jean-claude')
    const folder = folderOf(here)
    here.put(`${box}/inbox_count.json`, '{ "unread": 2, "last_checked": "", "more": 1.0 }')
    let raises = 1
    const replace = folder.replace.bind(folder)
    folder.replace = (path, text, options = {}) => {
      // Between the moment when the count is read and the one when it is replaced.
      if (raises-- > 0) here.put(path, '{ "unread": 3, "last_checked": "", "more": 1.0 }')
      replace(path, text, options)
    }
    countOneMore(folder, box, 'a', () => folder.append(`${box}/inbox.jsonl`, '{"id":"a"}'))
    expect(here.text(`${box}/inbox_count.json`)).toBe('{ "unread": 4, "last_checked": "", "more": 1.0 }')
  })

  it('is put right for an agent here when nobody has written for a moment', async () => {
    const here = await stage('jean-claude')
    const line = { id: 'a', from: 'flow', to: 'zoe', type: 'status', subject: 'S', body: 'B' }
    append(here, 'zoe/mailbox/inbox.jsonl', line)
    here.put('zoe/mailbox/inbox_count.json', '{"unread": 7, "last_checked": ""}')
    await here.sync()
    expect(here.text('zoe/mailbox/inbox_count.json')).toBe('{"unread": 1, "last_checked": ""}')
  })

  it('is made for an agent here whose mail was written without one, in its inbox or in an outbox', async () => {
    const here = await stage('jean-claude')
    const line = { from: 'flow', to: 'zoe', type: 'status', subject: 'S', body: 'B' }
    append(here, 'zoe/mailbox/inbox.jsonl', { id: 'a', ...line })
    append(here, 'flow/mailbox/outbox.jsonl', { id: 'b', ...line })
    await here.sync()
    expect(here.text('zoe/mailbox/inbox_count.json')).toBe('{"unread": 2, "last_checked": ""}')
    // Nobody who has no mailbox there gets one.
    append(here, 'flow/mailbox/outbox.jsonl', { id: 'c', ...line, to: 'ann' })
    await here.space.join('ann')
    await here.sync()
    expect(here.files().filter((path) => path.startsWith('ann'))).toEqual([])
  })

  it('says what was read: all that was there at the last check but as many lines as are unread', async () => {
    const here = await stage('jean-claude')
    const { space, sync } = here
    append(here, 'flow/mailbox/outbox.jsonl', { id: 'o', from: 'flow', to: 'zoe', body: 'B' })
    await sync()
    const zoe = await space.mailbox('zoe')
    const ids: string[] = []
    for (const n of [1, 2, 3, 4]) {
      const sent = await zoe.send({ to: 'flow', body: String(n) })
      ids.push(sent.id)
      await sync()
      const { createdAt: at } = sent
      if (n === 2 || n === 3) here.put(`${box}/inbox_count.json`, { unread: n - 2, last_checked: at })
      await sync()
    }
    const states = await Promise.all(ids.map((id) => stateOf(space, id, 'flow')))
    // The second check left one unread.
    expect(states).toEqual(['shown', 'shown', 'notified', 'notified'])
  })
})

it('the count of an inbox of jean-claude says what was read in it, however long it is', async () => {
  const here = await stage('jean-claude')
  const old = { from: 'zoe', to: 'flow', type: 'status', subject: '', created_at: '2026-01-01T00:00:00Z' }
  const mail = Array.from({ length: 19 }, (_, n) => ({ ...old, id: `m${n}`, body: 'x'.repeat(900_000) }))
  append(here, 'flow/mailbox/inbox.jsonl', ...mail)
  here.put('flow/mailbox/inbox_count.json', { unread: 1, last_checked: '2026-01-02T00:00:00Z' })
  await here.sync()
  expect(here.problems).toEqual([])
  const brought = await mailOf(here.space, 'flow')
  const states = await Promise.all(brought.map(({ id }) => stateOf(here.space, id, 'flow')))
  expect(states.filter((state) => state === 'shown')).toHaveLength(18)
  expect(brought).toHaveLength(19)
})

describe('a folder of ralph', () => {
  const message = (more: object = {}) => ({
    ...{ MessageId: '0123456789ab', FromAgentId: 'lead', ToAgentId: 'zoe', Type: 'Text', Content: 'Hi' },
    ...{ Metadata: null, Timestamp: '2026-02-16T20:45:00.1234567Z' },
    ...more,
  })

  it('brings lines to an agent of ours, and answers in the file of the sender', async () => {
    const here = await stage('ralph')
    const { space, sync, text } = here
    append(here, 'alpha/mailbox/zoe.jsonl', message(), message({ MessageId: '2', ToAgentId: '*' }))
    append(
      here,
      'alpha/mailbox/lead.jsonl',
      message({ MessageId: '2', FromAgentId: 'agent-1', ToAgentId: '*' }),
    )
    await sync()
    const mail = await mailOf(space, 'zoe')
    expect(mail.map(({ from, type }) => [from, type])).toEqual([
      ['alpha/lead', 'text'],
      ['alpha/lead', 'broadcast'],
    ])
    expect(await mailOf(space, 'alpha/lead')).toHaveLength(1)
    const zoe = await space.mailbox('zoe')
    await zoe.reply(mail[0]!.id, { subject: 'S', body: 'back', payload: { n: '1' } })
    await sync()
    await sync({ memory: ':memory:' })
    expect(lines(text('alpha/mailbox/lead.jsonl'))).toEqual([
      message({ MessageId: '2', FromAgentId: 'agent-1', ToAgentId: '*' }),
      {
        ...{
          MessageId: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
          FromAgentId: 'zoe',
          ToAgentId: 'lead',
        },
        ...{ Type: 'Text', Content: 'back', Timestamp: expect.any(String) as string },
        Metadata: { subject: 'S', replyTo: '0123456789ab', n: '1' },
      },
    ])
  })

  it('takes a verdict for the plan that it decides', async () => {
    const here = await stage('ralph')
    const { space, sync, text } = here
    append(here, 'alpha/mailbox/lead.jsonl', message({ FromAgentId: 'agent-1', ToAgentId: 'lead' }))
    append(here, 'alpha/mailbox/zoe.jsonl', message())
    await sync()
    const zoe = await space.mailbox('zoe')
    const plan = await zoe.send({ to: 'alpha/lead', type: 'plan_submission', body: 'step 1', payload: {} })
    await sync()
    expect(lines(text('alpha/mailbox/lead.jsonl')).at(-1)).toMatchObject({
      Type: 'PlanSubmission',
      Metadata: null,
    })
    const verdict = { MessageId: 'v', Type: 'PlanApproval', Content: 'fine', Metadata: { approved: 'true' } }
    append(here, 'alpha/mailbox/zoe.jsonl', message(verdict))
    await sync()
    const settled = await zoe.waitUntilSettled(plan.id, { timeoutMs: 1 })
    expect(settled.settled).toBe(true)
    expect((await mailOf(space, 'zoe')).at(-1)).toMatchObject({ type: 'plan_approval', replyTo: plan.id })
  })
})
