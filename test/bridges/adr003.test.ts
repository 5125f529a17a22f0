import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { mailOf, stage, stageIn, stateOf } from './stage.ts'

/** As the mailbox manager writes it. */
const message = (more: object = {}) => ({
  id: 'MSG-abc123def456',
  from_agent: 'architect',
  to_agent: 'zoe',
  swarm_name: 'swarm_dev',
  type: 'handoff',
  subject: 'Implement mailbox system',
  body: 'Work handoff from architect to zoe.',
  payload: { n: 1 },
  priority: 3,
  created_at: '2026-01-03T14:30:00.123456',
  expires_at: null,
  status: 'unread',
  read_at: null,
  completed_at: null,
  reply_to: null,
  thread_id: null,
  context: { work_completed: 'Design', files_modified: ['a.md'], next_steps: ['build'], job_id: null },
  attachments: ['workspace/MAILBOX_DESIGN.md'],
  tags: ['handoff'],
  ...more,
})
const path = 'mailboxes/zoe/inbox/MSG-abc123def456.json'
const archived = 'mailboxes/zoe/archive/MSG-abc123def456.json'

describe('a folder of adr003', () => {
  it('brings a message with its context, payload, attachments and tags', async () => {
    const { space, sync, put } = await stage('adr003')
    put(path, message())
    await sync()
    const [brought] = await mailOf(space, 'zoe')
    expect(brought).toMatchObject({
      ...{ from: 'architect', type: 'handoff', priority: 'high', swarm: 'swarm_dev' },
      ...{ subject: 'Implement mailbox system', body: 'Work handoff from architect to zoe.' },
      ...{ payload: { n: 1 }, context: message().context, tags: ['handoff'] },
      ...{ attachments: ['workspace/MAILBOX_DESIGN.md'] },
    })
    expect(brought!.bridge).toMatchObject({ id: 'MSG-abc123def456' })
    // A time without a zone is local.
    expect(brought!.bridge).toMatchObject({ at: new Date('2026-01-03T14:30:00.123').toISOString() })
  })

  it('takes every step of an agent here to its file, and changes nothing else in it', async () => {
    const { space, sync, put, text, files } = await stage('adr003')
    put(path, message())
    const before = text(path)
    await sync()
    const zoe = await space.mailbox('zoe')
    const { id } = (await mailOf(space, 'zoe'))[0]!
    const status = async (step: () => Promise<unknown>) => {
      await step()
      await sync()
      return JSON.parse(text(path)) as ReturnType<typeof message>
    }
    const read = await status(() => zoe.read(id))
    expect(read).toEqual({ ...message(), status: 'read', read_at: expect.any(String) })
    expect(await status(() => zoe.ack(id))).toEqual(read)
    expect(await status(() => zoe.start(id))).toEqual({ ...read, status: 'processing' })
    expect(await status(() => zoe.fail(id, { reason: 'no' }))).toMatchObject({ status: 'failed' })
    expect(await status(() => zoe.retry(id))).toMatchObject({ status: 'unread' })
    await zoe.done(id)
    await sync()
    expect(files('mailboxes/zoe')).toEqual([archived])
    const end = JSON.parse(text(archived)) as ReturnType<typeof message>
    expect(end).toMatchObject({ status: 'archived', completed_at: expect.any(String) })
    const undone = text(archived)
      .replace('"archived"', '"unread"')
      .replace(/"(read|completed)_at": "[^"]*"/g, '"$1_at": null')
    expect(undone).toBe(before)
  })

  it('takes every step of an agent there to its receipt here', async () => {
    const { space, sync, put, text, folder, files } = await stage('adr003')
    mkdirSync(join(folder, 'mailboxes/critic/inbox'), { recursive: true })
    await sync()
    const zoe = await space.mailbox('zoe')
    const { id } = await zoe.send({ to: 'critic', subject: 'Review', body: 'please' })
    await sync()
    const [file] = files()
    expect(file).toMatch(/^mailboxes\/critic\/inbox\/MSG-[0-9a-f]{12}\.json$/)
    const step = async (change: object) => {
      put(file!, { ...(JSON.parse(text(file!)) as object), ...change })
      await sync()
      return stateOf(space, id, 'critic')
    }
    expect(await step({})).toBe('notified')
    expect(await step({ status: 'read', read_at: '2026-01-03T15:00:00' })).toBe('shown')
    expect(await step({ status: 'processing' })).toBe('processing')
    expect(await step({ status: 'failed' })).toBe('failed')
    expect(await step({ status: 'unread' })).toBe('stored')
    expect(await step({ status: 'completed', completed_at: '2026-01-03T15:00:00' })).toBe('completed')
  })

  it('finishes what was killed between writing the archive and emptying the inbox', async () => {
    const { space, sync, put, files } = await stage('adr003')
    put(path, message())
    put(archived, message({ status: 'archived', completed_at: '2026-01-03T15:00:00' }))
    await sync()
    const { id } = (await mailOf(space, 'zoe'))[0]!
    expect(await stateOf(space, id, 'zoe')).toBe('archived')
    expect(files('mailboxes/zoe')).toEqual([archived])
  })

  it('keeps names with slashes apart although their directories are one', async () => {
    const { space, sync, put, files } = await stage('adr003')
    put(
      'mailboxes/dev_ann/inbox/MSG-000000000001.json',
      message({ id: 'MSG-000000000001', to_agent: 'dev/ann' }),
    )
    put(
      'mailboxes/dev_ann/inbox/MSG-000000000002.json',
      message({ id: 'MSG-000000000002', to_agent: 'dev_ann' }),
    )
    await sync()
    expect(await mailOf(space, 'dev/ann')).toHaveLength(1)
    expect(await mailOf(space, 'dev_ann')).toHaveLength(1)
    const zoe = await space.mailbox('zoe')
    await zoe.send({ to: ['dev/ann', 'dev_ann'], body: 'both' })
    await sync()
    expect(files('mailboxes/dev_ann')).toHaveLength(4)
  })

  it('writes a copy with an id of its own for each agent of a broadcast', async () => {
    const { space, sync, folder, files, text } = await stage('adr003')
    for (const name of ['ann', 'ben', 'cat'])
      mkdirSync(join(folder, `mailboxes/${name}/inbox`), { recursive: true })
    await sync()
    await (await space.mailbox('zoe')).send({ to: 'all', body: 'hear' })
    await sync()
    const copies = files().map(
      (file) => JSON.parse(text(file)) as { id: string; to_agent: string; tags: string[] },
    )
    expect(copies.map(({ to_agent: to }) => to)).toEqual(['ann', 'ben', 'cat'])
    expect(new Set(copies.map(({ id }) => id)).size).toBe(3)
    expect(copies.every(({ tags }) => tags.includes('broadcast'))).toBe(true)
  })

  it('never speaks as the person, and brings mail for the person to it', async () => {
    const { space, sync, put, files } = await stage('adr003')
    put(path, message({ from_agent: 'user' }))
    put('mailboxes/user/inbox/MSG-000000000009.json', message({ id: 'MSG-000000000009', to_agent: 'user' }))
    await sync()
    const [brought] = await mailOf(space, 'zoe')
    expect(brought!.from).toBe('adr003/user')
    expect((await mailOf(space, 'user'))[0]!.from).toBe('architect')
    await (await space.mailbox('zoe')).reply(brought!.id, { body: 'yes' })
    await sync()
    expect(files('mailboxes/user')).toHaveLength(2)
  })

  it('has members of swarms in both rosters', async () => {
    const space = await tempSpace()
    await space.join('zoe', { tags: ['swarm:dev'] })
    const root = tempDir()
    const { sync } = stageIn(space, 'adr003', join(root, 'workspace'))
    mkdirSync(join(root, 'workspace/mailboxes'), { recursive: true })
    mkdirSync(join(root, 'swarms/dev/agents'), { recursive: true })
    for (const file of ['ann.md', '_template.md'])
      writeFileSync(join(root, 'swarms/dev/agents', file), '# x\n')
    await sync()
    await sync()
    const agents = await space.agents()
    expect(agents.find(({ name }) => name === 'ann')?.tags).toEqual(['swarm:dev'])
    expect(readFileSync(join(root, 'swarms/dev/agents/zoe.md'), 'utf8')).toContain('agent-mailbox')
    await space.update('zoe', { removeTags: ['swarm:dev'] })
    await sync()
    expect(existsSync(join(root, 'swarms/dev/agents/zoe.md'))).toBe(false)
  })
})
