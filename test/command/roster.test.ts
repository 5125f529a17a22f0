import { describe, expect, test } from 'vitest'
import {
  decideJoin,
  decideLeave,
  decideSeed,
  decideUpdate,
  findAgent,
  requireAgent,
} from '../../src/command/roster.ts'
import type { ReceiptState } from '../../src/model/receipt.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, idOf, sampleTime } from '../helpers/samples.ts'
import {
  agentsIn,
  context,
  directoryOf,
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

const at = '2026-11-15T10:00:00.000Z'
const ada = agent('ada', {
  roles: ['architect'],
  tags: ['project:x'],
  session: { generation: 3, startedAt: sampleTime },
})
const view = spaceOf([ada, agent('ice', { state: 'frozen' }), agent('gone', { state: 'dead' })])

describe('joining', () => {
  test('starts the first run of an agent', () => {
    const input = {
      roles: ['tester'],
      tags: ['project:x'],
      session: { pid: 7, pidStart: '99', host: 'h', client: 'codex' },
    }
    expect(decideJoin(view, 'bob', input, context())).toEqual([
      {
        kind: 'agent',
        change: 'joined',
        by: 'bob',
        agent: {
          name: 'bob',
          state: 'alive',
          roles: ['tester'],
          tags: ['project:x'],
          session: { generation: 1, startedAt: at, pid: 7, pidStart: '99', host: 'h', client: 'codex' },
          lastSeenAt: at,
        },
      },
    ])
  })

  test('again starts the next run, with the roles and tags it had', () => {
    const [draft] = agentsIn(decideJoin(view, 'ada', {}, context()))
    expect(draft?.agent).toMatchObject({
      roles: ['architect'],
      tags: ['project:x'],
      session: { generation: 4, startedAt: at },
    })
  })

  test('again with roles replaces them', () => {
    const [draft] = agentsIn(decideJoin(view, 'ada', { roles: [], tags: ['domain:y'] }, context()))
    expect(draft?.agent).toMatchObject({ roles: [], tags: ['domain:y'] })
  })

  test('forgets the process of the run before', () => {
    const before = agent('ada', { session: { generation: 1, startedAt: sampleTime, pid: 7, pidStart: '99' } })
    const [draft] = agentsIn(decideJoin(spaceOf([before]), 'ada', {}, context()))
    expect(draft?.agent.session).toEqual({ generation: 2, startedAt: at })
  })

  test.each<[string, string, number]>([
    // A frozen agent goes on with the same run, so that what was sent to that arrives.
    ['ice', 'resumed', 1],
    ['gone', 'joined', 2],
  ])('%s comes back: %s, run %i', (name, change, generation) => {
    expect(decideJoin(view, name, {}, context())).toMatchObject([
      { change, agent: { state: 'alive', session: { generation } } },
    ])
  })

  test.each<[string, string | undefined, string | undefined, string]>([
    ['the same session', 'one', 'one', 'resumed 1'],
    ['no session', 'one', undefined, 'resumed 1'],
    ['a session, where none was known', undefined, 'one', 'resumed 1'],
    ['another session', 'one', 'two', 'joined 2'],
  ])('a frozen agent that comes back with %s', (_, before, session, came) => {
    const frozen = agent('ice', {
      state: 'frozen',
      session: { generation: 1, startedAt: sampleTime, ...(before === undefined ? {} : { id: before }) },
    })
    const input = session === undefined ? {} : { session: { id: session } }
    const [draft] = agentsIn(decideJoin(spaceOf([frozen]), 'ice', input, context()))
    expect(`${draft!.change} ${draft!.agent.session.generation}`).toBe(came)
    expect(draft!.agent.session.id).toBe(session ?? before)
  })

  test('names a role or a tag once', () => {
    const [draft] = agentsIn(decideJoin(view, 'bob', { roles: ['a', 'a'], tags: ['n:x', 'n:x'] }, context()))
    expect(draft?.agent).toMatchObject({ roles: ['a'], tags: ['n:x'] })
  })

  test.each<[string, string, object]>([
    ['a name that is none', 'a:b', {}],
    ['a reserved name', 'all', {}],
    ['the name of the system', 'system', {}],
    ['a role that is none', 'bob', { roles: ['a:b'] }],
    ['a tag that is none', 'bob', { tags: ['role:x'] }],
    ['roles that are no list', 'bob', { roles: 'tester' }],
    ['a pid that is none', 'bob', { session: { pid: 1.5 } }],
    ['a note that is no text', 'bob', { note: 5 }],
  ])('with %s is refused', (_, name, input) => {
    expect(refusal(() => decideJoin(view, name, input, context())).code).toBe('invalid')
  })
})

describe('an update', () => {
  test('adds and removes roles and tags, in the same run', () => {
    const input = {
      addRoles: ['tester'],
      removeRoles: ['architect'],
      addTags: ['domain:y'],
      removeTags: ['project:x'],
    }
    expect(decideUpdate(view, 'ada', input, context())).toMatchObject([
      {
        change: 'updated',
        by: 'ada',
        agent: { roles: ['tester'], tags: ['domain:y'], session: { generation: 3 }, lastSeenAt: at },
      },
    ])
  })

  test('keeps what it does not name', () => {
    const [draft] = decideUpdate(view, 'ada', { state: 'waiting', note: 'for bob' }, context())
    expect(draft?.agent).toMatchObject({
      state: 'waiting',
      note: 'for bob',
      roles: ['architect'],
      tags: ['project:x'],
    })
  })

  test('adding what is there, or removing what is not, changes nothing', () => {
    const [draft] = decideUpdate(view, 'ada', { addRoles: ['architect'], removeTags: ['n:none'] }, context())
    expect(draft?.agent).toMatchObject({ roles: ['architect'], tags: ['project:x'] })
  })

  test('of the person makes an entry for it', () => {
    expect(decideUpdate(view, 'user', { addTags: ['project:x'] }, context())).toMatchObject([
      { agent: { name: 'user', state: 'alive', tags: ['project:x'] } },
    ])
  })

  test('of nobody is refused, with the way to join', () => {
    expect(refusal(() => decideUpdate(view, 'zoe', {}, context()))).toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('mailbox join zoe'),
    })
  })

  test.each<[string, object]>([
    ['a role that is none', { addRoles: [''] }],
    ['a tag that is none', { addTags: ['x:'] }],
    ['a state one does not choose', { state: 'dead' }],
    ['a state nobody knows', { state: 'asleep' }],
  ])('with %s is refused', (_, input) => {
    expect(refusal(() => decideUpdate(view, 'ada', input, context())).code).toBe('invalid')
  })
})

describe('leaving', () => {
  test('for good', () => {
    expect(decideLeave(view, 'ada', false, context())).toMatchObject([
      {
        change: 'left',
        by: 'ada',
        agent: { state: 'dead', roles: ['architect'], session: { generation: 3 } },
      },
    ])
  })

  test('frozen, to come back', () => {
    expect(decideLeave(view, 'ada', true, context())).toMatchObject([
      { change: 'frozen', agent: { state: 'frozen' } },
    ])
  })

  test('is not for the person', () => {
    expect(refusal(() => decideLeave(view, 'user', false, context())).code).toBe('not_permitted')
  })

  test('is not for somebody who never came', () => {
    expect(refusal(() => decideLeave(view, 'zoe', false, context())).code).toBe('not_found')
  })
})

describe('finding', () => {
  test('the person is in every roster', () => {
    expect(findAgent(directoryOf(), 'user')).toMatchObject({ name: 'user', state: 'alive' })
    expect(findAgent(directoryOf(), 'ada')).toBeUndefined()
  })

  test('a near name is suggested', () => {
    expect(refusal(() => requireAgent(view.directory, 'adda')).hint).toContain('ada')
  })
})

describe('coming back from the dead', () => {
  const gone = (how: 'left' | 'ended') => agent('ada', { state: 'dead', gone: how, roles: ['x'] })
  const join = (one: Mail, how: 'left' | 'ended' = 'left', at = context()) =>
    decideJoin(spaceOf([gone(how), agent('bob')], one), 'ada', {}, at)
  const letter = (state: ReceiptState, more: Partial<ReceiptInput> = {}) =>
    mail(10, {}, { owner: 'ada', state, ...more })

  test.each(['left', 'ended'] as const)('an agent that is gone (%s) has its dead letters again', (how) => {
    expect(receiptsIn(join(letter('dead'), how))).toEqual([
      {
        kind: 'receipt',
        step: 'revived',
        by: 'system',
        note: 'ada is back',
        changes: [{ id: idOf(10), seq: 10, rank: 1, owner: 'ada', box: 'ada', state: 'stored', was: 'dead' }],
      },
    ])
  })

  test.each<ReceiptState>(['shown', 'acked', 'processing'])('with the state that they had: %s', (before) => {
    // What was read has lived as long as it had to.
    expect(receiptsIn(join(letter('dead', { before, expiresAt: now })))).toMatchObject([
      { step: 'revived', changes: [{ state: before, was: 'dead' }] },
    ])
  })

  test.each<[string, Mail]>([
    ['what had expired', letter('expired')],
    ['what would have expired since', letter('dead', { expiresAt: now })],
    ['what was for an earlier run', mail(10, { generation: 1 }, { owner: 'ada', state: 'dead' })],
    ['what has failed too often', letter('dead', { failures: 5 })],
    ['what is put away', letter('archived')],
    ['what it had withdrawn', letter('withdrawn')],
    ['what another has', mail(10, { to: ['cy'] }, { owner: 'cy', state: 'dead' })],
    ['a dead letter of its role', mail(10, { to: ['role:x'] }, { owner: 'role:x', state: 'dead' })],
  ])('but not %s', (_, one) => {
    expect(receiptsIn(join(one))).toEqual([])
  })

  test('with the attempts, failures and repeats they had', () => {
    expect(receiptsIn(join(letter('dead', { attempts: 9, failures: 2, repeats: 1 })))).toMatchObject([
      { changes: [{ attempts: 9, failures: 2, repeats: 1 }] },
    ])
  })

  test('while they live, to the last millisecond', () => {
    expect(receiptsIn(join(letter('dead', { expiresAt: now + 1 })))).toHaveLength(1)
  })

  test('although mail is tried only once here', () => {
    expect(receiptsIn(join(letter('dead'), 'left', withPolicy({ maxAttempts: 1 })))).toHaveLength(1)
  })

  test('is no news for an agent that was there all the time', () => {
    const view = spaceOf([agent('ada')], letter('dead'))
    expect(receiptsIn(decideJoin(view, 'ada', {}, context()))).toEqual([])
  })
})

describe('a new run', () => {
  const claim = (attempts: number, state: ReceiptState = 'processing') =>
    mail(10, { to: ['role:x'] }, { owner: 'role:x', box: 'ada', state, attempts, claimUntil: now + hour })
  const read = mail(10, { to: ['role:x'] }, { owner: 'role:x', box: 'ada', state: 'shown', attempts: 1 })

  test('gives back what the one before had claimed', () => {
    const drafts = decideJoin(spaceOf([ada], claim(1)), 'ada', {}, context())
    expect(receiptsIn(drafts)).toMatchObject([
      { step: 'released', changes: [{ owner: 'role:x', box: 'role:x', wasBox: 'ada', state: 'stored' }] },
    ])
  })

  test('has not failed at it, however often that happens', () => {
    const drafts = decideJoin(spaceOf([ada], claim(99)), 'ada', {}, context())
    expect(receiptsIn(drafts)).toMatchObject([{ changes: [{ state: 'stored' }] }])
    expect(receiptsIn(drafts)[0]!.changes[0]).not.toHaveProperty('failures')
    expect(messagesIn(drafts)).toEqual([])
  })

  test('has failed at what the one before had started, if that died', () => {
    const died = (state: ReceiptState) =>
      receiptsIn(decideJoin(spaceOf([ada], claim(1, state)), 'ada', {}, context(), new Set(['ada 3'])))
    expect(died('processing')).toMatchObject([{ changes: [{ state: 'stored', failures: 1 }] }])
    expect(died('shown')[0]!.changes[0]).not.toHaveProperty('failures')
  })

  test('gives nothing back that the one before had only read', () => {
    expect(receiptsIn(decideJoin(spaceOf([ada], read), 'ada', {}, context()))).toEqual([])
  })

  test('keeps its own mail, and what it has of a group', () => {
    const view = spaceOf(
      [ada],
      mail(10, { to: ['ada', 'all'] }, { owner: 'ada', state: 'shown' }, { owner: 'all' }),
    )
    expect(receiptsIn(decideJoin(view, 'ada', {}, context()))).toEqual([])
  })
})

describe('coming back from being frozen', () => {
  const frozen = agent('ada', { state: 'frozen', lastSeenAt: iso(now - 10 * hour) })
  const join = (...mails: Mail[]) => decideJoin(spaceOf([frozen], ...mails), 'ada', {}, context())
  const lives = { createdAt: iso(now - 11 * hour), expiresAt: iso(now - 9 * hour) }

  test('an agent finds its mail with all the life it had', () => {
    const drafts = join(mail(10, lives))
    expect(drafts.map(({ kind }) => kind)).toEqual(['agent', 'receipt'])
    expect(receiptsIn(drafts)).toEqual([
      {
        kind: 'receipt',
        step: 'extended',
        by: 'system',
        note: 'ada was away',
        changes: [
          {
            ...{ id: idOf(10), seq: 10, rank: 1, owner: 'ada', box: 'ada', state: 'stored', was: 'stored' },
            expiresAt: iso(now + hour),
          },
        ],
      },
    ])
  })

  test('what came while it was frozen waited only since then', () => {
    const late = { createdAt: iso(now - 2 * hour), expiresAt: iso(now - hour) }
    expect(receiptsIn(join(mail(10, late)))).toMatchObject([{ changes: [{ expiresAt: iso(now + hour) }] }])
  })

  test('what wants an ack still wants it', () => {
    const again = { owner: 'ada', repeats: 1, ackBy: now + minute }
    expect(receiptsIn(join(mail(10, { ...lives, requiresAck: true }, again)))).toMatchObject([
      { changes: [{ repeats: 1, ackBy: iso(now + minute) }] },
    ])
  })

  test.each<[string, Mail]>([
    ['lives for ever', mail(10, {})],
    ['was seen', mail(10, lives, { owner: 'ada', state: 'shown' })],
    ['is finished', mail(10, lives, { owner: 'ada', state: 'archived' })],
    ['is a role’s', mail(10, { ...lives, to: ['role:x'] })],
    ['is a group’s', mail(10, { ...lives, to: ['all'] })],
    ['had expired before', mail(10, lives, { owner: 'ada', state: 'expired' })],
    [
      'is a role’s, claimed and shown again',
      mail(
        10,
        { ...lives, to: ['role:x'], requiresAck: true },
        { owner: 'role:x', box: 'ada', state: 'stored', repeats: 1, attempts: 1, claimUntil: now + minute },
      ),
    ],
  ])('nothing is done for mail that %s', (_, one) => {
    expect(receiptsIn(join(one))).toEqual([])
  })

  test('keeps the attempts and repeats of its mail', () => {
    expect(receiptsIn(join(mail(10, lives, { owner: 'ada', attempts: 2, repeats: 1 })))).toMatchObject([
      { changes: [{ attempts: 2, repeats: 1 }] },
    ])
  })

  test.each<[string, () => ReturnType<typeof decideLeave>]>([
    ['freezing once more', () => decideLeave(spaceOf([frozen]), 'ada', true, context())],
    ['an update', () => decideUpdate(spaceOf([frozen]), 'ada', { addTags: ['project:x'] }, context())],
    ['a heartbeat', () => decideUpdate(spaceOf([frozen]), 'ada', {}, context())],
    ['a seed', () => decideSeed(spaceOf([frozen]), 'ada', 'swarm:dev', context())],
  ])('%s does not change since when it is frozen', (_, decide) => {
    expect(decide()).toMatchObject([{ agent: { state: 'frozen', lastSeenAt: frozen.lastSeenAt } }])
  })
})

describe('the members of a swarm', () => {
  test('are expected: frozen, before their first run', () => {
    expect(decideSeed(view, 'dev/tester', 'swarm:dev', context())).toEqual([
      {
        kind: 'agent',
        change: 'frozen',
        by: 'system',
        agent: {
          name: 'dev/tester',
          state: 'frozen',
          roles: [],
          tags: ['swarm:dev'],
          session: { generation: 0, startedAt: at },
          lastSeenAt: at,
        },
      },
    ])
  })

  test('who are here already only get the tag', () => {
    expect(decideSeed(view, 'ada', 'swarm:dev', context())).toEqual([
      { kind: 'agent', change: 'updated', by: 'system', agent: { ...ada, tags: ['project:x', 'swarm:dev'] } },
    ])
  })

  test('are named once, however often they are seeded', () => {
    const seeded = spaceOf([agent('ada', { tags: ['swarm:dev'] })])
    expect(decideSeed(seeded, 'ada', 'swarm:dev', context())).toMatchObject([
      { agent: { tags: ['swarm:dev'] } },
    ])
  })

  test('start with run 1', () => {
    const seeded = spaceOf([
      agent('dev/tester', { state: 'frozen', session: { generation: 0, startedAt: sampleTime } }),
    ])
    expect(agentsIn(decideJoin(seeded, 'dev/tester', {}, context()))).toMatchObject([
      { change: 'joined', agent: { session: { generation: 1 } } },
    ])
  })

  test.each(['a:b', 'all'])('cannot be called %s', (name) => {
    expect(refusal(() => decideSeed(view, name, 'swarm:dev', context())).code).toBe('invalid')
  })
})

describe('a dead agent', () => {
  test('that has left has to join again before it changes anything', () => {
    const left = spaceOf([agent('ada', { state: 'dead', gone: 'left' })])
    expect(refusal(() => decideUpdate(left, 'ada', {}, context())).code).toBe('conflict')
  })

  test('can be frozen, and has its dead letters again when it resumes', () => {
    const [frozen] = agentsIn(
      decideLeave(spaceOf([agent('ada', { state: 'dead', gone: 'ended' })]), 'ada', true, context()),
    )
    const back = spaceOf([frozen!.agent], mail(10, {}, { owner: 'ada', state: 'dead' }))
    expect(receiptsIn(decideJoin(back, 'ada', {}, context()))).toMatchObject([{ step: 'revived' }])
  })
})
