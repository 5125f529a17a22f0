import { describe, expect, test } from 'vitest'
import { decideJoin, decideLeave, decideRestate, decideUpdate } from '../../src/command/roster.ts'
import { decideSeat, type SeatInput } from '../../src/command/seat.ts'
import type { Agent, Session } from '../../src/model/agent.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent } from '../helpers/samples.ts'
import { agentsIn, context, iso, now, spaceOf } from './fake-view.ts'

const here = { pid: 7, pidStart: 'then', host: 'box' }
const run = (fields: Partial<Session>): Session => ({ generation: 1, startedAt: iso(now - 1_000), ...fields })
const claude = (name: string, session: Partial<Session> = {}, fields: Partial<Agent> = {}): Agent =>
  agent(name, { session: run({ ...here, client: 'claude', ...session }), ...fields })

function seat(agents: Agent[], input: Partial<SeatInput> = {}, gone: string[] = []) {
  const { drafts, result } = decideSeat(
    spaceOf(agents),
    { client: 'claude', session: here, ...input },
    { gone: new Set(gone) },
    context(),
  )
  return {
    name: result,
    joined: agentsIn(drafts).map(
      ({ change, agent: one }) => `${change} ${one.name} ${one.session.generation}`,
    ),
  }
}

describe('the agent of a process', () => {
  test('is a new one where none is', () => {
    expect(seat([])).toEqual({ name: 'claude-1', joined: ['joined claude-1 1'] })
    const drafts = agentsIn(
      decideSeat(
        spaceOf([]),
        { client: 'claude', session: { ...here, id: 's' } },
        { gone: new Set() },
        context(),
      ).drafts,
    )
    expect(drafts[0]!.agent).toMatchObject({ roles: [], tags: [] })
    expect(drafts[0]!.agent.session).toEqual({
      ...here,
      generation: 1,
      startedAt: iso(now),
      client: 'claude',
      id: 's',
    })
  })

  test('is the one that joined from it', () => {
    expect(seat([agent('ada'), claude('claude-1')])).toEqual({ name: 'claude-1', joined: [] })
  })

  test.each<[string, Partial<Session>]>([
    ['pid', { pid: 8 }],
    ['start', { pidStart: 'later' }],
    ['host', { host: 'elsewhere' }],
  ])('is another one where the %s differs', (_, session) => {
    expect(seat([claude('claude-1', session)])).toEqual({ name: 'claude-2', joined: ['joined claude-2 1'] })
  })

  test('is never found without a pid', () => {
    const { pid: _, ...unknown } = here
    const without = agent('claude-1', { session: run({ pidStart: 'then', host: 'box', client: 'claude' }) })
    expect(seat([without], { session: unknown }).name).toBe('claude-2')
  })

  test('is the last one that joined, and one at work rather than a frozen one', () => {
    const older = claude('a', { startedAt: iso(now - 9) })
    const newer = claude('b', { startedAt: iso(now - 5) })
    expect([seat([older, newer]).name, seat([newer, older]).name]).toEqual(['b', 'b'])
    const frozen = claude('c', { startedAt: iso(now - 1) }, { state: 'frozen' })
    expect([seat([older, frozen]).name, seat([frozen, older]).name]).toEqual(['a', 'a'])
  })

  test('is resumed if it was frozen', () => {
    expect(seat([claude('claude-1', {}, { state: 'frozen' })])).toEqual({
      name: 'claude-1',
      joined: ['resumed claude-1 1'],
    })
  })

  test('is not one that has died, whose name is free again', () => {
    expect(seat([claude('claude-1', {}, { state: 'dead', gone: 'ended' })])).toEqual({
      name: 'claude-1',
      joined: ['joined claude-1 2'],
    })
    expect(seat([claude('x', {}, { state: 'dead', gone: 'ended' })])).toMatchObject({ name: 'claude-1' })
  })

  test('starts a new run if its process is gone', () => {
    expect(seat([claude('claude-1')], {}, ['claude-1 1'])).toEqual({
      name: 'claude-1',
      joined: ['joined claude-1 2'],
    })
  })

  describe('with sessions', () => {
    const session = { ...here, id: 'one' }

    test('is that of the session, and another for another where a client has several', () => {
      const codex = (id: string) => claude('codex-1', { id, client: 'codex' })
      const input = { client: 'codex', session: { ...here, id: 'two' } }
      expect(seat([codex('two')], input)).toEqual({ name: 'codex-1', joined: [] })
      expect(seat([codex('one')], input)).toEqual({ name: 'codex-2', joined: ['joined codex-2 1'] })
      expect(seat([codex('one')], { client: 'codex' })).toEqual({ name: 'codex-1', joined: [] })
    })

    test('learns its session from whoever knows it', () => {
      const told = (agents: Agent[], input: Partial<SeatInput> = {}) =>
        agentsIn(
          decideSeat(spaceOf(agents), { client: 'claude', session, ...input }, { gone: new Set() }, context())
            .drafts,
        ).map(({ change, agent: { name, session: known } }) => [change, name, known.client, known.id])
      expect(told([claude('claude-1')])).toEqual([['updated', 'claude-1', 'claude', 'one']])
      expect(told([claude('claude-1', { id: 'one' })])).toEqual([])
      // It has one session at a time: this is the next one.
      expect(told([claude('claude-1', { id: 'zero' })])).toEqual([['updated', 'claude-1', 'claude', 'one']])
      // Under a name, too, and where that joined without a client.
      const ada = agent('ada', { session: run(here) })
      expect(told([ada], { name: 'ada' })).toEqual([['updated', 'ada', 'claude', 'one']])
      expect(told([ada])).toEqual([['updated', 'ada', 'claude', 'one']])
      // A name that is in use elsewhere has another session.
      expect(told([claude('ada', { pid: 99 })], { name: 'ada' })).toEqual([])
    })

    test('wins over an agent that was made up before the session was known', () => {
      const owner = claude('claude-1', { pid: 99, id: 'one' }, { state: 'frozen' })
      const fresh = claude('claude-2')
      const resumed = { name: 'claude-1', joined: ['left claude-2 1', 'resumed claude-1 1'] }
      expect(seat([owner, fresh], { session })).toEqual(resumed)
      expect(seat([fresh, owner], { session })).toEqual(resumed)
      const killed = claude('claude-1', { pid: 99, id: 'one' })
      expect(seat([killed, fresh], { session }, ['claude-1 1'])).toEqual({
        name: 'claude-1',
        joined: ['left claude-2 1', 'joined claude-1 2'],
      })
      // One that has a session of its own can be resumed.
      expect(seat([owner, claude('claude-2', { id: 'two' })], { session }).joined).toEqual([
        'frozen claude-2 1',
        'resumed claude-1 1',
      ])
      // With several sessions in one process, the others go on.
      const other = claude('codex-2', { id: 'two', client: 'codex' })
      const codex = claude('codex-1', { pid: 99, id: 'one', client: 'codex' }, { state: 'frozen' })
      expect(seat([codex, other], { client: 'codex', session }).joined).toEqual(['resumed codex-1 1'])
    })

    test('does not win over a name that somebody gave', () => {
      const owner = claude('claude-1', { pid: 99, id: 'one' }, { state: 'frozen' })
      expect(seat([owner, claude('ada')], { session })).toEqual({ name: 'ada', joined: ['updated ada 1'] })
      expect(seat([owner, claude('claude-2')], { session, name: 'claude-2' })).toEqual({
        name: 'claude-2',
        joined: ['updated claude-2 1'],
      })
    })

    test('is the latest that had it', () => {
      const [older, newer] = [
        claude('ada', { pid: 98, id: 'one', startedAt: iso(now - 9) }, { state: 'frozen' }),
        claude('bob', { pid: 99, id: 'one', startedAt: iso(now - 5) }, { state: 'frozen' }),
      ]
      expect([seat([older, newer], { session }).name, seat([newer, older], { session }).name]).toEqual([
        'bob',
        'bob',
      ])
    })

    test('is resumed in another process, once the first is gone', () => {
      const elsewhere = claude('ada', { pid: 99, id: 'one' })
      expect(seat([elsewhere], { session }, ['ada 1'])).toEqual({ name: 'ada', joined: ['joined ada 2'] })
      expect(seat([elsewhere], { session })).toEqual({ name: 'claude-1', joined: ['joined claude-1 1'] })
      expect(
        seat([claude('ada', { pid: 99, id: 'one' }, { state: 'dead', gone: 'ended' })], { session }).name,
      ).toBe('ada')
      expect(
        seat([claude('ada', { pid: 99, id: 'one', client: 'codex' })], { session }, ['ada 1']).name,
      ).toBe('claude-1')
      expect(seat([claude('ada', { pid: 99, id: 'two' })], { session }, ['ada 1']).name).toBe('claude-1')
      // Agents without a session are not those of a process without one.
      expect(seat([claude('ada', { pid: 99 })], {}, ['ada 1']).name).toBe('claude-1')
    })

    test('that was frozen is the same run when it is resumed', () => {
      const before = claude('ada', { id: 'one' }, { state: 'frozen' })
      expect(seat([before], { session })).toEqual({ name: 'ada', joined: ['resumed ada 1'] })
    })

    test('that starts after another has ended takes over its agent, in a run of its own', () => {
      const before = claude('ada', { id: 'one' }, { state: 'frozen' })
      expect(seat([before], { session: { ...here, id: 'two' } })).toEqual({
        name: 'ada',
        joined: ['joined ada 2'],
      })
    })
  })

  describe('by its name', () => {
    test('is that one, wherever it runs', () => {
      expect(seat([claude('ada', { pid: 99 })], { name: 'ada' })).toEqual({ name: 'ada', joined: [] })
      expect(seat([claude('ada', { pid: 99 })], { name: 'ada' }, ['ada 1'])).toEqual({
        name: 'ada',
        joined: ['joined ada 2'],
      })
      expect(seat([claude('claude-1')], { name: 'zoe' })).toEqual({ name: 'zoe', joined: ['joined zoe 1'] })
      expect(seat([], { name: 'user' })).toEqual({ name: 'user', joined: [] })
    })
  })

  test('does not join where it may not', () => {
    expect(seat([claude('claude-1')], { joins: false })).toEqual({ name: 'claude-1', joined: [] })
    expect(refusal(() => seat([], { joins: false }))).toMatchObject({
      code: 'conflict',
      message: 'the session of claude-1 has ended',
    })
  })
})

describe('what an agent says of itself', () => {
  const join = (input: object) => decideJoin(spaceOf([]), 'ada', input, context())

  test.each<[object, string]>([
    [{ session: { pid: 0 } }, '0 is not a pid'],
    [{ session: { pid: 1.5 } }, '1.5 is not a pid'],
    [{ session: { pid: '7' } }, '"7" is not a pid'],
    [{ session: { host: 'x'.repeat(201) } }, 'host must be a short text'],
    [{ session: { pidStart: 5 } }, 'pidStart must be a short text'],
    [{ session: { client: 'a\nb' } }, 'client must be a short text'],
    [{ session: { id: 'half \ud800' } }, 'session id must be a short text'],
    [{ note: 'a\u0007' }, 'note must be a short text'],
    [{ roles: 'lead' }, 'roles must be a list of strings'],
    [{ roles: [5] }, 'roles must be a list of strings'],
    [{ tags: [null] }, 'tags must be a list of strings'],
    [{ roles: ['a:b'] }, 'role "a:b" contains a colon'],
  ])('%j is refused', (input, said) => {
    expect(refusal(() => join(input))).toMatchObject({ code: 'invalid', message: said })
  })

  test('is kept as long as it is short', () => {
    const [draft] = agentsIn(
      join({ session: { pid: 1, host: 'x'.repeat(200) }, note: '', roles: ['a', 'a'] }),
    )
    expect(draft!.agent).toMatchObject({ session: { pid: 1, host: 'x'.repeat(200) }, note: '', roles: ['a'] })
  })

  test('is a name of its own', () => {
    const named = (name: string) => refusal(() => decideJoin(spaceOf([]), name, {}, context()))
    expect(named('system')).toMatchObject({ code: 'invalid', message: 'the name system is reserved' })
    expect(named('all').message).toBe('agent name "all" is reserved')
  })

  test('is a state it may choose', () => {
    const update = (input: object) => decideUpdate(spaceOf([agent('ada')]), 'ada', input, context())
    for (const state of ['alive', 'idle', 'waiting'])
      expect(update({ state })[0]!.agent).toMatchObject({ state, lastSeenAt: iso(now) })
    expect(refusal(() => update({ state: 'dead' }))).toMatchObject({
      message: 'an agent cannot set its state to "dead"',
      hint: expect.stringContaining('use alive, idle, waiting;'),
    })
    expect(refusal(() => update(null as never)).code).toBe('invalid')
    expect(refusal(() => update('idle' as never)).code).toBe('invalid')
    expect(update({ note: 'busy' })[0]!.agent.note).toBe('busy')
    expect(refusal(() => update({ note: 5 })).message).toBe('note must be a short text')
  })

  test('does not make a frozen or dead agent look seen', () => {
    for (const state of ['frozen', 'dead'] as const) {
      const [draft] = decideUpdate(
        spaceOf([agent('ada', { state, gone: 'ended' })]),
        'ada',
        { state: 'idle', addRoles: ['x'] },
        context(),
      )
      expect(draft!.agent).toMatchObject({ state, roles: ['x'], lastSeenAt: agent('ada').lastSeenAt })
    }
  })

  test('to leave frozen twice does not make it frozen later', () => {
    const leave = (one: Agent, frozen: boolean) =>
      agentsIn(decideLeave(spaceOf([one]), 'ada', frozen, context()))
    const [draft] = leave(agent('ada', { state: 'frozen' }), true)
    expect(draft!.agent.lastSeenAt).toBe(agent('ada').lastSeenAt)
    const [fresh] = leave(agent('ada'), true)
    expect(fresh!.agent).toMatchObject({ lastSeenAt: iso(now), state: 'frozen' })
    expect(fresh!.agent).not.toHaveProperty('gone')
    const [left] = leave(agent('ada'), false)
    expect(left).toMatchObject({ change: 'left', agent: { state: 'dead', gone: 'left' } })
  })

  test('an unknown agent is told how to join, quoted where a shell needs it', () => {
    const error = (name: string) =>
      refusal(() => decideUpdate(spaceOf([agent('ada'), agent('adde')]), name, {}, context()))
    const hint = (name: string) => error(name).hint
    expect(error('zoe/x')).toMatchObject({ code: 'not_found', message: 'no agent named "zoe/x"' })
    expect(hint('zoe/x')).toBe('join first: mailbox join zoe/x')
    expect(hint('zoe x')).toBe('join first: mailbox join "zoe x"')
    expect(hint('adda')).toBe('did you mean ada or adde? Otherwise join first: mailbox join adda')
  })

  test('is restated as it is', () => {
    const agents = [agent('ada', { note: 'x' }), agent('bob', { state: 'dead' })]
    expect(decideRestate(spaceOf(agents))).toEqual(
      agents.map((one) => ({ kind: 'agent', change: 'updated', by: 'system', agent: one })),
    )
  })
})
