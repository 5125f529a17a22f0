import { describe, expect, test } from 'vitest'
import { decideResend } from '../../src/command/resend.ts'
import { decideSend, type SendCommand } from '../../src/command/send.ts'
import type { SendInput } from '../../src/model/fields.ts'
import type { Route } from '../../src/model/routes.ts'
import type { Settings } from '../../src/model/settings.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent } from '../helpers/samples.ts'
import { directoryOf, mail, messagesIn, now, spaceOf, withDirectory, withPolicy } from './fake-view.ts'

const agents = [
  agent('ada', { roles: ['architect'], tags: ['project:x'] }),
  agent('bob', { roles: ['worker'], tags: ['project:y'] }),
  agent('cy', { roles: ['ci'] }),
  agent('dan'),
  agent('gone', { state: 'dead' }),
]
const directory = directoryOf(...agents)

type Said = Partial<SendInput> & Partial<Omit<SendCommand, 'input'>>

function send(routes: readonly Route[], said: Said, settings: Partial<Settings> = {}) {
  const { from = 'bob', parent, ...input } = said
  const command = { from, parent, input: { to: 'dan', ...input } }
  return decideSend(withDirectory(directory), command, withPolicy({ routes, ...settings })).result
}

/** Where a message of bob to dan ends up under one rule. */
const goesTo = (when: string, said: Said) => send([{ when, to: 'role:ci' }], said).message.to.join()

describe('a rule takes a message', () => {
  test.each<[when: string, said: Said, fits: boolean]>([
    ['type:request', { type: 'request' }, true],
    ['type:request', {}, false],
    ['type:text', {}, true],
    ['type:request,text', {}, true],
    ['tag:concern:security', { tags: ['a:b', 'concern:security'] }, true],
    ['tag:concern:security', { tags: ['concern:speed'] }, false],
    ['tag:project:x', { to: 'project:x' }, true],
    ['tag:swarm:dev', { to: 'broadcast:dev' }, true],
    ['from:bob', {}, true],
    ['from:ada', {}, false],
    ['from:role:worker', {}, true],
    ['from:project:y', {}, true],
    ['from:user', { from: 'user' }, true],
    ['from:*', {}, true],
    ['to:dan', {}, true],
    ['to:ada', {}, false],
    ['to:ada', { to: ['dan', 'ada'] }, true],
    ['to:role:architect', { to: 'ada' }, true],
    ['to:role:architect', { to: 'architect' }, true],
    ['to:project:x', { to: 'ada' }, true],
    ['to:all', { to: '*' }, true],
    ['to:all', {}, false],
    ['to:*', {}, true],
    ['priority:normal', {}, true],
    ['priority:high,urgent', { priority: 'urgent' }, true],
    ['priority:high', { priority: 'urgent' }, false],
    ['flaky', { subject: 'A Flaky test' }, true],
    ['flaky', { body: 'It is flaky.' }, true],
    ['flaky', { body: 'flakyness' }, false],
    ['flaky', { body: 'unflaky' }, false],
    ['flaky', {}, false],
    ['subject:flaky', { body: 'flaky' }, false],
    ['subject:flaky', { subject: '(flaky)' }, true],
    ['body:flaky', { subject: 'flaky' }, false],
    ['"out of disk"', { body: 'we are out\n of  disk' }, true],
    ['"out of disk"', { body: 'out disk of' }, false],
    ['überlauf', { subject: 'ÜBERLAUF' }, true],
    ['c++', { subject: 'in C++ code' }, true],
    ['a.c', { subject: 'abc' }, false],
    ['type:request flaky from:bob', { type: 'request', body: 'flaky' }, true],
    ['type:request flaky from:ada', { type: 'request', body: 'flaky' }, false],
  ])('%s: %j %j', (when, said, fits) => {
    expect(goesTo(when, said) === 'role:ci').toBe(fits)
  })

  test('the first one that fits', () => {
    const routes = [
      { when: 'type:request', to: 'ada' },
      { when: 'from:bob', to: 'cy' },
      { when: 'to:dan', to: 'role:ci' },
    ]
    expect(send(routes, {}).message).toMatchObject({
      to: ['cy'],
      routed: { rule: 2, when: 'from:bob', sentTo: ['dan'] },
    })
    expect(send(routes, { from: 'ada' }).message).toMatchObject({ to: ['role:ci'], routed: { rule: 3 } })
    expect(send(routes, { from: 'ada', to: 'bob' }).message).not.toHaveProperty('routed')
  })
})

describe('what a rule changes', () => {
  test('the recipients, and with them how long the message lives', () => {
    const { message } = send([{ when: 'type:text', to: ['role:ci', 'ada'] }], { to: ['dan', 'agent:dan'] })
    expect(message.to).toEqual(['role:ci', 'ada'])
    expect(message.routed).toEqual({ rule: 1, when: 'type:text', sentTo: ['dan'] })
    expect(message).not.toHaveProperty('expiresAt')
    expect(send([{ when: 'type:text', to: 'all' }], {}).message.expiresAt).toBe(
      new Date(now + 4 * 3_600_000).toISOString(),
    )
  })

  test('adds to them with `also`, each once', () => {
    const routes = [{ when: 'type:text', to: ['role:ci', 'dan'], also: true }]
    expect(send(routes, {}).message).toMatchObject({ to: ['dan', 'role:ci'], routed: { sentTo: ['dan'] } })
  })

  test('the priority', () => {
    const { message } = send([{ when: 'type:text', priority: 'high' }], {})
    expect(message).toMatchObject({ to: ['dan'], priority: 'high' })
    expect(message.routed).toEqual({ rule: 1, when: 'type:text', sentTo: ['dan'], priority: 'normal' })
  })

  test('nothing is recorded where nothing changes', () => {
    const routes = [{ when: 'to:dan', to: 'dan', priority: 'normal' as const }]
    expect(send(routes, {}).message).not.toHaveProperty('routed')
    expect(send([{ when: 'to:dan', to: 'dan', also: true }], {}).message).not.toHaveProperty('routed')
  })

  test('what the sender is told of: of those who get it, not of those who do not', () => {
    const routes = [{ when: 'type:text', to: 'later' }]
    expect(send(routes, { to: 'gone' }).warnings).toEqual(['later has not joined yet; the message waits'])
    const more = [{ when: 'type:text', to: 'role:none', also: true }]
    expect(send(more, { to: 'gone' }).warnings).toHaveLength(2)
    // A rule makes nobody of an unknown name.
    expect(refusal(() => send(routes, { to: 'dann' }))).toMatchObject({ code: 'unknown_recipient' })
  })

  test('the rules on who may write to whom hold for those who get it', () => {
    const routes = [{ when: 'type:text', to: 'ada' }]
    const rules = [{ from: '*', to: 'dan' }]
    expect(refusal(() => send(routes, {}, { rules }))).toMatchObject({
      code: 'not_permitted',
      message: 'bob may not write to ada (no rule allows it); rule 1 of the routes sends it there',
    })
    expect(send(routes, { type: 'request' }, { rules }).message.to).toEqual(['dan'])
  })

  test('so do the limits', () => {
    const full = spaceOf(agents, mail(1, { to: ['ada'] }), mail(2, { to: ['ada'] }))
    const context = withPolicy({ routes: [{ when: 'type:text', to: 'ada' }], 'limits.inbox': 2 })
    const command = { from: 'bob', parent: undefined, input: { to: 'dan' } }
    expect(refusal(() => decideSend(full, command, context))).toMatchObject({ code: 'over_limit' })
  })

  test('no more recipients than a message can have', () => {
    const to = Array.from({ length: 256 }, (_, n) => `role:r${n}`)
    expect(refusal(() => send([{ when: 'type:text', to, also: true }], {}))).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('257 recipients'),
    })
  })
})

describe('a rule leaves alone', () => {
  const routes = [{ when: 'to:*', to: 'role:ci' }]

  test('answers, and what is for one run of an agent', () => {
    const parent = { id: 'x', threadId: 'x' }
    expect(send(routes, { parent, replyTo: 'x' }).message.to).toEqual(['dan'])
    expect(send(routes, { generation: 1 }).message.to).toEqual(['dan'])
    expect(send(routes, { type: 'shutdown_request', payload: {} }).message.to).toEqual(['dan'])
  })

  test('what its own recipients send: they pass it on', () => {
    expect(send(routes, { from: 'cy' }).message.to).toEqual(['dan'])
    expect(send([{ when: 'to:*', to: 'bob' }], {}).message.to).toEqual(['dan'])
    // Members of a group are not those who work for it.
    expect(send([{ when: 'to:*', to: 'project:y' }], {}).message.to).toEqual(['project:y'])
    // The next rule may take it.
    expect(send([...routes, { when: 'to:*', to: 'ada' }], { from: 'cy' }).message).toMatchObject({
      to: ['ada'],
      routed: { rule: 2 },
    })
  })

  test('the notices of the system', () => {
    expect(send(routes, { from: 'system' }).message.to).toEqual(['dan'])
  })

  test('a dead letter that is sent to somebody else', () => {
    const letter = mail(1, { from: 'bob', to: ['gone'] }, { owner: 'gone', state: 'dead' })
    const view = spaceOf(agents, letter)
    const command = { agent: 'bob', id: letter.facts.id, to: 'dan' }
    const [sent] = messagesIn(decideResend(view, command, withPolicy({ routes })).drafts)
    expect(sent!.to).toEqual(['dan'])
  })
})

test('a rule that passes on keeps everything else that the sender said', () => {
  const input = {
    ...{ subject: 's', body: 'b', tags: ['a:b'], payload: { n: 1 }, requiresAck: true, exclude: ['ada'] },
    ...{ attachments: ['x'], context: { y: 1 }, swarm: 'dev', type: 'request', priority: 'low' as const },
  }
  const { exclude: _, ...stored } = input
  expect(send([{ when: 'type:request', to: 'project:x' }], input).message).toMatchObject(stored)
})
