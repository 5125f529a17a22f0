import { mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '../helpers/wait.ts'
import { mailOf, stage, stateOf } from './stage.ts'

const message = (more: object = {}) => ({
  id: 'msg-1',
  from: 'ao-1',
  to: 'zoe',
  timestamp: '2026-02-16T20:45:00.000Z',
  type: 'fix_ci_failure',
  priority: 'high',
  payload: { pr: 'https://example.org/pull/123', check: 'lint', error: 'Missing semicolon' },
  requiresAck: true,
  ...more,
})

describe('a folder of ao', () => {
  it('brings a file that another program drops in, marked with where it comes from', async () => {
    const { space, sync, put, folder } = await stage('ao')
    put('zoe/inbox/by-hand.json', message())
    await sync()
    const [brought] = await mailOf(space, 'zoe')
    expect(brought).toMatchObject({ from: 'ao-1', to: ['zoe'], priority: 'high', requiresAck: true })
    expect(brought!.type).toBe('fix_ci_failure')
    expect(brought!.payload).toEqual(message().payload)
    expect(brought!.bridge).toMatchObject({
      format: 'ao',
      // A hub has many machines, so the folder is named with its own.
      path: expect.stringMatching(new RegExp(`^([^/]+:)?${folder}$`)),
      id: 'msg-1',
      at: message().timestamp,
    })
    expect((await space.agents()).map(({ name }) => name)).toContain('ao-1')
  })

  it('brings nothing twice, also when it remembers nothing', async () => {
    const { space, sync, put } = await stage('ao')
    put('zoe/inbox/a.json', message())
    await sync()
    expect((await sync()).brought).toBe(0)
    expect((await sync({ memory: ':memory:' })).brought).toBe(0)
    expect(await mailOf(space, 'zoe')).toHaveLength(1)
  })

  it('writes mail for a session into its inbox, once, readable by its owner only', async () => {
    const { space, sync, folder, files, text } = await stage('ao')
    mkdirSync(join(folder, 'ao-10/inbox'), { recursive: true })
    await sync()
    const zoe = await space.mailbox('zoe')
    const sent = await zoe.send({ to: 'ao-10', subject: 'Hi', body: 'there', requiresAck: true })
    await sync()
    await sync({ memory: ':memory:' })
    const [file] = files('ao-10')
    expect(files('ao-10')).toEqual([`ao-10/inbox/${sent.createdAt.replaceAll(':', '')}-${sent.id}-text.json`])
    expect(JSON.parse(text(file!))).toEqual({
      ...{ id: sent.id, from: 'zoe', to: 'ao-10', timestamp: sent.createdAt, type: 'text' },
      ...{ priority: 'normal', payload: { subject: 'Hi', text: 'there' }, requiresAck: true },
    })
    expect(statSync(join(folder, file!)).mode & 0o777).toBe(0o600)
    expect(await mailOf(space, 'ao-10')).toHaveLength(1)
    expect(await stateOf(space, sent.id, 'ao-10')).toBe('notified')
  })

  it('acknowledges there what is acknowledged here, and leaves the rest of the file alone', async () => {
    const { space, sync, put, text, files } = await stage('ao')
    put('zoe/inbox/a.json', '{"id":"m","from":"ao-1", "payload":{"n":1.0,"text":"\\u00e9"},"to":"zoe"}\n')
    await sync()
    const [brought] = await mailOf(space, 'zoe')
    const { message } = await (await space.mailbox('zoe')).ack(brought!.id)
    const { receipts } = await space.show(message.id)
    await sync()
    expect(files('zoe')).toEqual(['zoe/inbox/processed/a.json'])
    const at = receipts[0]!.steps.at(-1)!.at
    expect(text('zoe/inbox/processed/a.json')).toBe(
      `{"id":"m","from":"ao-1", "payload":{"n":1.0,"text":"\\u00e9"},"to":"zoe","ackedAt":"${at}"}\n`,
    )
  })

  it('tells a sender that waits for an ack, once, and takes that for no message', async () => {
    const { space, sync, put, files, text, folder } = await stage('ao')
    mkdirSync(join(folder, 'ao-1/inbox'), { recursive: true })
    put('zoe/inbox/a.json', message())
    put('zoe/inbox/b.json', message({ id: 'msg-2', requiresAck: false }))
    put('ao-1/outbox/c.json', message({ id: 'msg-3' }))
    await sync()
    const zoe = await space.mailbox('zoe')
    for (const { id } of await mailOf(space, 'zoe')) await zoe.ack(id)
    await sync()
    await sync({ memory: ':memory:' })
    const acks = files('ao-1/inbox').map((file) => JSON.parse(text(file)) as Record<string, unknown>)
    expect(acks.map(({ replyTo }) => replyTo).sort()).toEqual(['msg-1', 'msg-3'])
    expect(acks[0]).toMatchObject({ from: 'zoe', to: 'ao-1', type: 'ack', requiresAck: false })
    expect(files('ao-1/inbox')[0]).toContain(acks[0]!['id'])
    expect(await mailOf(space, 'ao-1')).toEqual([])
  })

  it('brings what is sent to a role of an agent here to that role', async () => {
    const { space, sync, put } = await stage('ao')
    await space.update('zoe', { addRoles: ['orchestrator'] })
    put('ao-1/outbox/a.json', message({ to: 'orchestrator', requiresAck: false }))
    await sync()
    expect((await mailOf(space, 'zoe')).map(({ to }) => to)).toEqual([['role:orchestrator']])
    expect((await space.agents()).map(({ name }) => name)).not.toContain('orchestrator')
  })

  it('acknowledges here what is moved to processed there', async () => {
    const { space, sync, folder, files } = await stage('ao')
    mkdirSync(join(folder, 'ao-10/inbox/processed'), { recursive: true })
    await sync()
    const sent = await (await space.mailbox('zoe')).send({ to: 'ao-10', body: 'x', requiresAck: true })
    await sync()
    const [file] = files('ao-10')
    renameSync(join(folder, file!), join(folder, file!.replace('inbox/', 'inbox/processed/')))
    await sync()
    expect(await stateOf(space, sent.id, 'ao-10')).toBe('acked')
  })

  it('takes over what was processed before as history, with its time', async () => {
    const { space, sync, put } = await stage('ao')
    put('zoe/inbox/processed/old.json', message({ ackedAt: '2026-02-16T20:50:00.000Z' }))
    await sync()
    const { message: old, receipts } = await space.show((await mailOf(space, 'zoe'))[0]!.id)
    expect(old).toMatchObject({ createdAt: '2026-02-16T20:45:00.000Z', imported: true })
    expect(receipts[0]!.steps.at(-1)).toMatchObject({ state: 'acked', at: '2026-02-16T20:50:00.000Z' })
  })

  it('joins answers to what they answer, both ways', async () => {
    const { space, sync, put, files, text } = await stage('ao')
    put('zoe/inbox/a.json', message())
    await sync()
    const [asked] = await mailOf(space, 'zoe')
    const zoe = await space.mailbox('zoe')
    const answer = await zoe.reply(asked!.id, { body: 'on it' })
    await sync()
    const [file] = files('ao-1')
    expect(JSON.parse(text(file!))).toMatchObject({ to: 'ao-1', replyTo: 'msg-1' })
    put(
      'zoe/inbox/b.json',
      message({ id: 'msg-2', type: 'ack', replyTo: answer.id, payload: { text: 'ok' } }),
    )
    await sync()
    const [, back] = await mailOf(space, 'zoe')
    expect(back).toMatchObject({ replyTo: answer.id, threadId: asked!.threadId, body: 'ok' })
    expect(await stateOf(space, answer.id, 'ao-1')).toBe('acked')
  })

  it('works both ways while it runs', async () => {
    const { space, run, put, folder, files } = await stage('ao')
    mkdirSync(join(folder, 'ao-10/inbox'), { recursive: true })
    run()
    await until(() => space.core.agents.get('ao-10'))
    const zoe = await space.mailbox('zoe')
    await zoe.send({ to: 'ao-10', body: 'live' })
    await until(() => files('ao-10')[0])
    put('zoe/inbox/a.json', message())
    const came = await zoe.wait({ timeoutMs: 60_000 })
    expect(came?.from).toBe('ao-1')
  })
})
