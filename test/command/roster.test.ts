import { describe, expect, test } from 'vitest'
import { decideJoin, decideLeave, decideUpdate, findAgent, requireAgent } from '../../src/command/roster.ts'
import { agent, sampleTime } from '../model/samples.ts'
import { context, directoryOf } from './fake-view.ts'
import { refusal } from './refusal.ts'

const at = '2026-11-15T10:00:00.000Z'
const ada = agent('ada', {
  roles: ['architect'],
  tags: ['project:x'],
  session: { generation: 3, startedAt: sampleTime },
})
const view = {
  directory: directoryOf(ada, agent('ice', { state: 'frozen' }), agent('gone', { state: 'dead' })),
}

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
    const [draft] = decideJoin(view, 'ada', {}, context())
    expect(draft?.agent).toMatchObject({
      roles: ['architect'],
      tags: ['project:x'],
      session: { generation: 4, startedAt: at },
    })
  })

  test('again with roles replaces them', () => {
    const [draft] = decideJoin(view, 'ada', { roles: [], tags: ['domain:y'] }, context())
    expect(draft?.agent).toMatchObject({ roles: [], tags: ['domain:y'] })
  })

  test('forgets the process of the run before', () => {
    const before = agent('ada', { session: { generation: 1, startedAt: sampleTime, pid: 7, pidStart: '99' } })
    const [draft] = decideJoin({ directory: directoryOf(before) }, 'ada', {}, context())
    expect(draft?.agent.session).toEqual({ generation: 2, startedAt: at })
  })

  test.each([
    ['ice', 'resumed'],
    ['gone', 'joined'],
  ])('%s comes back: %s', (name, change) => {
    expect(decideJoin(view, name, {}, context())).toMatchObject([
      { change, agent: { state: 'alive', session: { generation: 2 } } },
    ])
  })

  test('names a role or a tag once', () => {
    const [draft] = decideJoin(view, 'bob', { roles: ['a', 'a'], tags: ['n:x', 'n:x'] }, context())
    expect(draft?.agent).toMatchObject({ roles: ['a'], tags: ['n:x'] })
  })

  test.each<[string, string, object]>([
    ['a name that is none', 'a:b', {}],
    ['a reserved name', 'all', {}],
    ['the name of the system', 'system', {}],
    ['a role that is none', 'bob', { roles: ['a:b'] }],
    ['a tag that is none', 'bob', { tags: ['project'] }],
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
    ['a tag that is none', { addTags: ['x'] }],
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
