import { describe, expect, test } from 'vitest'
import type { ProcessStates } from '../../src/command/due/deaths.ts'
import { decideDue } from '../../src/command/due/due.ts'
import { resolveAddresses } from '../../src/command/resolve.ts'
import { decideSend } from '../../src/command/send.ts'
import type { View } from '../../src/conversation/view.ts'
import type { Draft } from '../../src/model/entry.ts'
import { escalation } from '../../src/model/receipt.ts'
import { maxLifeMs } from '../../src/model/time.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent } from '../helpers/samples.ts'
import {
  context,
  directoryOf,
  hour,
  iso,
  mail,
  messagesIn,
  minute,
  now,
  type ReceiptInput,
  receiptsIn,
  spaceOf,
  withDirectory,
  withPolicy,
} from './fake-view.ts'

const nobody: ProcessStates = { running: new Set(), gone: new Set() }
const gone = (name: string) => agent(name, { state: 'dead', gone: 'left', lastSeenAt: iso(now) })
const became = (drafts: readonly Draft[]) =>
  receiptsIn(drafts).flatMap(({ step, changes }) =>
    changes.map(({ seq, owner }) => `${step} ${seq} ${owner}`),
  )
/** To whom, about what kind of trouble. */
const told = (drafts: readonly Draft[]) =>
  messagesIn(drafts).map(({ to, payload }) => `${to.join()} ${(payload as { notice: string }).notice}`)

/** A day on which the person does not work, and one on which it does. */
const settings = { hours: 'mon-fri 9-18 Europe/Berlin', silentAfterMs: 0 }
const off = withPolicy(settings)
const on = context(now + 24 * hour, settings)

describe('outside of its hours the person', () => {
  const lost = (fields: Parameters<typeof mail>[1], ...receipts: ReceiptInput[]) =>
    spaceOf([gone('ada')], mail(1, { from: 'user', ...fields }, ...receipts))

  test('is not told that its mail was not delivered, and that is recorded when it is told', () => {
    const view = lost({})
    expect(decideDue(view, nobody, off)).toEqual([])
    const drafts = decideDue(view, nobody, on)
    expect([told(drafts), became(drafts)]).toEqual([['user undelivered'], ['dead 1 ada']])
  })

  test('keeps nobody else from being told', () => {
    const drafts = decideDue(lost({ from: 'bob' }), nobody, off)
    expect([told(drafts), became(drafts)]).toEqual([['bob undelivered'], ['dead 1 ada']])
  })

  const urgent = (...notices: Parameters<typeof mail>[1][]) =>
    spaceOf(
      [agent('ada')],
      mail(
        1,
        { priority: 'urgent', createdAt: iso(now - 5 * hour) },
        { owner: 'ada', level: escalation.lead, since: now - 5 * hour },
      ),
      ...notices.map((fields, at) =>
        mail(
          2 + at,
          { from: 'system', to: ['user'], ...fields },
          { owner: fields.to?.[0] ?? 'user', state: 'archived' },
        ),
      ),
    )
  const { id } = mail(1, {}).facts
  const about = (kind: string) => ({
    payload: { notice: kind, about: [{ id, to: 'ada', kind, reason: 'r' }] },
  })

  test('is told of urgent mail that nobody reads, once', () => {
    expect(told(decideDue(urgent(), nobody, off))).toEqual(['user unread'])
    expect(decideDue(urgent(about('unread')), nobody, off)).toEqual([])
    // What somebody else was told says nothing of what the person knows.
    expect(told(decideDue(urgent({ ...about('unread'), to: ['bob'] }), nobody, off))).toEqual(['user unread'])
  })

  test('is not told that an ack did not come', () => {
    const unacked = {
      owner: 'ada',
      state: 'shown',
      ackBy: now - 1,
      repeats: 99,
      level: escalation.lead,
    } as const
    const view = spaceOf([agent('ada')], mail(1, { requiresAck: true }, unacked))
    expect(told(decideDue(view, nobody, off))).toEqual([])
    expect(told(decideDue(view, nobody, on))).toEqual(['user ack'])
  })
})

describe('whoever comes for its mail', () => {
  const unread = (owner: string, fields = {}) =>
    spaceOf(
      [agent('ada', { roles: ['dev', 'ops'] }), agent('lea', { roles: ['lead'] })],
      mail(1, { priority: 'urgent', to: [owner] }, { owner, since: now - 3 * hour, ...fields }),
    )
  const toldFor = (view: View, reader?: string) => told(decideDue(view, nobody, context(), reader))

  test('is not said to have not read it: what is in its own box, or in that of a role that it has', () => {
    for (const owner of ['ada', 'role:dev', 'role:ops']) {
      expect(toldFor(unread(owner), 'ada')).toEqual([])
      expect(toldFor(unread(owner))).not.toEqual([])
      expect(toldFor(unread(owner), 'lea')).not.toEqual([])
      expect(toldFor(unread(owner), 'nobody')).not.toEqual([])
    }
    expect(toldFor(unread('role:qa'), 'ada')).not.toEqual([])
  })

  test('may be the person, whom no entry mentions', () => {
    const view = unread('user')
    expect(became(decideDue(view, nobody, context(), 'user'))).toEqual([])
    expect(became(decideDue(view, nobody, context(), 'ada'))).toEqual(['escalated 1 user'])
  })

  test('is shown again what it has not acknowledged, and nobody is told', () => {
    const view = (repeats: number) =>
      spaceOf(
        [agent('ada', { session: { generation: 1, startedAt: iso(now - 9 * hour) } })],
        mail(1, { requiresAck: true }, { owner: 'ada', state: 'shown', ackBy: now - 1, repeats }),
      )
    expect(became(decideDue(view(0), nobody, context(), 'ada'))).toEqual(['repeated 1 ada'])
    expect(became(decideDue(view(99), nobody, context(), 'ada'))).toEqual([])
    expect(became(decideDue(view(99), nobody, context()))).toEqual(['escalated 1 ada'])
  })
})

describe('a sender is told', () => {
  test('once of a message, and of each recipient that it did not reach', () => {
    const view = spaceOf(
      [gone('ada'), gone('cy')],
      mail(1, { to: ['ada', 'cy'], awaitingResponse: true }, { owner: 'ada' }, { owner: 'cy' }),
      mail(
        2,
        { to: ['ada', 'cy'], awaitingResponse: true },
        { owner: 'ada', state: 'shown' },
        { owner: 'cy', state: 'shown' },
      ),
    )
    const drafts = decideDue(view, nobody, context())
    expect(became(drafts).sort()).toEqual(['dead 1 ada', 'dead 1 cy', 'dead 2 ada', 'dead 2 cy'])
    const kinds = messagesIn(drafts).flatMap(({ payload }) =>
      (payload as unknown as { about: { id: string; to: string; kind: string }[] }).about.map(
        ({ id, to, kind }) => `${kind} ${id.slice(-2)} ${to}`,
      ),
    )
    expect(kinds.sort()).toEqual(['ended 02 ada', 'undelivered 01 ada', 'undelivered 01 cy'])
  })

  test('that what it waits for is with an agent that has died, if it was sent before that', () => {
    const died = agent('ada', { state: 'dead', gone: 'ended', lastSeenAt: iso(now - 10 * minute) })
    const asked = (createdAt: number, fields = {}) =>
      decideDue(
        spaceOf(
          [died, agent('bob')],
          mail(
            1,
            { createdAt: iso(createdAt), awaitingResponse: true, ...fields },
            { owner: 'ada', since: createdAt },
          ),
        ),
        nobody,
        context(),
      )
    expect(told(asked(now - 11 * minute))).toEqual(['bob waiting'])
    expect(told(asked(now - 10 * minute))).toEqual(['bob waiting'])
    expect(told(asked(now - 9 * minute))).toEqual([])
    expect(told(asked(now - 11 * minute, { awaitingResponse: false }))).toEqual([])
    const [notice] = messagesIn(asked(now - 11 * minute))
    expect(JSON.stringify(notice)).toContain('ada has died; it waits')
  })
})

describe('when a message expires', () => {
  const send = (expiresAt: string) =>
    decideSend(
      withDirectory(directoryOf(agent('ada'), agent('bob'))),
      { from: 'bob', parent: undefined, input: { to: 'ada', expiresAt } },
      context(),
    ).result.message

  test('is in the future, and not too far', () => {
    expect(send(iso(now + 1)).expiresAt).toBe(iso(now + 1))
    expect(send(iso(now + maxLifeMs)).expiresAt).toBe(iso(now + maxLifeMs))
    for (const bad of [now, now - 1, now + maxLifeMs + 1])
      expect(refusal(() => send(iso(bad))).message).toContain(
        `expiresAt must be in the future, at most 10 years from now, not ${iso(bad)}`,
      )
  })
})

describe('mail that is held for an agent that has not joined', () => {
  const hold = (name: string, ...agents: string[]) =>
    resolveAddresses(directoryOf(...agents.map((one) => agent(one))), [name], true)

  test('is for a name that somebody can join under', () => {
    expect(hold('zoe', 'ada')).toEqual({
      ...{
        addresses: [{ kind: 'agent', name: 'zoe' }],
        warnings: ['zoe has not joined yet; the message waits'],
      },
    })
    for (const [name, other] of [
      ['аda', 'ada'],
      ['usеr', 'user'],
    ] as const)
      expect(refusal(() => hold(name, 'ada'))).toMatchObject({
        ...{ code: 'unknown_recipient', hint: `did you mean ${other}?` },
        message: `${JSON.stringify(name)} looks like "${other}", so that no agent can join under that name`,
      })
  })

  test('says how somebody joins, if nobody has', () => {
    const unknown = (...agents: string[]) =>
      refusal(() => resolveAddresses(directoryOf(...agents.map((one) => agent(one))), ['zoe'], false)).hint
    expect(unknown()).toMatch(/^no agent has joined yet; .*--hold$/)
    expect(unknown('user')).toMatch(/^no agent has joined yet/)
    expect(unknown('bob')).toMatch(/^see `mailbox agents`; .*--hold$/)
    expect(unknown('zoé')).toMatch(/did you mean zoé\? .*--hold$/)
  })
})
