import { describe, expect, it } from 'vitest'
import { importFolder } from '../../src/bridges/import.ts'
import { formatNamed } from '../../src/bridges/registry.ts'
import { mailOf, stage, stateOf } from './stage.ts'

const line = (id: string, more: object = {}) =>
  JSON.stringify({
    ...{ id, sender: 'sess-1', recipient: 'zoe', timestamp: '2026-03-16T14:30:00Z', content: id },
    ...{ thread: null, ttl_hours: null, read_by: [], ...more },
  })

describe('import --format', () => {
  it('keeps ids, times, threads and states', async () => {
    const { space, folder, put } = await stage('haak')
    put(
      'agent-mailbox.jsonl',
      `${[line('a'), line('b', { thread: 'a' }), line('c', { recipient: 'all' })].join('\n')}\n`,
    )
    const read = { message_id: 'a', reader_session_id: 'zoe', timestamp: '2026-03-16T15:00:00Z' }
    put('agent-mailbox-reads.jsonl', `${JSON.stringify(read)}\n`)
    const done = await importFolder(space, formatNamed('haak'), folder)
    expect(done).toMatchObject({ imported: 3, receipts: 1, refused: 0, problems: [] })
    const [a, b, c] = await mailOf(space, 'zoe')
    expect(a).toMatchObject({ imported: true, createdAt: '2026-03-16T14:30:00.000Z', threadId: 'a' })
    expect(a!.bridge).toMatchObject({ format: 'haak', id: 'a' })
    expect(b).toMatchObject({ replyTo: a!.id, threadId: 'a' })
    expect(c).toMatchObject({ to: ['all'] })
    const { receipts } = await space.show(a!.id)
    expect(receipts[0]!.steps.at(-1)).toMatchObject({ state: 'shown', at: '2026-03-16T15:00:00.000Z' })
  })

  it('imports nothing twice, and nothing that a bridge has brought, nor the other way round', async () => {
    const { space, folder, put, sync } = await stage('haak')
    put('agent-mailbox.jsonl', `${line('a')}\n`)
    await sync()
    put('agent-mailbox.jsonl', `${line('a')}\n${line('b')}\n`)
    const first = await importFolder(space, formatNamed('haak'), folder)
    const again = await importFolder(space, formatNamed('haak'), folder)
    expect([first.imported, again.imported]).toEqual([1, 0])
    expect((await sync()).brought).toBe(0)
    expect(await mailOf(space, 'zoe')).toHaveLength(2)
  })

  it('says what it leaves where it is, with file and line', async () => {
    const { space, folder, put } = await stage('haak')
    put('agent-mailbox.jsonl', `${line('a')}\n{"id":\n${line('b', { sender: 'no:name' })}\n${line('c')}\n`)
    const { imported, problems } = await importFolder(space, formatNamed('haak'), folder)
    expect(imported).toBe(2)
    expect(problems).toEqual([
      { place: 'agent-mailbox.jsonl', line: 2, reason: 'is not JSON' },
      { place: 'agent-mailbox.jsonl', line: 3, reason: 'has no `sender` that can be named here' },
    ])
  })

  it('goes by the times of the messages where each is a file', async () => {
    const { space, folder, put } = await stage('ao')
    const message = { from: 'ann', to: 'zoe', type: 'text' }
    for (const [n, file] of ['c', 'a', 'b'].entries()) {
      const timestamp = `2026-02-16T20:45:0${n}.000Z`
      put(`zoe/inbox/${file}.json`, { ...message, id: file, timestamp, payload: { text: String(n) } })
    }
    await importFolder(space, formatNamed('ao'), folder)
    expect((await mailOf(space, 'zoe')).map(({ body }) => body)).toEqual(['0', '1', '2'])
  })

  it('has archived mail as archived', async () => {
    const { space, folder, put } = await stage('adr003')
    const message = {
      id: 'MSG-1',
      from_agent: 'ann',
      to_agent: 'zoe',
      subject: 's',
      body: 'b',
      type: 'request',
      priority: 2,
    }
    const times = { created_at: '2026-01-03T14:30:00', completed_at: '2026-01-03T15:00:00' }
    put('mailboxes/zoe/archive/MSG-1.json', { ...message, ...times, status: 'archived' })
    await importFolder(space, formatNamed('adr003'), folder)
    const [old] = await mailOf(space, 'zoe')
    expect(await stateOf(space, old!.id, 'zoe')).toBe('archived')
  })
})
