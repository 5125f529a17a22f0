import { describe, expect, test } from 'vitest'
import { Directory } from '../../src/model/directory.ts'
import type { Entry } from '../../src/model/entry.ts'
import { agent, joined, moved, sent } from '../helpers/samples.ts'

function fold(...entries: Entry[]): Directory {
  const directory = new Directory()
  for (const entry of entries) directory.fold(entry)
  return directory
}

const nothing = { low: 0, normal: 0, high: 0, urgent: 0 }

describe('the directory as a fold of the journal', () => {
  test('knows everybody as they are now', () => {
    const directory = fold(
      joined(1, agent('ada', { roles: ['architect'] })),
      joined(2, agent('ada', { roles: [], tags: ['project:x'] })),
    )
    expect(directory.agents.get('ada')).toMatchObject({ roles: [], tags: ['project:x'] })
    expect(directory.seq).toBe(2)
  })

  test('an entry folded twice counts once', () => {
    const entry = sent(1, { to: ['ada'] })
    expect(fold(entry, entry).unread('ada')).toEqual({ ...nothing, normal: 1 })
  })

  test('tells a role that somebody holds who is not dead', () => {
    const directory = fold(
      joined(1, agent('bob', { roles: ['x', 'w'], state: 'frozen' })),
      joined(2, agent('cy', { roles: ['x', 'z'], state: 'dead' })),
      joined(3, agent('dan', { roles: ['y'] })),
      joined(4, agent('bob', { roles: ['x'], state: 'frozen' })),
    )
    expect(['w', 'x', 'y', 'z'].filter((role) => directory.isHeld(role))).toEqual(['x', 'y'])
    expect(['w', 'x', 'y', 'z'].filter((role) => directory.knowsRole(role))).toEqual(['x', 'y', 'z'])
  })

  test('lists everybody by whether they are here, frozen or dead', () => {
    const directory = fold(
      joined(1, agent('ada', { state: 'idle' })),
      joined(2, agent('bob', { state: 'dead' })),
      joined(3, agent('cy', { state: 'frozen' })),
      joined(4, agent('bob')),
      joined(5, agent('ada', { state: 'dead' })),
    )
    const names = [directory.here, directory.frozen, directory.dead].map((group) => [...group.keys()])
    expect(names).toEqual([['bob'], ['cy'], ['ada']])
  })

  test('knows a role that only the dead hold', () => {
    const directory = fold(joined(1, agent('ada', { roles: ['x'], state: 'dead' })))
    expect(directory.knowsRole('x')).toBe(true)
    expect(directory.knowsRole('y')).toBe(false)
    expect(directory.isHeld('x')).toBe(false)
  })

  test('tells a tag that somebody has who is not dead', () => {
    const directory = fold(
      joined(1, agent('ada', { tags: ['project:x'] })),
      joined(2, agent('bob', { tags: ['project:y'], state: 'dead' })),
    )
    expect(directory.isTagged('project:x')).toBe(true)
    expect(directory.isTagged('project:y')).toBe(false)
  })

  test('counts mail in every box it went to, by priority', () => {
    const directory = fold(
      sent(1, { to: ['ada', 'role:x'], priority: 'urgent' }),
      sent(2, { to: ['ada'], priority: 'low' }),
    )
    expect(directory.unread('ada')).toEqual({ ...nothing, urgent: 1, low: 1 })
    expect(directory.unread('role:x')).toEqual({ ...nothing, urgent: 1 })
    expect(directory.unread('bob')).toEqual(nothing)
  })

  test('mail to a swarm and as a broadcast to it is in one box, once', () => {
    const directory = fold(sent(1, { to: ['swarm:dev', 'broadcast:dev'] }))
    expect(directory.unread('swarm:dev')).toEqual({ ...nothing, normal: 1 })
    expect(directory.unread('broadcast:dev')).toEqual(nothing)
  })

  test('mail that was shown is no longer unread but still unhandled', () => {
    const directory = fold(sent(1, { to: ['ada'] }), moved(2, { seq: 1, was: 'stored', state: 'shown' }))
    expect(directory.unread('ada')).toEqual(nothing)
    expect(directory.unhandled('ada')).toBe(1)
  })

  test('finished mail counts nowhere', () => {
    const directory = fold(sent(1, { to: ['ada'] }), moved(2, { seq: 1, was: 'stored', state: 'archived' }))
    expect(directory.unhandled('ada')).toBe(0)
    expect(directory.tallies.get('ada')).toEqual(new Array(12).fill(0))
    directory.fold(moved(3, { seq: 1, was: 'archived', state: 'archived' }))
    expect(directory.tallies.get('ada')).toEqual(new Array(12).fill(0))
    expect(directory.unhandled('nobody')).toBe(0)
  })

  test('a claim moves mail from the box of the role to that of the agent, and a release back', () => {
    const claim = moved(2, {
      seq: 1,
      owner: 'role:x',
      wasBox: 'role:x',
      box: 'ada',
      was: 'stored',
      state: 'shown',
    })
    const release = moved(3, {
      seq: 1,
      owner: 'role:x',
      wasBox: 'ada',
      box: 'role:x',
      was: 'shown',
      state: 'stored',
    })
    const claimed = fold(sent(1, { to: ['role:x'] }), claim)
    expect([claimed.unhandled('role:x'), claimed.unhandled('ada')]).toEqual([0, 1])
    const released = fold(sent(1, { to: ['role:x'] }), claim, release)
    expect([released.unhandled('role:x'), released.unhandled('ada')]).toEqual([1, 0])
    expect(released.unread('role:x').normal).toBe(1)
  })

  test('the first sight of group mail adds to the box of the one who saw it', () => {
    const directory = fold(sent(1, { to: ['all'] }), moved(2, { seq: 1, owner: 'ada', state: 'shown' }))
    expect(directory.unhandled('ada')).toBe(1)
    expect(directory.unread('all').normal).toBe(1)
  })

  test('receipts of mail that was removed with the oldest segments count for nothing', () => {
    const directory = fold(
      moved(11, { seq: 3, state: 'shown', was: 'stored' }),
      sent(12, { to: ['ada'] }),
      moved(13, { seq: 3, state: 'archived', was: 'shown' }),
      moved(14, { seq: 12, state: 'shown', was: 'stored' }),
    )
    expect(directory.unread('ada')).toEqual(nothing)
    expect(directory.unhandled('ada')).toBe(1)
  })
})

describe('what a sender sent lately', () => {
  const minute = 60_000
  const directoryAt = (...times: number[]) => {
    const directory = new Directory({ countsSends: true })
    for (const at of times) directory.noteSend('ada', at)
    return directory
  }

  test('is what it sent within a minute', () => {
    const directory = directoryAt(0, 1, 2)
    expect([minute - 1, minute, minute + 1, minute + 2].map((at) => directory.sentLately('ada', at))).toEqual(
      [3, 2, 1, 0],
    )
    expect(directory.sentLately('bob', 0)).toBe(0)
  })

  test('is counted from the journal, if there is a limit', () => {
    const at = '2026-11-15T10:00:00.000Z'
    for (const countsSends of [true, false]) {
      const directory = new Directory({ countsSends })
      directory.fold({ ...sent(1, { from: 'ada' }), at })
      expect(directory.sentLately('ada', Date.parse(at))).toBe(countsSends ? 1 : 0)
    }
    expect(fold({ ...sent(1, { from: 'ada' }), at }).sentLately('ada', Date.parse(at))).toBe(0)
  })

  test('does not fill the memory when nobody asks', () => {
    const directory = directoryAt()
    for (let n = 0; n < 1_024; n++) directory.noteSend('ada', n < 1_023 ? 0 : 2 * minute)
    expect(directory.sends.get('ada')).toEqual([2 * minute])
  })
})

describe('when an agent was seen', () => {
  const later = '2026-11-15T12:00:00.000Z'
  const ada = agent('ada')

  test.each<[string, Entry, boolean]>([
    ['a message of it', sent(2, { from: 'ada' }), true],
    ['a receipt of it', moved(2, { seq: 1, state: 'shown' }), true],
    ['a change of its own', joined(2, ada), true],
    ['a message to it', sent(2, { from: 'bob', to: ['ada'] }), false],
    ['a torn write', { kind: 'torn', seq: 2, at: later, offset: 0, bytes: 1, digest: '' }, false],
  ])('%s tells', (_, entry, tells) => {
    const directory = fold(joined(1, ada), { ...entry, at: later })
    expect(directory.seenAt(ada)).toBe(Date.parse(tells ? later : ada.lastSeenAt))
    expect([...directory.seen.keys()].every((name) => typeof name === 'string')).toBe(true)
  })

  test('is never earlier than its record says', () => {
    const directory = fold({ ...sent(1, { from: 'ada' }), at: '2020-01-01T00:00:00.000Z' })
    expect(directory.seenAt(ada)).toBe(Date.parse(ada.lastSeenAt))
  })
})

describe('the counts of a box', () => {
  const group = { seq: 1, owner: 'ada', viaGroup: true } as const

  test('leave out group mail where they say so, and end at nothing', () => {
    const shown = fold(sent(1, { to: ['all'] }), moved(2, { ...group, state: 'shown' }))
    expect([shown.unhandled('ada'), shown.isEmpty('ada')]).toEqual([0, false])
    shown.fold(moved(3, { ...group, was: 'shown', state: 'archived' }))
    expect(shown.isEmpty('ada')).toBe(true)
    expect(shown.isEmpty('nobody')).toBe(true)
  })

  test('keep priorities apart, unread and open', () => {
    const urgent = { seq: 1, rank: 3 } as const
    const directory = fold(
      sent(1, { to: ['ada'], priority: 'urgent' }),
      sent(2, { to: ['ada'], priority: 'high' }),
      moved(3, { ...urgent, was: 'stored', state: 'shown' }),
    )
    expect(directory.unread('ada')).toEqual({ ...nothing, high: 1 })
    expect(directory.unhandled('ada')).toBe(2)
    expect(directory.tallies.get('ada')).toEqual([0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0])
  })

  test('know the oldest message', () => {
    expect(fold(joined(1, agent('ada')), moved(2, { seq: 1, state: 'shown' })).firstMessage).toBeUndefined()
    expect(fold(joined(1, agent('ada')), sent(2), sent(3)).firstMessage).toBe(2)
  })
})

describe('what the directory knows of roles, tags and sessions', () => {
  const directory = fold(
    joined(
      1,
      agent('ada', {
        roles: ['dev', 'ops'],
        tags: ['project:x'],
        session: { generation: 1, startedAt: '', id: 's1' },
      }),
    ),
    joined(
      2,
      agent('bob', { roles: ['dev'], state: 'frozen', session: { generation: 1, startedAt: '', id: 's2' } }),
    ),
    joined(
      3,
      agent('cy', {
        roles: ['dev', 'old'],
        state: 'dead',
        gone: 'left',
        session: { generation: 1, startedAt: '', id: 's1' },
      }),
    ),
    joined(
      4,
      agent('dan', { roles: ['dev'], state: 'idle', session: { generation: 1, startedAt: '', id: 's3' } }),
    ),
    joined(
      5,
      agent('eve', { state: 'dead', gone: 'ended', session: { generation: 1, startedAt: '', id: 's4' } }),
    ),
  )

  test('are who is here and holds a role', () => {
    expect(directory.holdersHere('dev')).toEqual(['ada', 'dan'])
    expect(directory.holdersHere('old')).toEqual([])
    expect(directory.holdersHere('none')).toEqual([])
    expect(directory.hasOtherHolder('dev', 'ada')).toBe(true)
    expect(directory.hasOtherHolder('ops', 'ada')).toBe(false)
    expect(directory.hasOtherHolder('ops', 'bob')).toBe(true)
  })

  test('are all roles and tags that anybody has', () => {
    expect([directory.roles, directory.tags]).toEqual([['dev', 'ops', 'old'], ['project:x']])
    const after = fold(joined(1, agent('ada', { roles: ['dev'], tags: ['a:b'] })), joined(2, agent('ada')))
    expect([after.roles, after.tags]).toEqual([[], []])
  })

  test('are the agents of a session, the living first', () => {
    const names = (id: string) => directory.ofSession(id).map(({ name }) => name)
    expect([names('s1'), names('s2'), names('s4'), names('s9')]).toEqual([['ada'], ['bob'], ['eve'], []])
  })
})

describe('what came since', () => {
  test('is known by a mark, as long as it is remembered', () => {
    const directory = fold(joined(1, agent('ada')), sent(2))
    const mark = directory.mark()
    const { id } = (sent(3) as Extract<Entry, { kind: 'message' }>).message
    expect(directory.hasSince(mark, id)).toBe(false)
    directory.fold(sent(3))
    expect(directory.hasSince(mark, id)).toBe(true)
    expect(new Directory().hasSince(mark, id)).toBeUndefined()
    directory.fold(sent(100_000))
    expect(directory.hasSince(mark, id)).toBeUndefined()
    expect(directory.hasSince(directory.mark(), id)).toBeDefined()
  })

  test('is not known before the entries that it began with', () => {
    const directory = new Directory({ from: 5 })
    expect([directory.seq, directory.from]).toEqual([5, 5])
    const mark = directory.mark()
    directory.fold(sent(6))
    expect(directory.hasSince(mark, 'x')).toBe(false)
    expect(directory.hasSince({ directory, seq: 4 }, 'x')).toBeUndefined()
  })

  test('and is not there though others around it are is missing', () => {
    const directory = fold(sent(3), sent(4), sent(8))
    expect([...directory.missing]).toEqual([5, 6, 7])
    const later = new Directory({ from: 2 })
    later.fold(sent(5))
    expect([...later.missing]).toEqual([3, 4])
  })
})

describe('an imported entry', () => {
  const imported = (seq: number, originalAt: string) =>
    ({ ...sent(seq, { from: 'ada' }), originalAt }) as Entry
  const seen = (...entries: Entry[]) => {
    const directory = new Directory({ countsSends: true })
    for (const entry of entries) directory.fold(entry)
    return directory.seen.get('ada')
  }

  test('shows when its agent was active in the space that it comes from', () => {
    expect(seen(imported(1, '2026-01-01T00:00:00.000Z'))).toBe('2026-01-01T00:00:00.000Z')
    expect(seen(sent(1, { from: 'ada' }), imported(2, '2026-01-01T00:00:00.000Z'))).toBe(sent(1).at)
    expect(seen(imported(1, '2026-01-02T00:00:00.000Z'), imported(2, '2026-01-01T00:00:00.000Z'))).toBe(
      '2026-01-02T00:00:00.000Z',
    )
    // Nobody was active in the future.
    expect(seen(imported(1, '2099-01-01T00:00:00.000Z'))).toBe(sent(1).at)
  })

  test('is nothing that its sender sent lately', () => {
    const directory = new Directory({ countsSends: true })
    directory.fold(imported(1, sent(1).at))
    expect(directory.sentLately('ada', Date.parse(sent(1).at))).toBe(0)
    directory.fold(sent(2, { from: 'ada' }))
    expect(directory.sentLately('ada', Date.parse(sent(1).at))).toBe(1)
  })
})
