import { describe, expect, test } from 'vitest'
import type { ErrorCode, LocalSpace, Mailbox } from '../../src/mod.ts'
import { openSpace } from '../../src/mod.ts'
import { expectRefused, trio } from '../helpers/scene.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'

interface Scene {
  space: LocalSpace
  ada: Mailbox
  /** A message from bob to ada, and one to a role of hers. */
  direct: string
  role: string
}

async function scene(): Promise<Scene> {
  const space = await tempSpace()
  const { ada, bob } = await trio(space)
  await ada.update({ addRoles: ['r'] })
  const { id: direct } = await bob.send({ to: 'ada' })
  const { id: role } = await bob.send({ to: 'role:r' })
  return { space, ada, direct, role }
}

/** Input that the types forbid: it comes from JavaScript, from JSON, from a model. */
const wrong = (value: unknown) => value as never

type Attempt = [string, ErrorCode | ErrorCode[], (scene: Scene) => Promise<unknown>]

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

const sends: Attempt[] = [
  ['nothing', 'invalid', ({ ada }) => ada.send(wrong(undefined))],
  ['null', 'invalid', ({ ada }) => ada.send(wrong(null))],
  ['text', 'invalid', ({ ada }) => ada.send(wrong('ada'))],
  ['no recipient', 'invalid', ({ ada }) => ada.send({ to: [] })],
  ['a recipient with a control character', 'invalid', ({ ada }) => ada.send({ to: 'a\u001bda' })],
  ['an unknown recipient', 'unknown_recipient', ({ ada }) => ada.send({ to: ['bob', 'nobody'] })],
  ['an address that is none', 'invalid', ({ ada }) => ada.send({ to: 'Project:x' })],
  [
    'a body that is too large',
    'over_limit',
    ({ ada }) => ada.send({ to: 'bob', body: 'x'.repeat(1_048_577) }),
  ],
  ['a body that is no text', 'invalid', ({ ada }) => ada.send({ to: 'bob', body: wrong({}) })],
  ['a payload that is too deep', 'invalid', ({ ada }) => ada.send({ to: 'bob', payload: deep(65) })],
  [
    'a payload with __proto__',
    'invalid',
    ({ ada }) => ada.send({ to: 'bob', payload: JSON.parse('{"__proto__":1}') }),
  ],
  ['a payload with a number beyond 2^53', 'invalid', ({ ada }) => ada.send({ to: 'bob', payload: 2 ** 53 })],
  ['a payload that contains itself', 'invalid', ({ ada }) => ada.send({ to: 'bob', payload: loop() })],
  ['a context that is a list', 'invalid', ({ ada }) => ada.send({ to: 'bob', context: wrong([1]) })],
  ['an ack that is a word', 'invalid', ({ ada }) => ada.send({ to: 'bob', requiresAck: wrong('yes') })],
  ['a priority nobody knows', 'invalid', ({ ada }) => ada.send({ to: 'bob', priority: wrong('soon') })],
  ['a life of a thousand years', 'invalid', ({ ada }) => ada.send({ to: 'bob', ttlMs: 1e14 })],
  ['an answer to nothing', 'not_found', ({ ada }) => ada.send({ to: 'bob', replyTo: 'nothing' })],
  [
    'an answer to a number',
    ['invalid', 'not_found'],
    ({ ada }) => ada.send({ to: 'bob', replyTo: wrong(5) }),
  ],
  ['a role for a tag', 'invalid', ({ ada }) => ada.send({ to: 'bob', tags: ['role:x'] })],
  ['a swarm that climbs', 'invalid', ({ ada }) => ada.broadcast({ swarm: 'a:b' })],
  ['a swarm of no text', 'invalid', ({ ada }) => ada.broadcast({ swarm: wrong(Object.create(null)) })],
  ['a reply without a message', 'not_found', ({ ada }) => ada.reply('nothing')],
  ['a reply of a word', 'invalid', ({ ada, direct }) => ada.reply(direct, wrong('yes'))],
  ['a type that cannot be JSON', 'invalid', ({ ada }) => ada.send({ to: 'bob', type: wrong([1n]) })],
  ['a broadcast of a word', 'invalid', ({ ada }) => ada.broadcast(wrong(''))],
  ['a resend to an object', 'invalid', ({ ada, direct }) => ada.resend(direct, wrong({ to: 'bob' }))],
]

function loop(): unknown {
  const value: Record<string, unknown> = {}
  value['self'] = { value }
  return value
}

/** An id that is none may be called so, or a message that is not there. */
const noMessage: ErrorCode[] = ['invalid', 'not_found']

const handles: Attempt[] = [
  ['ack of a number', noMessage, ({ ada }) => ada.ack(wrong(5))],
  ['ack of nothing', noMessage, ({ ada }) => ada.ack(wrong(undefined))],
  ['done of an object', noMessage, ({ ada }) => ada.done(wrong({}))],
  ['claim of nothing', noMessage, ({ ada }) => ada.claim(wrong(null))],
  ['read of nothing', noMessage, ({ ada }) => ada.read(wrong(undefined))],
  ['show of nothing', noMessage, ({ ada }) => ada.show(wrong(undefined))],
  ['withdraw of nothing', noMessage, ({ ada }) => ada.withdraw(wrong(undefined))],
  ['thread of nothing', noMessage, ({ ada }) => ada.thread(wrong(undefined))],
  ['ack of what cannot be JSON', noMessage, ({ ada }) => ada.ack(wrong([1n]))],
  ['notified of null', 'invalid', ({ ada }) => ada.notified(wrong(null))],
  ['notified of an object', 'invalid', ({ ada }) => ada.notified(wrong({}))],
  ['taking a word', 'invalid', ({ ada }) => ada.takeAll(wrong('all'))],
  ['archive with null', 'invalid', ({ ada, direct }) => ada.archive(direct, wrong(null))],
  [
    'a claim number that is an object',
    'invalid',
    ({ ada, direct }) => ada.start(direct, { claimNumber: wrong(Object.create(null)) }),
  ],
  [
    'the next of a role that is an object',
    'not_permitted',
    ({ ada }) => ada.claimNext(wrong(Object.create(null))),
  ],
  ['fail without a reason', 'invalid', ({ ada, direct }) => ada.fail(direct, wrong(undefined))],
  [
    'fail with a reason that is a number',
    ['invalid', 'over_limit'],
    ({ ada, direct }) => ada.fail(direct, { reason: wrong(5) }),
  ],
  [
    'done with a note that is a number',
    ['invalid', 'over_limit'],
    ({ ada, direct }) => ada.done(direct, { note: wrong(5) }),
  ],
  [
    'done with a note of ten megabytes',
    ['invalid', 'over_limit'],
    ({ ada, direct }) => ada.done(direct, { note: 'x'.repeat(1e7) }),
  ],
  ['a claim of a negative time', 'invalid', ({ ada, role }) => ada.claim(role, { ttlMs: -1 })],
  ['a claim of NaN', 'invalid', ({ ada, role }) => ada.claim(role, { ttlMs: Number.NaN })],
  ['the next of a role that is a number', 'not_permitted', ({ ada }) => ada.claimNext(wrong(5))],
  ['a withdrawal of what is not ours', 'not_permitted', ({ ada, direct }) => ada.withdraw(direct)],
]

const lists: Attempt[] = [
  ['a limit of NaN', 'invalid', ({ ada }) => ada.inbox({ limit: Number.NaN })],
  ['a limit of one and a half', 'invalid', ({ ada }) => ada.inbox({ limit: 1.5 })],
  ['a limit of nothing', 'invalid', ({ ada }) => ada.inbox({ limit: 0 })],
  ['a limit that is a word', 'invalid', ({ ada }) => ada.inbox({ limit: wrong('ten') })],
  ['a limit of NaN for sent', 'invalid', ({ ada }) => ada.sent({ limit: Number.NaN })],
  ['a limit of NaN for search', 'invalid', ({ ada }) => ada.search('x', { limit: Number.NaN })],
  ['null', 'invalid', ({ ada }) => ada.inbox(wrong(null))],
  ['null for a check', 'invalid', ({ ada }) => ada.check(wrong(null))],
  ['a type that is a list of objects', 'invalid', ({ ada }) => ada.inbox({ type: wrong([{}]) })],
  ['a cursor that is an object', 'invalid', ({ ada }) => ada.check({ after: wrong(Object.create(null)) })],
  ['a limit that is a list', 'invalid', ({ ada }) => ada.check({ limit: wrong([Object.create(null)]) })],
  ['a template with a long name', 'invalid', ({ ada }) => ada.template('x'.repeat(300))],
  ['a template that is a map', 'invalid', ({ ada }) => ada.template(wrong(new Map()))],
  ['a cursor that is none', 'invalid', ({ ada }) => ada.inbox({ after: 'next' })],
  ['a cursor that is SQL', 'invalid', ({ ada }) => ada.inbox({ after: "3-0' OR 1" })],
  ['a cursor of another list', 'invalid', ({ ada }) => ada.sent({ after: '3-1' })],
  ['a cursor of sent', 'invalid', ({ ada }) => ada.inbox({ after: '12' })],
  ['a priority nobody knows', 'invalid', ({ ada }) => ada.inbox({ minPriority: wrong('soon') })],
  ['a search that is a number', 'invalid', ({ ada }) => ada.search(wrong(5))],
  ['a budget of NaN', 'invalid', ({ ada }) => ada.check({ budgetTokens: Number.NaN })],
  [
    'a wait of NaN',
    'invalid',
    ({ ada }) => ada.wait({ timeoutMs: Number.NaN, from: 'nobody', signal: soon() }),
  ],
]

/** Ends a wait that should never have begun. */
const soon = () => AbortSignal.timeout(500)

const rosters: Attempt[] = [
  ['a mailbox for nobody', 'invalid', ({ space }) => space.mailbox('')],
  ['a mailbox for a number', 'invalid', ({ space }) => space.mailbox(wrong(5))],
  ['a mailbox for all', 'invalid', ({ space }) => space.mailbox('all')],
  ['a mailbox for a role', 'invalid', ({ space }) => space.mailbox('role:r')],
  ['a mailbox with NUL', 'invalid', ({ space }) => space.mailbox('a\0')],
  ['a mailbox for a lone surrogate', 'invalid', ({ space }) => space.mailbox('\ud800')],
  ['a mailbox for a stranger', 'not_found', ({ space }) => space.mailbox('zoe', { join: false })],
  ['the system as an agent', 'invalid', ({ space }) => space.join('system')],
  ['a role that is none', 'invalid', ({ space }) => space.join('zoe', { roles: ['a\nb'] })],
  ['roles that are a word', 'invalid', ({ space }) => space.join('zoe', { roles: wrong('tester') })],
  ['a tag that is none', 'invalid', ({ space }) => space.join('zoe', { tags: ['X:y'] })],
  ['a pid that is none', 'invalid', ({ space }) => space.join('zoe', { session: { pid: 1.5 } })],
  ['a note that is a number', 'invalid', ({ space }) => space.join('zoe', { note: wrong(5) })],
  ['an update of nobody', 'not_found', ({ space }) => space.update('zoe', {})],
  ['an update to death', 'invalid', ({ ada }) => ada.update({ state: wrong('dead') })],
  ['an update with nothing', 'invalid', ({ ada }) => ada.update(wrong(undefined))],
  ['a leave of nobody', 'not_found', ({ space }) => space.leave('zoe')],
  ['a leave of the person', 'not_permitted', ({ space }) => space.leave('user')],
]

describe('bad input gets a code and a hint, and nothing is written', () => {
  test.each(sends)('send: %s', async (_, code, attempt) => {
    const set = await scene()
    await expectRefused(set.space, code, () => attempt(set))
  })

  test.each(handles)('handle: %s', async (_, code, attempt) => {
    const set = await scene()
    await expectRefused(set.space, code, () => attempt(set))
  })

  test.each(lists)('list: %s', async (_, code, attempt) => {
    const set = await scene()
    await expectRefused(set.space, code, () => attempt(set))
  })

  test.each(rosters)('roster: %s', async (_, code, attempt) => {
    const set = await scene()
    await expectRefused(set.space, code, () => attempt(set))
  })
})

describe('after any amount of bad input', () => {
  test('the space is as it was: it verifies, and mail goes on', async () => {
    const set = await scene()
    for (const [, , attempt] of [...sends, ...handles, ...lists, ...rosters]) {
      await attempt(set).then(
        () => {},
        () => {},
      )
    }
    expect((await set.space.verify({ deep: true })).problems).toEqual([])
    const { id } = await set.ada.send({ to: 'bob', subject: 'still here' })
    expect((await set.space.show(id)).message.subject).toBe('still here')
  })

  test('a page may be as long as one likes; it ends at 1,000', async () => {
    const { ada } = await scene()
    expect((await ada.inbox({ limit: 1 })).messages).toHaveLength(1)
    for (const limit of [2, 1_000, 5_000]) expect((await ada.inbox({ limit })).messages).toHaveLength(2)
  })
})

test('a space without a directory or an address is not opened', async () => {
  for (const options of [undefined, {}, { dir: undefined }, { url: undefined }, { dir: 7 }])
    await expect(openSpace(options as never)).rejects.toMatchObject({
      code: 'invalid',
      hint: expect.stringContaining('dir'),
    })
})

describe('a space that is not to be trusted', () => {
  test('is not opened where others can read or write', async () => {
    const { chmodSync } = await import('node:fs')
    const dir = tempDir()
    chmodSync(dir, 0o755)
    await expect(openSpace({ dir })).rejects.toMatchObject({
      code: 'not_permitted',
      hint: expect.stringContaining('chmod'),
    })
  })

  test('is not opened through a symbolic link', async () => {
    const { symlinkSync } = await import('node:fs')
    const dir = tempDir()
    symlinkSync(tempDir(), `${dir}/link`)
    await expect(openSpace({ dir: `${dir}/link` })).rejects.toMatchObject({ code: 'not_permitted' })
  })

  test.each([
    ['is no JSON', '{'],
    ['is no object', '[]'],
    ['has a setting twice', '{"pollMs":100,"pollMs":200}'],
    ['has a value that makes no sense', '{"pollMs":-1}'],
  ])('is not opened with a config that %s', async (_, text) => {
    const { writeFileSync } = await import('node:fs')
    const dir = tempDir()
    writeFileSync(`${dir}/config.json`, text)
    await expect(openSpace({ dir })).rejects.toMatchObject({
      code: 'invalid',
      hint: expect.stringMatching(/\S/),
    })
  })
})
