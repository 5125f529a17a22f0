import { describe, expect, test } from 'vitest'
import type { Context } from '../../src/command/context.ts'
import type { ProcessStates } from '../../src/command/due/deaths.ts'
import { decideDue } from '../../src/command/due/due.ts'
import type { View } from '../../src/conversation/view.ts'
import type { Agent } from '../../src/model/agent.ts'
import { priorities } from '../../src/model/message.ts'
import { escalation, type ReceiptState } from '../../src/model/receipt.ts'
import { agent, idOf } from '../helpers/samples.ts'
import {
  agentsIn,
  context,
  hour,
  iso,
  type Mail,
  mail,
  messagesIn,
  minute,
  now,
  type ReceiptInput,
  receiptsIn,
  spaceOf,
  withPolicy,
} from './fake-view.ts'

const nobody: ProcessStates = { running: new Set(), gone: new Set() }
const ago = (ms: number) => iso(now - ms)
const seen = (ms: number, fields: Partial<Agent> = {}): Partial<Agent> => ({
  lastSeenAt: ago(ms),
  ...fields,
})
const withPid = { session: { generation: 1, startedAt: ago(48 * hour), pid: 7 } }

/** What is due, taken apart: who died, what is said to whom, what becomes of each letter. */
function due(view: View, at: Context = context(), liveness: ProcessStates = nobody) {
  const drafts = decideDue(view, liveness, at)
  return {
    drafts,
    died: agentsIn(drafts).map((draft) => draft.agent.name),
    told: messagesIn(drafts),
    became: Object.fromEntries(
      receiptsIn(drafts).flatMap(({ step, changes }) =>
        changes.map(({ seq, owner, state }) => [`${seq} ${owner}`, `${step} ${state}`]),
      ),
    ),
    changes: receiptsIn(drafts).flatMap((draft) => draft.changes),
  }
}

const dead = (name: string, how: 'left' | 'ended' | 'silent', ms = 0): Agent =>
  agent(name, { state: 'dead', gone: how, lastSeenAt: ago(ms) })

test('nothing is due in a space in which all is well', () => {
  const view = spaceOf([agent('ada'), agent('bob')], mail(1, { createdAt: ago(minute) }))
  expect(decideDue(view, nobody, context())).toEqual([])
})

describe('an agent is found dead', () => {
  const day = 24 * hour
  const cases: [
    string,
    Partial<Agent>,
    Partial<Context['policy']>,
    'running' | 'gone' | 'unseen',
    boolean,
  ][] = [
    ['its process has ended', seen(0, withPid), {}, 'gone', true],
    ['its process is there, however silent', seen(9 * day, withPid), {}, 'running', false],
    ['without a process, silent for longer than a day', seen(day + 1), {}, 'unseen', true],
    ['without a process, silent for a day', seen(day), {}, 'unseen', false],
    [
      'without a process, however silent, where that never counts',
      seen(9 * day),
      { silentAfterMs: 0 },
      'unseen',
      false,
    ],
    [
      'on another machine, no heartbeat for longer than 5 min',
      seen(5 * minute + 1, withPid),
      {},
      'unseen',
      true,
    ],
    ['on another machine, a heartbeat 5 min ago', seen(5 * minute, withPid), {}, 'unseen', false],
    [
      'on another machine, where heartbeats do not count',
      seen(9 * day, withPid),
      { heartbeatMs: 0 },
      'unseen',
      false,
    ],
    ['frozen, its process has ended', seen(0, { ...withPid, state: 'frozen' }), {}, 'gone', false],
    ['frozen, however silent', seen(9 * day, { state: 'frozen' }), {}, 'unseen', false],
    ['idle, silent for longer than a day', seen(day + 1, { state: 'idle' }), {}, 'unseen', true],
    ['dead already', seen(9 * day, { state: 'dead', gone: 'ended' }), {}, 'gone', false],
  ]
  test.each(cases)('%s', (_, fields, settings, sight, dies) => {
    const liveness = { ...nobody, ...(sight === 'unseen' ? {} : { [sight]: new Set(['ada 1']) }) }
    expect(due(spaceOf([agent('ada', fields)]), withPolicy(settings), liveness).died).toEqual(
      dies ? ['ada'] : [],
    )
  })

  test('never the person', () => {
    const liveness = { running: new Set<string>(), gone: new Set(['user 1']) }
    expect(due(spaceOf([agent('user', seen(9 * day, withPid))]), context(), liveness).died).toEqual([])
  })

  test('by the process of its present run only', () => {
    const session = { generation: 2, startedAt: ago(0), pid: 7 }
    const view = spaceOf([agent('ada', seen(0, { session }))])
    const liveness = { running: new Set<string>(), gone: new Set(['ada 1']) }
    expect(due(view, context(), liveness).died).toEqual([])
  })

  test('not while it says or does something, whenever it joined', () => {
    const view = spaceOf([agent('ada', seen(9 * day))])
    view.directory.seen.set('ada', ago(hour))
    expect(due(view).died).toEqual([])
  })

  test('and the journal says when, by whom, how and why', () => {
    const view = spaceOf([agent('ada', seen(25 * hour, { roles: ['x'] }))])
    expect(decideDue(view, nobody, context())).toEqual([
      {
        kind: 'agent',
        change: 'died',
        by: 'system',
        agent: {
          ...agent('ada', { roles: ['x'] }),
          state: 'dead',
          gone: 'silent',
          lastSeenAt: iso(now),
          note: 'silent for 1500 min',
        },
      },
    ])
  })

  test('and what it had claimed is free in the same decision', () => {
    const view = spaceOf(
      [agent('ada', seen(25 * hour))],
      mail(1, { to: ['role:x'] }, { owner: 'role:x', box: 'ada', state: 'shown', claimUntil: now + 1 }),
    )
    expect(due(view)).toMatchObject({ died: ['ada'], became: { '1 role:x': 'released stored' } })
  })
})

describe('an agent that was taken for dead', () => {
  const silent = (fields: Partial<Agent> = {}) =>
    agent('ada', {
      state: 'dead',
      gone: 'silent',
      lastSeenAt: ago(hour),
      note: 'silent for 1500 min',
      ...fields,
    })
  /** Ada, after she said something so long ago. */
  const heard = (ms: number, one = silent(), ...mails: Mail[]) => {
    const view = spaceOf([one], ...mails)
    view.directory.seen.set('ada', ago(ms))
    return view
  }

  test('is back, in the same run, when it says something', () => {
    const [draft, ...rest] = decideDue(heard(minute), nobody, context())
    expect(draft).toMatchObject({
      ...{ change: 'resumed', by: 'system' },
      agent: { name: 'ada', state: 'alive', lastAway: { from: ago(hour), to: iso(now) } },
    })
    expect(agentsIn([draft!])[0]!.agent).not.toHaveProperty('gone')
    expect(agentsIn([draft!])[0]!.agent).not.toHaveProperty('note')
    expect(agentsIn([draft!])[0]!.agent.session.generation).toBe(1)
    expect(rest).toEqual([])
  })

  test('is back although its process has ended, and is not tied to that any more', () => {
    const ended = silent({ gone: 'ended', session: { generation: 1, startedAt: ago(48 * hour), pid: 7 } })
    expect(due(heard(minute, ended)).drafts).toMatchObject([
      { change: 'resumed', agent: { state: 'alive', session: { generation: 1 } } },
    ])
    const [back] = agentsIn(due(heard(minute, ended)).drafts)
    expect(back!.agent.session).not.toHaveProperty('pid')
  })

  test.each<[ReceiptState | null, string]>([
    [null, 'revived stored'],
    ['stored', 'revived stored'],
    ['shown', 'revived shown'],
    ['acked', 'revived acked'],
    ['processing', 'revived processing'],
  ])('has its dead letters again, with the state that they had: %s', (before, became) => {
    const lost = mail(1, {}, { owner: 'ada', state: 'dead', before })
    expect(due(heard(minute, silent(), lost)).became).toEqual({ '1 ada': became })
  })

  test('loses nothing in the decision that brings it back', () => {
    expect(due(heard(minute, silent(), mail(1, { createdAt: ago(minute) }))).became).toEqual({})
  })

  test.each<[string, View]>([
    ['said nothing since', heard(hour)],
    ['has left', heard(minute, silent({ gone: 'left' }))],
  ])('stays dead if it %s', (_, view) => {
    expect(due(view).drafts).toEqual([])
  })
})

describe('the mail of an agent that is gone', () => {
  const direct = (state: ReceiptState = 'stored', since = now - 48 * hour) =>
    mail(1, { subject: 'Plan' }, { owner: 'ada', state, since })
  const waits = 24 * hour

  test.each<[string, Agent, string | undefined]>([
    ['left: a dead letter at once', dead('ada', 'left'), 'dead dead'],
    ['died just now: it waits', dead('ada', 'ended'), undefined],
    ['died not quite a day ago: it waits', dead('ada', 'ended', waits - 1), undefined],
    ['died a day ago: a dead letter', dead('ada', 'ended', waits), 'dead dead'],
    ['frozen: it waits', agent('ada', seen(hour, { state: 'frozen' })), undefined],
  ])('%s', (_, gone, became) => {
    expect(due(spaceOf([gone, agent('bob')], direct())).became['1 ada']).toBe(became)
  })

  test('that came when it was gone already waits as long', () => {
    const gone = dead('ada', 'ended', 3 * waits)
    expect(due(spaceOf([gone], direct('stored', now - waits + 1))).became).toEqual({})
    expect(due(spaceOf([gone], direct('stored', now - waits))).became).toEqual({ '1 ada': 'dead dead' })
  })

  test('waits as long as the space says', () => {
    const view = spaceOf([dead('ada', 'ended')], direct())
    expect(due(view, withPolicy({ deadLetterAfterMs: 0 })).became).toEqual({ '1 ada': 'dead dead' })
  })

  test.each<[ReceiptState, boolean, ReceiptState]>([
    ['stored', false, 'dead'],
    ['notified', false, 'dead'],
    ['shown', false, 'archived'],
    ['shown', true, 'dead'],
    ['acked', true, 'archived'],
    ['acked', false, 'archived'],
    ['processing', false, 'archived'],
  ])('when it was %s, and an ack was wanted: %s, is %s', (was, requiresAck, state) => {
    const one = mail(1, { requiresAck }, { owner: 'ada', state: was })
    const { changes, told } = due(spaceOf([dead('ada', 'left')], one))
    expect(changes).toMatchObject([{ owner: 'ada', was, state }])
    expect(told).toHaveLength(state === 'dead' ? 1 : 0)
  })

  test.each<ReceiptState>(['shown', 'acked', 'processing'])(
    'is a dead letter although it was %s, if an answer is still open',
    (was) => {
      const question = mail(1, { awaitingResponse: true }, { owner: 'ada', state: was })
      const { became, told } = due(spaceOf([dead('ada', 'left')], question))
      expect(became).toEqual({ '1 ada': 'dead dead' })
      // It was delivered: what its sender has to know is that it will not be settled.
      expect(told).toMatchObject([{ to: ['bob'], payload: { notice: 'ended' } }])
    },
  )

  test('keeps the state it has if it was read, asks for nothing more and the agent may return', () => {
    const view = spaceOf([dead('ada', 'ended', waits)], direct('shown'))
    expect(due(view).drafts).toEqual([])
  })

  test('stays with whoever failed to do it', () => {
    expect(due(spaceOf([dead('ada', 'left')], direct('failed'))).drafts).toEqual([])
  })

  test('is for whoever asked if it was claimed from a role and failed', () => {
    const failed = mail(1, { to: ['role:x'] }, { owner: 'role:x', box: 'ada', state: 'failed', attempts: 1 })
    expect(due(spaceOf([dead('ada', 'left')], failed)).drafts).toEqual([])
  })

  test.each<ReceiptState>(['completed', 'archived', 'expired', 'dead', 'withdrawn'])(
    'is left alone when it was %s',
    (state) => {
      expect(due(spaceOf([dead('ada', 'left')], direct(state))).drafts).toEqual([])
    },
  )

  test('tells its sender which, to whom and why', () => {
    const { told } = due(spaceOf([dead('ada', 'left'), agent('bob')], direct()))
    expect(told).toMatchObject([
      {
        from: 'system',
        to: ['bob'],
        type: 'error',
        priority: 'normal',
        subject: 'Not delivered to ada',
        replyTo: idOf(1),
        threadId: idOf(1),
        requiresAck: false,
        payload: { undelivered: [{ id: idOf(1), to: 'ada', reason: 'ada has left' }] },
      },
    ])
    expect(told[0], 'it lives until it is read').not.toHaveProperty('expiresAt')
  })

  test.each(['left', 'ended', 'silent'] as const)(
    'is free at once if it was claimed from a role: %s',
    (how) => {
      const claimed = mail(
        1,
        { to: ['role:x'] },
        { owner: 'role:x', box: 'ada', state: 'processing', attempts: 2, claimUntil: now + hour },
      )
      const { changes, told } = due(spaceOf([dead('ada', how)], claimed))
      expect(changes).toEqual([
        {
          ...{ id: idOf(1), seq: 1, rank: 1, owner: 'role:x', box: 'role:x', wasBox: 'ada' },
          ...{ state: 'stored', was: 'processing', attempts: 2 },
          // Whoever dies over work has failed at it.
          ...(how === 'ended' ? { failures: 1 } : {}),
        },
      ])
      expect(told).toEqual([])
    },
  )

  test.each<[ReceiptState, number, string]>([
    ['processing', 4, 'dead dead'],
    ['processing', 3, 'released stored'],
    // It had not begun.
    ['shown', 4, 'released stored'],
  ])(
    'is a dead letter if too many failed or died over it: %s after %i failures: %s',
    (state, failures, became) => {
      const claimed = { owner: 'role:x', box: 'ada', state, attempts: 9, failures, claimUntil: now + 1 }
      const view = spaceOf([dead('ada', 'ended')], mail(1, { to: ['role:x'] }, claimed))
      expect(due(view)).toMatchObject({
        became: { '1 role:x': became },
        told:
          became === 'dead dead' ? [{ to: ['bob'], body: expect.stringContaining('failed 5 times') }] : [],
      })
    },
  )

  test.each<[string, Agent, object]>([
    ['left', dead('ada', 'left'), { '1 ada': 'archived archived' }],
    ['died just now', dead('ada', 'ended'), {}],
    ['died a while ago', dead('ada', 'silent', waits), {}],
  ])('is put away in silence if it was for a group: it %s', (_, gone, became) => {
    const seenByIt = { owner: 'ada', state: 'acked', viaGroup: true } as const
    const view = spaceOf([gone], mail(1, { to: ['all'] }, { owner: 'all' }, seenByIt))
    expect(due(view)).toMatchObject({ became, told: [] })
  })

  test('is its own if it was named, though its group was as well', () => {
    const view = spaceOf(
      [dead('ada', 'left')],
      mail(1, { to: ['ada', 'all'] }, { owner: 'all' }, { owner: 'ada', state: 'stored' }),
    )
    expect(due(view).became).toEqual({ '1 ada': 'dead dead' })
  })

  test('says nothing of what others have', () => {
    const view = spaceOf([dead('ada', 'left'), agent('bob')], mail(1, { to: ['bob'], from: 'ada' }))
    expect(due(view).drafts).toEqual([])
  })
})

describe('a claim that ran out', () => {
  const claimed = (
    attempts: number,
    claimUntil = now,
    state: ReceiptState = 'shown',
    fields: Partial<Agent> = {},
  ) =>
    spaceOf(
      [agent('ada', { roles: ['x'], ...fields })],
      mail(1, { to: ['role:x'] }, { owner: 'role:x', box: 'ada', state, attempts, claimUntil }),
    )

  test('gives the mail back to its role', () => {
    expect(due(claimed(1)).changes).toEqual([
      {
        ...{ id: idOf(1), seq: 1, rank: 1, owner: 'role:x', box: 'role:x', wasBox: 'ada' },
        ...{ state: 'stored', was: 'shown', attempts: 1 },
      },
    ])
    expect(receiptsIn(due(claimed(1)).drafts)).toMatchObject([
      { step: 'released', by: 'system', note: 'the claim ran out' },
    ])
  })

  test('is none while a millisecond is left', () => {
    expect(due(claimed(1, now + 1)).drafts).toEqual([])
  })

  test('is no failure, however often it happens', () => {
    expect(due(claimed(99))).toMatchObject({ became: { '1 role:x': 'released stored' }, told: [] })
    expect(due(claimed(99)).changes[0]).not.toHaveProperty('failures')
  })

  test('is none of work that was started: it lasts as long as its agent is there', () => {
    const started = (fields: Partial<Agent>) =>
      spaceOf(
        [agent('ada', { roles: ['x'], ...fields })],
        mail(1, { to: ['role:x'] }, { owner: 'role:x', box: 'ada', state: 'processing', attempts: 1 }),
      )
    expect(due(started(seen(23 * hour))).drafts).toEqual([])
    expect(due(started(seen(hour, { state: 'frozen' }))).drafts).toEqual([])
    expect(due(started(seen(25 * hour))).became).toEqual({ '1 role:x': 'released stored' })
  })

  test('says nothing of a failure: that stays with whoever tried', () => {
    expect(due(claimed(1, now - hour, 'failed')).drafts).toEqual([])
  })
})

describe('mail for one run of an agent', () => {
  const inRun = (generation: number) =>
    agent('ada', { session: { generation, startedAt: ago(0) }, lastSeenAt: ago(0) })
  const bound = mail(1, { generation: 2, createdAt: ago(0) })

  test.each<[number, string | undefined]>([
    [1, undefined],
    [2, undefined],
    [3, 'dead dead'],
  ])('is there in run %i: %s', (generation, became) => {
    expect(due(spaceOf([inRun(generation)], bound)).became['1 ada']).toBe(became)
  })

  test('is over with that run if it had seen it, and nobody is told: it had arrived', () => {
    const shown = mail(1, { generation: 2 }, { owner: 'ada', state: 'processing' })
    const { changes, told } = due(spaceOf([inRun(3)], shown))
    expect(changes).toMatchObject([{ was: 'processing', state: 'archived' }])
    expect(told).toEqual([])
  })

  test('is told to its sender with both runs', () => {
    expect(due(spaceOf([inRun(3)], bound)).told).toMatchObject([
      { to: ['bob'], body: expect.stringMatching(/generation 2 of ada.*now generation 3/) },
    ])
  })

  test('finished by that run stays finished', () => {
    const done = mail(1, { generation: 2 }, { owner: 'ada', state: 'archived' })
    expect(due(spaceOf([inRun(3)], done)).drafts).toEqual([])
  })
})

describe('mail whose life is over', () => {
  const over = (fields: Parameters<typeof mail>[1] = {}, ...receipts: ReceiptInput[]) =>
    mail(1, { expiresAt: iso(now), createdAt: ago(minute), ...fields }, ...receipts)

  test('has expired, and its sender is told', () => {
    expect(due(spaceOf([agent('ada')], over()))).toMatchObject({
      became: { '1 ada': 'expired expired' },
      told: [{ to: ['bob'], body: expect.stringContaining('before anybody read it') }],
    })
  })

  test('lives to its last millisecond', () => {
    expect(due(spaceOf([agent('ada')], over({ expiresAt: iso(now + 1) }))).drafts).toEqual([])
  })

  test('can be finished by whoever has seen it', () => {
    const view = spaceOf([agent('ada')], over({}, { owner: 'ada', state: 'shown' }))
    expect(due(view).drafts).toEqual([])
  })

  test('waits while its agent is frozen', () => {
    const view = spaceOf([agent('ada', { state: 'frozen' })], over())
    expect(due(view).drafts).toEqual([])
  })

  test('does not wait in the box of a role or a group because somebody is frozen', () => {
    const frozen = agent('ada', { state: 'frozen', roles: ['x'], tags: ['project:p'] })
    const view = spaceOf([frozen], over({ to: ['ada', 'role:x', 'project:p'] }))
    expect(due(view).became).toEqual({ '1 role:x': 'expired expired', '1 project:p': 'expired expired' })
  })

  test('of a group that nobody read is told to its sender', () => {
    expect(due(spaceOf([agent('ada')], over({ to: ['all'] })))).toMatchObject({
      became: { '1 all': 'expired expired' },
      told: [{ to: ['bob'] }],
    })
  })

  test('of a group that one has read has served', () => {
    const read = over({ to: ['all'] }, { owner: 'all' }, { owner: 'ada', state: 'archived' })
    expect(due(spaceOf([agent('ada')], read))).toMatchObject({
      became: { '1 all': 'expired expired' },
      told: [],
    })
  })

  test('of the system is nobody’s loss', () => {
    expect(due(spaceOf([agent('ada')], over({ from: 'system' })))).toMatchObject({
      became: { '1 ada': 'expired expired' },
      told: [],
    })
  })
})

const lead = agent('boss', { roles: ['lead'] })

describe('an ack that did not come', () => {
  const unacked = (fields: Partial<ReceiptInput> = {}, more: Parameters<typeof mail>[1] = {}) =>
    mail(
      1,
      { requiresAck: true, subject: 'Plan', ...more },
      { owner: 'ada', state: 'shown', ackBy: now, ...fields },
    )

  test('shows the mail again, with the same id', () => {
    const { changes, told, drafts } = due(spaceOf([agent('ada'), lead], unacked()))
    expect(changes).toEqual([
      {
        ...{ id: idOf(1), seq: 1, rank: 1, owner: 'ada', box: 'ada' },
        ...{ state: 'stored', was: 'shown', repeats: 1, ackBy: iso(now + 15 * minute) },
      },
    ])
    expect(receiptsIn(drafts)).toMatchObject([{ step: 'repeated', by: 'system' }])
    expect(told).toEqual([])
  })

  test('is none while a millisecond is left', () => {
    expect(due(spaceOf([agent('ada')], unacked({ ackBy: now + 1 }))).drafts).toEqual([])
  })

  test('is missed as well when the repeat is not even looked at', () => {
    const again = unacked({ state: 'stored', repeats: 1 })
    expect(due(spaceOf([agent('ada'), lead], again))).toMatchObject({
      became: { '1 ada': 'escalated stored' },
      told: [{ to: ['role:lead'] }],
    })
  })

  test('leaves the claim as it was', () => {
    const claim = { owner: 'role:x', box: 'ada', attempts: 2, claimUntil: now + minute }
    expect(due(spaceOf([agent('ada')], unacked(claim, { to: ['role:x'] }))).changes).toMatchObject([
      { owner: 'role:x', box: 'ada', attempts: 2, claimUntil: iso(now + minute), repeats: 1 },
    ])
  })

  test.each<[number, number, string]>([
    [0, 0, 'escalated shown'],
    [1, 0, 'repeated stored'],
    [1, 1, 'escalated shown'],
    [3, 2, 'repeated stored'],
    [3, 3, 'escalated shown'],
  ])('with %i repeats allowed, after %i: %s', (ackRepeats, repeats, became) => {
    const view = spaceOf([agent('ada'), lead], unacked({ repeats }))
    expect(due(view, withPolicy({ ackRepeats })).became).toEqual({ '1 ada': became })
  })

  test('after the repeats is told to the lead, who has as long again', () => {
    const { told, changes } = due(spaceOf([agent('ada'), lead], unacked({ repeats: 1 })))
    expect(told).toMatchObject([
      {
        from: 'system',
        to: ['role:lead'],
        type: 'escalation',
        priority: 'high',
        replyTo: idOf(1),
        // Not a word of the sender: whoever reads it takes it for ours.
        subject: 'ada has not acknowledged a message from bob',
        payload: {
          notice: 'ack',
          id: idOf(1),
          recipient: 'ada',
          level: escalation.lead,
          reason: 'no ack came',
        },
      },
    ])
    expect(changes).toMatchObject([
      { state: 'shown', was: 'shown', repeats: 1, level: escalation.lead, ackBy: iso(now + 15 * minute) },
    ])
  })

  test('after the lead is told to the person, and then left alone', () => {
    const { told, changes } = due(
      spaceOf([agent('ada'), lead], unacked({ repeats: 1, level: escalation.lead })),
    )
    expect(told).toMatchObject([{ to: ['user'], payload: { notice: 'ack', level: escalation.person } }])
    expect(changes).toMatchObject([{ level: escalation.person }])
    expect(changes[0]).not.toHaveProperty('ackBy')
  })

  test.each<[string, Agent[]]>([
    ['there is no lead', [agent('ada')]],
    ['the lead is gone', [agent('ada'), agent('boss', { roles: ['lead'], state: 'dead', gone: 'left' })]],
    ['it is the lead who has it', [agent('ada', { roles: ['coo'] }), lead]],
  ])('goes straight to the person when %s', (_, agents) => {
    const { told, changes } = due(spaceOf(agents, unacked({ repeats: 1 })))
    expect(told).toMatchObject([{ to: ['user'] }])
    expect(changes).toMatchObject([{ level: escalation.person }])
  })

  test('goes to the first of the leads that is there', () => {
    const agents = [agent('ada'), agent('cy', { roles: ['ceo'] }), agent('dan', { roles: ['orchestrator'] })]
    expect(due(spaceOf(agents, unacked({ repeats: 1 }))).told).toMatchObject([{ to: ['role:orchestrator'] }])
  })

  test('goes to whatever role leads here', () => {
    const agents = [agent('ada'), lead, agent('cy', { roles: ['mother'] })]
    const { told } = due(spaceOf(agents, unacked({ repeats: 1 })), withPolicy({ leads: ['mother'] }))
    expect(told).toMatchObject([{ to: ['role:mother'] }])
  })

  test('of the person ends there', () => {
    const view = spaceOf([lead], unacked({ owner: 'user', repeats: 1 }, { to: ['user'] }))
    expect(due(view)).toMatchObject({ told: [], changes: [{ level: escalation.person }] })
  })
})

describe('urgent mail that nobody reads', () => {
  const urgent = (ms: number, receipt: Partial<ReceiptInput> = {}, more: Parameters<typeof mail>[1] = {}) =>
    mail(1, { priority: 'urgent', createdAt: ago(ms), ...more }, { owner: 'ada', ...receipt })
  const agents = [agent('ada'), agent('bob'), lead]

  test.each<[string, number, number, string[]]>([
    ['not quite 5 min', 5 * minute - 1, escalation.none, []],
    ['5 min: the lead', 5 * minute, escalation.none, ['role:lead']],
    ['5 min, and the lead knows', 5 * minute, escalation.lead, []],
    ['10 min, and the lead knows: the person', 10 * minute, escalation.lead, ['user']],
    ['a day, and the person knows', 24 * hour, escalation.person, []],
  ])('%s', (_, ms, level, to) => {
    const { told, changes } = due(spaceOf(agents, urgent(ms, { level })))
    expect(told.flatMap((one) => one.to)).toEqual(to)
    expect(changes.map((change) => change.level)).toEqual(to.map(() => level + 1))
  })

  test('says what it is about', () => {
    expect(due(spaceOf(agents, urgent(5 * minute))).told).toMatchObject([
      {
        type: 'escalation',
        priority: 'urgent',
        subject: 'ada has not read an urgent message from bob',
        payload: { notice: 'unread', id: idOf(1), recipient: 'ada', reason: 'urgent and unread' },
      },
    ])
  })

  test.each<[string, Agent[], Partial<ReceiptInput>]>([
    ['there is no lead', [agent('ada')], {}],
    ['the recipient is the lead', [agent('ada', { roles: ['lead'] })], {}],
    ['the recipient is the role of a lead', [lead], { owner: 'role:lead' }],
  ])('goes straight to the person when %s', (_, here, receipt) => {
    const { told, changes } = due(spaceOf(here, urgent(5 * minute, receipt)))
    expect(told).toMatchObject([{ to: ['user'] }])
    expect(changes).toMatchObject([{ level: escalation.person }])
  })

  test('goes to the lead when it waits for an agent whose name merely ends like a role', () => {
    const view = spaceOf([lead], urgent(5 * minute, { owner: 'chieflead' }, { to: ['chieflead'] }))
    expect(due(view).told).toMatchObject([{ to: ['role:lead'] }])
  })

  test('of the person is told to nobody', () => {
    expect(due(spaceOf([lead], urgent(5 * minute, { owner: 'user' })))).toMatchObject({
      told: [],
      changes: [{ level: escalation.person }],
    })
  })

  test('stays what it was for its recipient', () => {
    expect(due(spaceOf(agents, urgent(5 * minute, { state: 'notified' }))).changes).toMatchObject([
      { owner: 'ada', box: 'ada', state: 'notified', was: 'notified' },
    ])
  })

  test.each(priorities.filter((priority) => priority !== 'urgent'))('is not what is %s', (priority) => {
    const view = spaceOf(agents, urgent(30 * minute, {}, { priority }))
    expect(due(view).drafts).toEqual([])
  })

  test('is not what was read', () => {
    expect(due(spaceOf(agents, urgent(24 * hour, { state: 'shown' }))).drafts).toEqual([])
  })

  test('is left alone where the space says so', () => {
    const off = withPolicy({ urgentAfterMs: 0, staleAfterMs: 0 })
    expect(due(spaceOf(agents, urgent(24 * hour)), off).drafts).toEqual([])
  })
})

describe('other mail that nobody reads', () => {
  /** A level at which nobody is told any more that mail is unread. */
  const isNever = (level: number) => level >= escalation.person

  const old = (ms: number, level: number = escalation.none) =>
    mail(1, { createdAt: ago(ms) }, { owner: 'ada', level })
  const agents = [agent('ada'), agent('bob'), lead]

  test('is marked as stale after an hour, and nobody is told', () => {
    const { drafts, changes } = due(spaceOf(agents, old(hour)))
    expect(receiptsIn(drafts)).toMatchObject([{ step: 'stale', by: 'system' }])
    expect(changes).toMatchObject([{ state: 'stored', was: 'stored', level: expect.toSatisfy(isNever) }])
    expect(messagesIn(drafts)).toEqual([])
  })

  test('is not stale a millisecond before', () => {
    expect(due(spaceOf(agents, old(hour - 1))).drafts).toEqual([])
  })

  test('is marked once', () => {
    expect(due(spaceOf(agents, old(24 * hour, escalation.person))).drafts).toEqual([])
  })

  test('is left alone where the space says so', () => {
    expect(due(spaceOf(agents, old(24 * hour)), withPolicy({ staleAfterMs: 0 })).drafts).toEqual([])
  })

  test('is what urgent mail becomes where nobody is to be told of it', () => {
    const view = spaceOf(agents, mail(1, { priority: 'urgent', createdAt: ago(hour) }))
    expect(due(view, withPolicy({ urgentAfterMs: 0 })).became).toEqual({ '1 ada': 'stale stored' })
  })
})

describe('one decision', () => {
  const agents = [dead('ada', 'left'), agent('bob'), agent('cy'), lead]
  const everything: Mail[] = [
    mail(1, {}, { owner: 'ada' }),
    mail(
      2,
      { to: ['role:x'] },
      { owner: 'role:x', box: 'ada', state: 'shown', attempts: 1, claimUntil: now },
    ),
    mail(3, { expiresAt: iso(now), priority: 'urgent', to: ['cy'] }),
    mail(4, { to: ['cy'], requiresAck: true }, { owner: 'cy', state: 'shown', ackBy: now }),
    mail(5, { to: ['cy'], priority: 'urgent' }),
    mail(6, { to: ['cy'], createdAt: ago(2 * hour) }),
    mail(7, { to: ['ada'], from: 'cy', expiresAt: iso(now), generation: 1, priority: 'urgent' }),
  ]

  test('changes each letter once, though several things are due with it', () => {
    const { changes } = due(spaceOf(agents, ...everything))
    const letters = changes.map(({ seq, owner }) => `${seq} ${owner}`)
    expect(letters.toSorted()).toEqual(
      everything.map(({ facts, receipts }) => `${facts.seq} ${receipts[0]!.owner}`),
    )
  })

  test('says who died, then tells, then changes: cut short, somebody is told twice rather than never', () => {
    const silent = agent('dan', seen(25 * hour))
    const kinds = due(spaceOf([...agents, silent], ...everything)).drafts.map(({ kind }) => kind)
    const order = ['agent', 'message', 'receipt']
    expect(kinds).toEqual(kinds.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)))
    expect(new Set(kinds)).toEqual(new Set(order))
  })

  test('tells a sender once of all its letters', () => {
    const view = spaceOf(
      agents,
      mail(1, { createdAt: ago(0) }),
      mail(2, { createdAt: ago(0) }),
      mail(3, { createdAt: ago(0), from: 'cy' }),
      mail(4, { createdAt: ago(0), to: ['cy'], expiresAt: iso(now) }),
    )
    const bounced = due(view).told.map(({ to, payload }) => ({
      to,
      letters: (payload as { undelivered: { id: string; to: string }[] }).undelivered.map((one) => [
        one.id,
        one.to,
      ]),
    }))
    expect(bounced).toEqual([
      {
        to: ['bob'],
        letters: [
          [idOf(1), 'ada'],
          [idOf(2), 'ada'],
          [idOf(4), 'cy'],
        ],
      },
      { to: ['cy'], letters: [[idOf(3), 'ada']] },
    ])
  })

  test('lists twenty letters in words and all of them in the payload', () => {
    const many = Array.from({ length: 25 }, (_, at) => mail(at + 1, { createdAt: ago(0) }))
    const [told, ...rest] = due(spaceOf(agents, ...many)).told
    expect(rest).toEqual([])
    expect(told).toMatchObject({ subject: '25 messages were not delivered' })
    expect(told!.body.match(/^- 019a/gm)).toHaveLength(20)
    expect(told!.body).toContain('and 5 more')
    expect((told!.payload as { undelivered: object[] }).undelivered).toHaveLength(25)
  })

  test('does not tell the system of its own mail', () => {
    const view = spaceOf(agents, mail(1, { from: 'system', createdAt: ago(0) }))
    expect(due(view)).toMatchObject({ became: { '1 ada': 'dead dead' }, told: [] })
  })

  test.each<[string, Mail]>([
    ['urgent mail that has just expired', mail(1, { to: ['cy'], priority: 'urgent', expiresAt: iso(now) })],
    ['urgent mail to an agent that has left', mail(1, { to: ['ada'], priority: 'urgent' })],
    [
      'mail without an ack from an agent that has left',
      mail(1, { requiresAck: true }, { owner: 'ada', state: 'shown', ackBy: now, repeats: 1 }),
    ],
    [
      'mail without an ack whose claim ran out as well',
      mail(
        1,
        { to: ['role:x'], requiresAck: true },
        { owner: 'role:x', box: 'cy', state: 'shown', attempts: 1, claimUntil: now, ackBy: now, repeats: 1 },
      ),
    ],
  ])('escalates nothing that something else became of: %s', (_, one) => {
    const types = due(spaceOf(agents, one)).told.map(({ type }) => type)
    expect(types).not.toContain('escalation')
  })
})
