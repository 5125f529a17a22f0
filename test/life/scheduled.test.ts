import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openSpace, type Settings } from '../../src/mod.ts'
import { rotateKey } from '../../src/space/keys.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { stageHub } from '../helpers/hub.ts'
import { expectRefused, hour, minute, subjects } from '../helpers/scene.ts'
import { needFiles, tempDir, tempSpace } from '../helpers/temp.ts'
import { exported } from '../helpers/transfer.ts'
import {
  agentNamed,
  boxWith,
  byHand,
  journalOf,
  ladderOf,
  noticesTo,
  scene,
  startAgent,
  stateOf,
} from './stage.ts'

async function pair(settings: Partial<Settings> = {}) {
  const stage = await scene(settings)
  return { ...stage, ada: await byHand(stage.space, 'ada'), bob: await byHand(stage.space, 'bob', 'tester') }
}

describe('a message with a time', () => {
  it('is with nobody but its sender before, and then is new mail', async () => {
    const { space, pass, ada, bob } = await pair()
    const sent = await ada.send({ to: 'bob', subject: 'later', body: 'a zebra', tags: ['topic'], at: '15m' })
    expect(sent).toMatchObject({ scheduled: true, createdAt: '2026-11-15T10:15:00.000Z' })
    await pass(14 * minute)
    expect(await bob.count()).toMatchObject({ unread: 0 })
    for (const page of [
      await bob.inbox({ all: true }),
      await bob.check(),
      await ada.sent(),
      await bob.search('zebra'),
    ])
      expect(page.messages).toEqual([])
    await expectRefused(space, 'not_found', () => bob.show(sent.id))
    expect(await ada.scheduled()).toMatchObject([{ id: sent.id, seq: sent.seq, body: 'a zebra' }])
    expect(await bob.scheduled()).toEqual([])
    await pass(minute)
    const { messages } = await bob.check()
    expect(messages).toMatchObject([
      { id: sent.id, body: 'a zebra', createdAt: sent.createdAt, threadId: sent.id, signature: 'signed' },
    ])
    expect(subjects(await ada.sent())).toEqual(['later'])
    expect(await ada.scheduled()).toEqual([])
  })

  it('reaches whoever is in the group, or has the role, then', async () => {
    const { space, pass, ada, bob } = await pair()
    await ada.send({ to: 'project:x', subject: 'to all of x', at: '1h' })
    await ada.send({ to: 'role:tester', subject: 'to one', at: '1h' })
    await ada.send({ to: 'project:x', subject: 'now' })
    await bob.check()
    await space.join('cy', { tags: ['project:x'] })
    const cy = await space.mailbox('cy', { join: false })
    await cy.check()
    await bob.update({ addTags: ['project:x'] })
    await pass(hour)
    expect(subjects(await cy.check())).toEqual(['to all of x'])
    expect(subjects(await bob.check())).toEqual(expect.arrayContaining(['to all of x', 'to one']))
  })

  it('lives, is urgent and wants its ack from its time on', async () => {
    const { space, pass, ada, bob } = await pair({ urgentAfterMs: 5 * minute, ackTimeoutMs: 15 * minute })
    const { id } = await ada.send({ to: 'bob', priority: 'urgent', ttlMs: hour, at: '3h' })
    const wanted = await ada.send({ to: 'bob', requiresAck: true, at: '3h' })
    await pass(3 * hour)
    expect(await noticesTo(space, 'user')).toEqual([])
    await bob.read(wanted.id)
    await pass(4 * minute)
    expect(await noticesTo(space, 'user')).toEqual([])
    await pass(2 * minute)
    expect(await noticesTo(space, 'user')).toMatchObject([{ priority: 'urgent' }])
    await pass(8 * minute)
    expect(await stateOf(space, wanted.id)).toBe('shown')
    await pass(2 * minute)
    expect(await ladderOf(space, wanted.id)).toContain('repeated')
    await pass(hour)
    expect(await ladderOf(space, id)).toContain('expired')
  })

  it('can be taken back by its sender until then', async () => {
    const { space, pass, ada, bob } = await pair()
    const { id, seq } = await ada.send({ to: 'bob', subject: 'never', at: '1h' })
    await expectRefused(space, 'not_permitted', () => bob.withdraw(id))
    expect(await ada.withdraw(`#${seq}`)).toMatchObject({ id, subject: 'never' })
    expect(await ada.scheduled()).toEqual([])
    await expectRefused(space, 'not_found', () => ada.withdraw(id))
    await pass(2 * hour)
    expect((await bob.check()).messages).toEqual([])
    const other = await ada.send({ to: 'bob', subject: 'out', at: '1h' })
    await pass(hour)
    await ada.withdraw(other.id)
    expect(await stateOf(space, other.id)).toBe('withdrawn')
  })

  it('answers what it answers when it goes out, and is not sent if that is over', async () => {
    const { space, pass, ada, bob } = await pair()
    const plan = await bob.send({
      to: 'ada',
      type: 'plan_submission',
      subject: 'plan',
      payload: { plan: 'x' },
    })
    const verdict = { type: 'plan_approval', payload: { approved: true } }
    await ada.reply(plan.id, { ...verdict, at: '1h' })
    expect(await bob.awaited()).toHaveLength(1)
    await pass(hour)
    expect(await bob.awaited()).toEqual([])
    expect(subjects(await bob.check())).toEqual(['Re: plan'])
    const second = await bob.send({
      to: 'ada',
      type: 'plan_submission',
      subject: 'two',
      payload: { plan: 'y' },
    })
    const late = await ada.reply(second.id, { ...verdict, at: '1h' })
    await ada.reply(second.id, verdict)
    await bob.check()
    await pass(hour)
    expect((await bob.check()).messages).toEqual([])
    expect(await ada.scheduled()).toEqual([])
    expect(await noticesTo(space, 'ada')).toMatchObject([
      { type: 'error', subject: 'Not sent: your message to bob', payload: { scheduled: late.id } },
    ])
  })

  it('says nothing of its sender, who may be gone by then', async () => {
    const { space, pass, ada, bob } = await pair({ 'limits.ratePerMinute': 2 })
    for (const subject of ['one', 'two']) await ada.send({ to: 'bob', subject, at: '1h' })
    await expectRefused(space, 'over_limit', () => ada.send({ to: 'bob', at: '1h' }))
    await ada.leave()
    const { lastSeenAt } = await agentNamed(space, 'ada')
    await pass(hour)
    expect(await agentNamed(space, 'ada')).toMatchObject({ state: 'dead', lastSeenAt })
    expect(subjects(await bob.check())).toEqual(['one', 'two'])
  })

  it('is sent once with its key', async () => {
    const { pass, ada, bob } = await pair()
    const first = await ada.send({ to: 'bob', key: 'k', at: '1h' })
    expect(await ada.send({ to: 'bob', key: 'k', at: '2h' })).toMatchObject({ id: first.id, scheduled: true })
    await pass(3 * hour)
    expect(await ada.send({ to: 'bob', key: 'k' })).toMatchObject({ id: first.id })
    expect((await bob.check()).messages).toHaveLength(1)
  })

  it('is refused in the past, beyond ten years, in other words, and in place of another', async () => {
    const { space, ada } = await pair()
    expect(
      await expectRefused(space, 'invalid', () => ada.send({ to: 'bob', at: '2026-11-15T09:59:00Z' })),
    ).toMatchObject({ message: expect.stringContaining('in the future') })
    expect(
      await expectRefused(space, 'invalid', () => ada.send({ to: 'bob', at: '2046-11-15' })),
    ).toMatchObject({ message: expect.stringContaining('10 years') })
    expect(await expectRefused(space, 'invalid', () => ada.send({ to: 'bob', at: 'soon' }))).toMatchObject({
      message: expect.stringContaining('must be a time'),
    })
    expect(
      await expectRefused(space, 'invalid', () => ada.send({ to: 'bob', at: '1h', supersede: true })),
    ).toMatchObject({ message: expect.stringContaining('supersede') })
  })

  it('is in an export until it is sent, and is sent where that was imported', async () => {
    const { space, clock, pass, ada } = await pair()
    await ada.send({ to: 'bob', subject: 'first', at: '1h' })
    await ada.send({ to: 'bob', subject: 'second', at: '3h' })
    const gone = await ada.send({ to: 'bob', subject: 'gone', at: '3h' })
    await ada.withdraw(gone.id)
    await pass(hour)
    const lines = await exported(space as DiskSpace)
    const other = await tempSpace({ now: clock.now })
    expect(await other.importMessages(lines)).toMatchObject({ imported: 2, refused: 0 })
    const mail = (all: typeof lines) => all.filter(({ kind }) => kind !== 'agent')
    expect(mail(await exported(other))).toEqual(mail(lines))
    expect(await other.importMessages(lines)).toMatchObject({ imported: 0, skipped: 2 })
    clock.advance(2 * hour)
    await other.runDue()
    const bob = await other.mailbox('bob', { join: false })
    expect(subjects(await bob.inbox({ all: true }))).toEqual(['first', 'second'])
    expect((await other.verify({ deep: true })).problems).toEqual([])
  })

  it('keeps the file of the journal that it is in', async () => {
    needFiles()
    const { space, pass, ada, bob } = await pair({ 'retention.segmentEntries': 4 })
    await ada.send({ to: 'bob', subject: 'in a year', at: '365d' })
    for (let n = 0; n < 12; n++) await ada.send({ to: 'bob' })
    await pass(300 * 24 * hour)
    while ((await bob.check()).messages.length > 0);
    const archived = await space.archiveOld({ gzipAfterMs: 1, removeAfterMs: 1 })
    expect(archived.removed).toEqual([])
    expect(archived.kept[0]).toMatchObject({ segment: 1, reason: expect.stringContaining('is scheduled') })
    await pass(65 * 24 * hour)
    expect(subjects(await bob.check())).toEqual(['in a year'])
  })
})

describe('its text and its sender', () => {
  it('are in no file of an encrypted space before or after, and its recipient reads it', async () => {
    vi.stubEnv('XDG_CONFIG_HOME', tempDir())
    onTestFinished(() => void vi.unstubAllEnvs())
    const { space, pass, ada, bob } = await pair({ encrypt: 'space' })
    await ada.send({ to: 'bob', subject: 'zebra', body: 'the quagga', encrypt: true, at: '1h' })
    await ada.send({ to: 'bob', subject: 'okapi', at: '1h' })
    expect(subjects({ messages: await ada.scheduled() })).toEqual(['zebra', 'okapi'])
    await pass(hour)
    const { messages } = await bob.check()
    expect(messages).toMatchObject([
      { subject: 'zebra', body: 'the quagga', encrypted: 'recipients', signature: 'signed' },
      { subject: 'okapi', encrypted: 'space', signature: 'signed' },
    ])
    const bytes = readdirSync(space.dir, { recursive: true, encoding: 'utf8' })
      .map((file) => join(space.dir, file))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path, 'latin1'))
      .join('\n')
    for (const word of ['zebra', 'quagga', 'okapi']) expect(bytes).not.toContain(word)
  })

  it('are not believed once its sender has another key: it is not sent, and the sender is told', async () => {
    vi.stubEnv('XDG_CONFIG_HOME', tempDir())
    onTestFinished(() => void vi.unstubAllEnvs())
    const { space, pass, ada, bob } = await pair()
    await ada.send({ to: 'bob', subject: 'old key', at: '1h' })
    await rotateKey((space as DiskSpace).core, 'ada')
    await ada.send({ to: 'bob', subject: 'new key', at: '1h' })
    await pass(hour)
    expect((await bob.check()).messages).toMatchObject([{ subject: 'new key', signature: 'signed' }])
    expect(await noticesTo(space, 'ada')).toMatchObject([{ body: expect.stringContaining('key of ada') }])
  })
})

describe('between processes', () => {
  it('reaches one that waits, though its sender was killed and nobody reads', async () => {
    const space = await tempSpace()
    await byHand(space, 'bob')
    const ada = await startAgent(space.dir, 'ada')
    const sent = await ada.does('send', { to: 'bob', subject: 'from the grave', at: '1s' })
    await ada.kill()
    const bob = await startAgent(space.dir, 'bob')
    const got = await bob.does('wait', { timeoutMs: 60_000 })
    expect(got.value).toMatchObject({ id: sent.value.id, subject: 'from the grave' })
    const kinds = (await journalOf(space)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'scheduled' || kind === 'message')).toEqual([
      'scheduled',
      'message',
    ])
  })

  it('goes through a hub, by whose clock it is delivered to who follows', async () => {
    const { space, pass } = await pair()
    const stage = await stageHub({ space: space as DiskSpace })
    const open = async (name: string) => {
      const remote = await openSpace({ url: stage.url, token: stage.agentToken(name) })
      onTestFinished(() => remote.close())
      return remote.mailbox(name, { join: false })
    }
    const [ada, bob] = [await open('ada'), await open('bob')]
    const sent = await ada.send({ to: 'bob', subject: 'over the wire', at: '1h' })
    expect(sent).toMatchObject({ scheduled: true, createdAt: '2026-11-15T11:00:00.000Z' })
    expect(await ada.scheduled()).toMatchObject([{ id: sent.id }])
    const coming = bob.wait({ timeoutMs: 60_000 })
    await pass(hour)
    expect(await coming).toMatchObject({ id: sent.id })
    const next = await ada.send({ to: 'bob', at: '1h' })
    expect(await ada.withdraw(next.id)).toMatchObject({ id: next.id })
    expect(await ada.scheduled()).toEqual([])
  })

  it('is written, listed and taken back on the command line', async () => {
    const box = await boxWith({}, 'ada', 'bob')
    const sent = await box.run([
      'send',
      'bob',
      '--as',
      'ada',
      '--subject',
      'Later',
      '--body',
      'x',
      '--at',
      '23:59',
    ])
    expect(sent).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^scheduled for \S+ 23:59:00 to bob: #/),
    })
    expect((await box.run(['inbox', '--as', 'bob'])).stdout).toContain('no ')
    const listed = await box.run(['scheduled', '--as', 'ada'])
    expect(listed.stdout).toContain('to bob: Later')
    const seq = /#(\d+)/.exec(listed.stdout)![1]!
    expect((await box.run(['log'])).stdout).toContain('ada scheduled for')
    expect(await box.run(['withdraw', seq, '--as', 'ada'])).toMatchObject({ code: 0 })
    expect((await box.run(['scheduled', '--as', 'ada'])).stdout).toBe('nothing is scheduled\n')
  })
})
