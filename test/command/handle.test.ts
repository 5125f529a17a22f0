import { describe, expect, test } from 'vitest'
import { decideHandle } from '../../src/command/handle.ts'
import { type HandleStep, handleRules } from '../../src/command/ladder.ts'
import { decideClaimNext, decideShow } from '../../src/command/take.ts'
import type { Draft } from '../../src/model/entry.ts'
import { asking, type MessageFacts } from '../../src/model/reach.ts'
import { type ReceiptState, receiptStates } from '../../src/model/receipt.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent, idOf } from '../helpers/samples.ts'
import {
  context,
  directMail,
  iso,
  type Mail,
  mail,
  messagesIn,
  minute,
  now,
  type ReceiptInput,
  receiptsIn,
  spaceOf,
  theMessage,
  viewOf,
  withPolicy,
} from './fake-view.ts'

const id = theMessage.id
const change = (drafts: Draft[]) => receiptsIn(drafts)[0]?.changes[0]
const states = (drafts: Draft[]) =>
  Object.fromEntries((receiptsIn(drafts)[0]?.changes ?? []).map(({ owner, state }) => [owner, state]))

/**
 * The ladder, pair by pair: the state a step leads to, `=` where there is nothing left to do, `-` where it
 * is refused. Written down from the specification, not taken from the rules under test.
 */
const ladder = `
              stored     notified   shown      acked      processing completed  failed     archived   expired dead withdrawn
  notified    notified   =          =          =          =          =          =          =          -       -    -
  shown       shown      shown      =          =          =          =          =          =          -       -    -
  claimed     shown      shown      =          =          =          -          -          -          -       -    -
  acked       acked      acked      acked      =          =          =          =          =          -       -    -
  processing  processing processing processing processing =          -          processing -          -       -    -
  completed   archived   archived   archived   archived   archived   =          archived   =          -       -    -
  failed      failed     failed     failed     failed     failed     -          =          -          -       -    -
  released    =          =          stored     stored     stored     -          stored     -          -       -    -
  retried     =          =          -          -          -          -          stored     -          -       -    -
  archived    archived   archived   archived   archived   archived   archived   archived   =          -       -    -
`

const [head, ...rows] = ladder
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))
const pairs = rows.flatMap(([step, ...ends]) =>
  ends.map((end, at) => [step as HandleStep, head![at] as ReceiptState, end] as const),
)

describe('every step from every state', () => {
  test('the table has them all', () => {
    expect(new Set(rows.map(([step]) => step))).toEqual(new Set(Object.keys(handleRules)))
    expect(new Set(head)).toEqual(new Set(receiptStates))
    expect(pairs).toHaveLength(Object.keys(handleRules).length * receiptStates.length)
  })

  test.each(pairs)('%s from %s: %s', (step, state, end) => {
    const decide = () => decideHandle(directMail(state), { agent: 'ada', step, id }, context())
    if (end === '-') {
      const error = refusal(decide)
      expect(error.code).toBe('conflict')
      expect(error.message).toContain(state)
      expect(error.hint).toContain(id)
    } else if (end === '=') {
      expect(decide()).toEqual([])
    } else {
      expect(decide()).toMatchObject([
        {
          kind: 'receipt',
          step,
          by: 'ada',
          changes: [{ id, seq: 10, rank: 1, owner: 'ada', box: 'ada', state: end, was: state }],
        },
      ])
    }
  })

  test('done without archiving stays completed', () => {
    const drafts = decideHandle(
      directMail('shown'),
      { agent: 'ada', step: 'completed', id, archive: false },
      context(),
    )
    expect(change(drafts)).toMatchObject({ state: 'completed' })
  })

  test('a note is kept with the step', () => {
    const command = { agent: 'ada', step: 'failed', id, note: 'no disk' } as const
    expect(decideHandle(directMail('shown'), command, context())).toMatchObject([
      { step: 'failed', note: 'no disk' },
    ])
  })

  test.each(Object.keys(handleRules) as HandleStep[])(
    'unread mail whose life is over cannot become %s',
    (step) => {
      const view = directMail('stored', { expiresAt: now - 1 })
      const error = refusal(() => decideHandle(view, { agent: 'ada', step, id }, context()))
      expect(error).toMatchObject({ code: 'conflict', message: expect.stringContaining('expired') })
    },
  )

  test('mail that was seen in time can be finished later', () => {
    const view = directMail('shown', { expiresAt: now - 1 })
    expect(change(decideHandle(view, { agent: 'ada', step: 'completed', id }, context()))).toMatchObject({
      state: 'archived',
    })
  })
})

describe('who may', () => {
  test('a message nobody knows is not found', () => {
    const error = refusal(() =>
      decideHandle(directMail('stored'), { agent: 'ada', step: 'acked', id: idOf(99) }, context()),
    )
    expect(error.code).toBe('not_found')
  })

  test('an agent nobody knows is told to join, or whom it may have meant', () => {
    const error = refusal(() =>
      decideHandle(directMail('stored'), { agent: 'adda', step: 'acked', id }, context()),
    )
    expect(error).toMatchObject({ code: 'not_found', hint: expect.stringContaining('ada') })
  })

  test('mail to somebody else is not permitted', () => {
    const error = refusal(() =>
      decideHandle(directMail('stored'), { agent: 'bob', step: 'acked', id }, context()),
    )
    expect(error.code).toBe('not_permitted')
  })

  test('the person handles mail without ever having joined', () => {
    const view = viewOf({ agents: [agent('bob')], receipts: [{ owner: 'user' }] })
    expect(change(decideHandle(view, { agent: 'user', step: 'acked', id }, context()))).toMatchObject({
      state: 'acked',
    })
  })
})

const ada = agent('ada', { roles: ['x'] })
const cy = agent('cy', { roles: ['x'] })
const roleMail = (receipt: object = {}, message: Partial<MessageFacts> = { asks: asking.work }) =>
  viewOf({ agents: [ada, cy, agent('dan')], message, receipts: [{ owner: 'role:x', ...receipt }] })
const takenBy = (who: string, claimUntil: number, state: ReceiptState = 'shown') =>
  roleMail({ box: who, state, attempts: 1, claimUntil })

describe('mail to a role', () => {
  test('is claimed by the first who takes it, for 15 minutes', () => {
    const drafts = decideHandle(roleMail(), { agent: 'ada', step: 'claimed', id }, context())
    expect(change(drafts)).toEqual({
      id,
      seq: 10,
      rank: 1,
      owner: 'role:x',
      box: 'ada',
      wasBox: 'role:x',
      state: 'shown',
      was: 'stored',
      attempts: 1,
      claimUntil: '2026-11-15T10:15:00.000Z',
    })
  })

  test.each<[HandleStep, number]>(
    (['shown', 'acked'] as const).flatMap((step) => [
      [step, asking.work],
      [step, asking.answer],
    ]),
  )('%s claims it as well, if it asks for something (%i)', (step, asks) => {
    const command = { agent: 'ada', step, id, claimTtlMs: minute }
    expect(change(decideHandle(roleMail({}, { asks }), command, context()))).toMatchObject({
      box: 'ada',
      wasBox: 'role:x',
      attempts: 1,
      claimUntil: '2026-11-15T10:01:00.000Z',
    })
  })

  describe('that asks for nothing', () => {
    const text = (receipt: object = {}) => roleMail(receipt, { asks: asking.nothing })

    test.each<HandleStep>(['shown', 'acked', 'processing'])(
      'belongs to its reader, without a lease: %s',
      (step) => {
        const taken = change(decideHandle(text(), { agent: 'ada', step, id }, context()))
        expect(taken).toMatchObject({ box: 'ada', wasBox: 'role:x', attempts: 1 })
        expect(taken).not.toHaveProperty('claimUntil')
      },
    )

    test('has a lease if it is claimed, and keeps it', () => {
      const drafts = decideHandle(text(), { agent: 'ada', step: 'claimed', id }, context())
      expect(change(drafts)).toMatchObject({ claimUntil: iso(now + 15 * minute) })
      const claimed = text({ box: 'ada', state: 'shown', attempts: 1, claimUntil: now + minute })
      expect(change(decideHandle(claimed, { agent: 'ada', step: 'acked', id }, context()))).toMatchObject({
        claimUntil: iso(now + minute),
      })
    })

    test('is given to nobody else once it was read', () => {
      const read = text({ box: 'ada', state: 'shown', attempts: 1 })
      const error = refusal(() => decideHandle(read, { agent: 'cy', step: 'shown', id }, context()))
      expect(error).toMatchObject({ code: 'conflict', message: expect.stringContaining('ada') })
    })
  })

  test('that was started has no lease: it lasts as long as its agent is there', () => {
    const start = (receipt: object) =>
      change(decideHandle(roleMail(receipt), { agent: 'ada', step: 'processing', id }, context()))
    expect(start({})).toMatchObject({ box: 'ada', state: 'processing' })
    expect(start({})).not.toHaveProperty('claimUntil')
    expect(start({ box: 'ada', state: 'shown', attempts: 1, claimUntil: now + 1 })).not.toHaveProperty(
      'claimUntil',
    )
  })

  test('is not for its own sender while another holder is there', () => {
    const own = (agents: ReturnType<typeof agent>[]) =>
      viewOf({ agents, message: { sender: 'ada', asks: asking.work }, receipts: [{ owner: 'role:x' }] })
    const take = { agent: 'ada', step: 'claimed', id } as const
    expect(refusal(() => decideHandle(own([ada, cy]), take, context()))).toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('another holder'),
    })
    expect(decideShow(own([ada, cy]), 'ada', [id], context())).toEqual([])
    expect(
      change(decideHandle(own([ada, agent('cy', { roles: ['x'], state: 'frozen' })]), take, context())),
    ).toMatchObject({
      box: 'ada',
    })
  })

  test('a failure stays with whoever had it; there is no claim left to run out', () => {
    const drafts = decideHandle(takenBy('ada', now + minute), { agent: 'ada', step: 'failed', id }, context())
    expect(change(drafts)).toMatchObject({ box: 'ada', state: 'failed' })
    const view = roleMail({ box: 'ada', state: 'failed', attempts: 1 })
    expect(refusal(() => decideHandle(view, { agent: 'cy', step: 'claimed', id }, context())).code).toBe(
      'conflict',
    )
  })

  test('is for four hours with whoever has read it, and for a quarter of one with whoever claims it', () => {
    const until = (step: HandleStep) =>
      change(decideHandle(roleMail(), { agent: 'ada', step, id }, context()))!.claimUntil
    expect([until('shown'), until('acked'), until('claimed')]).toEqual(
      [4 * 60, 4 * 60, 15].map((minutes) => iso(now + minutes * minute)),
    )
  })

  test('can be started again after a failure', () => {
    const view = roleMail({ box: 'ada', state: 'failed', attempts: 1, failures: 1 })
    expect(change(decideHandle(view, { agent: 'ada', step: 'processing', id }, context()))).toMatchObject({
      ...{ box: 'ada', state: 'processing', attempts: 2, failures: 1 },
    })
  })

  test('once finished there is no claim left to run out', () => {
    const drafts = decideHandle(
      takenBy('ada', now + minute),
      { agent: 'ada', step: 'completed', id },
      context(),
    )
    expect(change(drafts)).toMatchObject({ box: 'ada', state: 'archived' })
    expect(change(drafts)).not.toHaveProperty('claimUntil')
  })

  test.each<HandleStep>([
    'claimed',
    'shown',
    'acked',
    'processing',
    'completed',
    'failed',
    'released',
    'archived',
  ])('another holder who says %s gets a conflict that names the claimant', (step) => {
    const error = refusal(() =>
      decideHandle(takenBy('ada', now + minute), { agent: 'cy', step, id }, context()),
    )
    expect(error).toMatchObject({ code: 'conflict', message: expect.stringContaining('ada') })
  })

  test('somebody without the role may not', () => {
    const error = refusal(() => decideHandle(roleMail(), { agent: 'dan', step: 'claimed', id }, context()))
    expect(error.code).toBe('not_permitted')
  })

  test('a claim that has run out is free for another holder, who starts afresh', () => {
    const drafts = decideHandle(
      takenBy('ada', now, 'processing'),
      { agent: 'cy', step: 'claimed', id },
      context(),
    )
    expect(change(drafts)).toMatchObject({
      box: 'cy',
      wasBox: 'ada',
      state: 'shown',
      was: 'processing',
      attempts: 2,
    })
  })

  test('a claim that has a millisecond left is not', () => {
    expect(
      refusal(() => decideHandle(takenBy('ada', now + 1), { agent: 'cy', step: 'claimed', id }, context()))
        .code,
    ).toBe('conflict')
  })

  test('finished mail is not free again when the time of its claim is over', () => {
    const view = takenBy('ada', now - minute, 'archived')
    expect(refusal(() => decideHandle(view, { agent: 'cy', step: 'claimed', id }, context())).code).toBe(
      'conflict',
    )
  })

  test('claiming again renews the claim', () => {
    const drafts = decideHandle(
      takenBy('ada', now + minute),
      { agent: 'ada', step: 'claimed', id },
      context(),
    )
    expect(change(drafts)).toMatchObject({
      box: 'ada',
      state: 'shown',
      claimUntil: '2026-11-15T10:15:00.000Z',
    })
  })

  test('released mail goes back to the role', () => {
    const drafts = decideHandle(
      takenBy('ada', now + minute),
      { agent: 'ada', step: 'released', id },
      context(),
    )
    expect(change(drafts)).toMatchObject({
      owner: 'role:x',
      box: 'role:x',
      wasBox: 'ada',
      state: 'stored',
      attempts: 1,
    })
    expect(change(drafts)).not.toHaveProperty('claimUntil')
  })

  test('releasing it twice is no error, as with any other mail', () => {
    expect(
      decideHandle(roleMail({ attempts: 1 }), { agent: 'ada', step: 'released', id }, context()),
    ).toEqual([])
  })

  test('retried mail goes back to the role, too', () => {
    const view = takenBy('ada', now + minute, 'failed')
    expect(change(decideHandle(view, { agent: 'ada', step: 'retried', id }, context()))).toMatchObject({
      box: 'role:x',
      state: 'stored',
      attempts: 1,
    })
  })

  test('an agent that gave the role up keeps what it has claimed', () => {
    const view = viewOf({
      agents: [agent('ada')],
      receipts: [{ owner: 'role:x', box: 'ada', state: 'shown', claimUntil: now + 1 }],
    })
    expect(change(decideHandle(view, { agent: 'ada', step: 'completed', id }, context()))).toMatchObject({
      state: 'archived',
    })
  })

  test('the next of a role is claimed', () => {
    expect(decideClaimNext(roleMail(), 'ada', 'x', undefined, context())).toMatchObject([
      { step: 'claimed', by: 'ada', changes: [{ owner: 'role:x', box: 'ada', state: 'shown' }] },
    ])
  })

  test('the next of a role is nothing when there is none', () => {
    expect(decideClaimNext(viewOf({ agents: [ada] }), 'ada', 'x', undefined, context())).toEqual([])
  })

  test('only a holder takes the next', () => {
    const error = refusal(() => decideClaimNext(roleMail(), 'dan', 'x', undefined, context()))
    expect(error).toMatchObject({ code: 'not_permitted', hint: expect.stringContaining('--role x') })
  })
})

describe('mail to a group', () => {
  const eve = agent('eve', { tags: ['project:p'] })
  const groupMail = (receipts: ReceiptInput[] = [{ owner: 'project:p' }], message = {}) =>
    viewOf({ agents: [eve, agent('dan'), agent('bob', { tags: ['project:p'] })], receipts, message })

  test('gets a receipt of its own when an agent first touches it', () => {
    const drafts = decideHandle(groupMail(), { agent: 'eve', step: 'shown', id }, context())
    expect(change(drafts)).toEqual({
      ...{ id, seq: 10, rank: 1, owner: 'eve', box: 'eve', state: 'shown', viaGroup: true },
    })
  })

  test('moves on from there, as mail of the group', () => {
    const view = groupMail([{ owner: 'project:p' }, { owner: 'eve', state: 'shown', viaGroup: true }])
    expect(change(decideHandle(view, { agent: 'eve', step: 'acked', id }, context()))).toMatchObject({
      was: 'shown',
      state: 'acked',
      viaGroup: true,
    })
  })

  test.each([
    ['who is not in it', 'dan', {}],
    ['who sent it', 'bob', {}],
    ['whom the sender left out', 'eve', { excluded: ['eve'] }],
  ])('is not for somebody %s', (_, who, message) => {
    const error = refusal(() =>
      decideHandle(groupMail(undefined, message), { agent: who, step: 'shown', id }, context()),
    )
    expect(error.code).toBe('not_permitted')
  })

  test('cannot be touched any more when it was withdrawn', () => {
    const view = groupMail([{ owner: 'project:p', state: 'withdrawn' }])
    expect(refusal(() => decideHandle(view, { agent: 'eve', step: 'acked', id }, context())).code).toBe(
      'conflict',
    )
  })

  test('cannot be touched any more when its life is over', () => {
    const view = groupMail([{ owner: 'project:p' }], { expiresAt: now - 1 })
    expect(refusal(() => decideHandle(view, { agent: 'eve', step: 'acked', id }, context())).code).toBe(
      'conflict',
    )
  })

  test.each<HandleStep>(['released', 'retried'])('%s before anybody touched it changes nothing', (step) => {
    expect(decideHandle(groupMail(), { agent: 'eve', step, id }, context())).toEqual([])
  })
})

describe('mail that reaches an agent in several ways is one piece of mail to it', () => {
  test('taking its own copy takes that of its role', () => {
    const view = viewOf({ agents: [ada, cy], receipts: [{ owner: 'ada' }, { owner: 'role:x' }] })
    expect(states(decideHandle(view, { agent: 'ada', step: 'shown', id }, context()))).toEqual({
      ada: 'shown',
      'role:x': 'shown',
    })
  })

  test('its own copy is still its own when somebody else has that of the role', () => {
    const claimed = { owner: 'role:x', box: 'cy', state: 'shown', claimUntil: now + 1 } as const
    const view = viewOf({ agents: [ada, cy], receipts: [{ owner: 'ada' }, claimed] })
    expect(states(decideHandle(view, { agent: 'ada', step: 'shown', id }, context()))).toEqual({
      ada: 'shown',
    })
  })

  test('group mail reaches a member although somebody else has the copy of its role', () => {
    const claimed = { owner: 'role:x', box: 'cy', state: 'shown', claimUntil: now + 1 } as const
    const member = agent('ada', { roles: ['x'], tags: ['project:p'] })
    const view = viewOf({ agents: [member, cy], receipts: [claimed, { owner: 'project:p' }] })
    expect(states(decideHandle(view, { agent: 'ada', step: 'shown', id }, context()))).toEqual({
      ada: 'shown',
    })
  })

  test('taking the copy of its role takes what it has of the group as well', () => {
    const member = agent('ada', { roles: ['x'], tags: ['project:p'] })
    const view = viewOf({ agents: [member, cy], receipts: [{ owner: 'role:x' }, { owner: 'project:p' }] })
    expect(states(decideHandle(view, { agent: 'ada', step: 'shown', id }, context()))).toEqual({
      'role:x': 'shown',
      ada: 'shown',
    })
  })

  test('a finished copy does not stand in the way of a role that waits', () => {
    const view = viewOf({
      agents: [ada],
      receipts: [{ owner: 'ada', state: 'archived' }, { owner: 'role:x' }],
    })
    expect(states(decideHandle(view, { agent: 'ada', step: 'claimed', id }, context()))).toEqual({
      'role:x': 'shown',
    })
  })

  test('a role that waits does not stand in the way of a retry', () => {
    const view = viewOf({ agents: [ada], receipts: [{ owner: 'ada', state: 'failed' }, { owner: 'role:x' }] })
    expect(states(decideHandle(view, { agent: 'ada', step: 'retried', id }, context()))).toEqual({
      ada: 'stored',
    })
  })
})

describe('showing what an agent is about to read', () => {
  test('is one entry for all of it, and claims what is for a role', () => {
    expect(decideShow(roleMail(), 'ada', [id], context())).toMatchObject([
      { step: 'shown', by: 'ada', changes: [{ owner: 'role:x', box: 'ada', state: 'shown', attempts: 1 }] },
    ])
  })

  test('leaves out what somebody took, what is gone and what is over', () => {
    expect(decideShow(takenBy('cy', now + 1), 'ada', [id], context())).toEqual([])
    expect(decideShow(directMail('withdrawn'), 'ada', [id], context())).toEqual([])
    expect(decideShow(directMail('stored', { expiresAt: now }), 'ada', [id], context())).toEqual([])
    expect(decideShow(directMail('stored'), 'ada', [idOf(99)], context())).toEqual([])
  })

  test('shows nothing twice', () => {
    expect(decideShow(directMail('shown'), 'ada', [id], context())).toEqual([])
  })

  test('notes that an agent was told of its own mail, and claims nothing for a role with that', () => {
    const step = 'notified'
    expect(decideShow(directMail('stored'), 'ada', [id], context(), { step })).toMatchObject([
      { step: 'notified', changes: [{ state: 'notified', was: 'stored' }] },
    ])
    expect(decideShow(directMail('shown'), 'ada', [id], context(), { step })).toEqual([])
    expect(decideShow(roleMail(), 'ada', [id], context(), { step })).toEqual([])
  })

  describe('takes one piece of work for a role at a time, where that is asked for', () => {
    const task = (number: number, ...receipts: ReceiptInput[]) =>
      mail(number, { to: ['role:x'], type: 'task_assignment' }, ...receipts)
    const note = (number: number) => mail(number, { to: ['role:x'] })
    const own = (number: number, state: ReceiptState = 'stored') =>
      mail(number, { to: ['ada'], type: 'task_assignment' }, { owner: 'ada', state })
    const shown = (...mails: Mail[]) =>
      decideShow(
        spaceOf([ada, cy], ...mails),
        'ada',
        mails.map(({ facts }) => facts.id),
        context(),
        {
          oneTask: true,
        },
      ).flatMap(({ changes }) => changes.map(({ seq }) => seq))
    const held = (state: ReceiptState) => task(9, { owner: 'role:x', box: 'ada', state, attempts: 1 })

    test('of several the first, and all that is no work', () => {
      expect(shown(task(1), task(2), note(3), note(4), own(5))).toEqual([1, 3, 4, 5])
    })

    test.each<ReceiptState>(['shown', 'acked', 'processing'])('none while one is in hand: %s', (state) => {
      expect(shown(task(1), note(2), own(3), held(state))).toEqual([2, 3])
    })

    test('none while it is at work on a task of its own', () => {
      expect(shown(task(1), own(2, 'processing'))).toEqual([])
      expect(shown(task(1), own(2, 'shown'))).toEqual([1])
    })

    test.each<ReceiptState>(['failed', 'archived'])('one again when the last is %s', (state) => {
      expect(shown(task(1), held(state))).toEqual([1])
    })
  })
})

describe('an agent that has left', () => {
  const gone = (how: 'left' | 'silent') =>
    viewOf({ agents: [agent('ada', { state: 'dead', gone: how })], receipts: [{ owner: 'ada' }] })

  test('has to join before it does anything with its mail', () => {
    const command = { agent: 'ada', step: 'acked', id } as const
    expect(refusal(() => decideHandle(gone('left'), command, context()))).toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining('mailbox join ada'),
    })
    expect(refusal(() => decideShow(gone('left'), 'ada', [id], context())).code).toBe('conflict')
    expect(refusal(() => decideClaimNext(gone('left'), 'ada', 'x', undefined, context())).code).toBe(
      'conflict',
    )
  })

  test('is another than one that was only taken for dead', () => {
    const command = { agent: 'ada', step: 'acked', id } as const
    expect(change(decideHandle(gone('silent'), command, context()))).toMatchObject({ state: 'acked' })
  })
})

describe('mail at which too many have failed', () => {
  const handle = (step: HandleStep, receipt: object, agents = [ada, cy], max = 3) =>
    decideHandle(
      viewOf({ agents, receipts: [{ owner: 'role:x', ...receipt }] }),
      { agent: 'ada', step, id, note: 'no disk' },
      withPolicy({ maxAttempts: max }),
    )
  const claimed = (failures: number, attempts = 9) => ({
    ...{ box: 'ada', state: 'shown', attempts, failures, claimUntil: now + minute },
  })

  test.each<[HandleStep, number, string, number]>([
    ['failed', 1, 'failed', 2],
    ['failed', 2, 'dead', 3],
    ['released', 2, 'stored', 2],
    ['completed', 2, 'archived', 2],
    ['processing', 2, 'processing', 2],
  ])('%s after %i failures of at most 3: %s', (step, before, state, failures) => {
    expect(change(handle(step, claimed(before)))).toMatchObject({ owner: 'role:x', state, failures })
  })

  test('counts the failure of whoever fails it without having claimed it', () => {
    expect(change(handle('failed', { failures: 2 }))).toMatchObject({ state: 'dead', failures: 3 })
  })

  test('does not count how often it was claimed or given back', () => {
    for (const step of ['released', 'failed'] as const)
      expect(change(handle(step, claimed(0, 99)))).toMatchObject({
        state: step === 'failed' ? 'failed' : 'stored',
      })
    expect(change(handle('claimed', { attempts: 99 }))).toMatchObject({ state: 'shown', attempts: 100 })
  })

  test('is taken by nobody any more', () => {
    expect(refusal(() => handle('claimed', { failures: 3 })).code).toBe('conflict')
    expect(refusal(() => handle('claimed', { ...claimed(3), box: 'cy', claimUntil: now })).code).toBe(
      'conflict',
    )
    expect(change(handle('claimed', { failures: 2 }))).toMatchObject({ attempts: 1, state: 'shown' })
  })

  test('stays with whoever has it', () => {
    expect(change(handle('claimed', claimed(3)))).toMatchObject({ box: 'ada', state: 'shown', failures: 3 })
  })

  const failing = (failures: number, from = 'bob') =>
    decideHandle(
      spaceOf([ada], mail(10, { from, subject: 'Plan' }, { owner: 'ada', state: 'processing', failures })),
      { agent: 'ada', step: 'failed', id, note: 'no disk' },
      context(),
    )

  test.each<[number, string]>([
    [0, 'failed'],
    [3, 'failed'],
    [4, 'dead'],
  ])('direct mail that has failed %i times and fails again: %s', (failures, state) => {
    expect(change(failing(failures))).toMatchObject({ owner: 'ada', state, failures: failures + 1 })
  })

  test('each retry of direct mail is an attempt', () => {
    const view = viewOf({ agents: [ada], receipts: [{ owner: 'ada', state: 'failed', attempts: 1 }] })
    expect(change(decideHandle(view, { agent: 'ada', step: 'retried', id }, context()))).toMatchObject({
      state: 'stored',
      attempts: 2,
    })
  })

  test('direct mail may be released as often as one likes', () => {
    const view = viewOf({ agents: [ada], receipts: [{ owner: 'ada', state: 'shown', attempts: 9 }] })
    expect(change(decideHandle(view, { agent: 'ada', step: 'released', id }, context()))).toMatchObject({
      state: 'stored',
    })
  })

  test('is told to its sender, before it is written down', () => {
    const drafts = failing(4)
    expect(drafts.map(({ kind }) => kind)).toEqual(['message', 'receipt'])
    expect(messagesIn(drafts)).toMatchObject([
      {
        from: 'system',
        to: ['bob'],
        type: 'error',
        replyTo: id,
        payload: {
          undelivered: [
            { id, to: 'ada', reason: 'failed by ada (no disk), and work on it has failed 5 times' },
          ],
        },
      },
    ])
    expect(receiptsIn(drafts)).toMatchObject([{ step: 'failed', by: 'ada', note: 'no disk' }])
  })

  test('is told to nobody if it is the system’s own, or not dead yet', () => {
    expect(messagesIn(failing(4, 'system'))).toEqual([])
    expect(messagesIn(failing(3))).toEqual([])
  })
})

describe('mail that wants an ack', () => {
  const wants = { requiresAck: true }
  const ackBy = iso(now + 15 * minute)
  const handle = (step: HandleStep, receipt: object, at = context()) =>
    change(
      decideHandle(
        viewOf({ agents: [ada, cy], message: wants, receipts: [{ owner: 'role:x', ...receipt }] }),
        { agent: 'ada', step, id },
        at,
      ),
    )

  test.each<HandleStep>(['shown', 'claimed'])('has a quarter of an hour once it is %s', (step) => {
    expect(handle(step, {})).toMatchObject({ state: 'shown', ackBy })
  })

  test.each<HandleStep>(['acked', 'processing', 'completed', 'failed', 'archived'])(
    'waits for none once it is %s',
    (step) => {
      expect(handle(step, { box: 'ada', state: 'shown', attempts: 1, ackBy: now + 1 })).not.toHaveProperty(
        'ackBy',
      )
    },
  )

  test('of a group waits for one of each reader', () => {
    const view = viewOf({ agents: [ada], message: wants, receipts: [{ owner: 'all' }] })
    expect(change(decideHandle(view, { agent: 'ada', step: 'shown', id }, context()))).toMatchObject({
      ackBy,
    })
    expect(change(decideHandle(view, { agent: 'ada', step: 'acked', id }, context()))).not.toHaveProperty(
      'ackBy',
    )
  })

  test('keeps its time when the claim is renewed', () => {
    const held = { box: 'ada', state: 'shown', attempts: 1, claimUntil: now + 1, ackBy: now + minute }
    expect(handle('claimed', held)).toMatchObject({ ackBy: iso(now + minute) })
  })

  test('gets no new time when the claim is renewed after everybody was told', () => {
    const held = { box: 'ada', state: 'shown', attempts: 1, claimUntil: now + 1, ackBy: null, level: 2 }
    expect(handle('claimed', held)).not.toHaveProperty('ackBy')
  })

  test('waits for ever where the space says so', () => {
    expect(handle('shown', {}, withPolicy({ ackTimeoutMs: 0 }))).not.toHaveProperty('ackBy')
  })

  test.each<HandleStep>(['shown', 'acked', 'completed', 'failed', 'archived'])(
    'remembers how often it was shown again: %s',
    (step) => {
      const again = { box: 'ada', attempts: 1, claimUntil: now + 1, repeats: 2 }
      expect(handle(step, again)).toMatchObject({ repeats: 2 })
    },
  )

  test('shown again is claimed still, by the same agent and until the same time', () => {
    const again = { box: 'ada', attempts: 1, claimUntil: now + minute, repeats: 1 }
    expect(handle('shown', again)).toMatchObject({ attempts: 1, claimUntil: iso(now + minute), ackBy })
    const other = () =>
      decideHandle(
        viewOf({ agents: [ada, cy], message: wants, receipts: [{ owner: 'role:x', ...again }] }),
        { agent: 'cy', step: 'claimed', id },
        context(),
      )
    expect(refusal(other).code).toBe('conflict')
  })

  test('shown again can have its claim renewed', () => {
    const again = { box: 'ada', attempts: 1, claimUntil: now + minute, repeats: 1 }
    expect(handle('claimed', again)).toMatchObject({ claimUntil: iso(now + 15 * minute) })
  })
})

describe('mail for one run of an agent', () => {
  const inRun = (generation: number) => agent('ada', { session: { generation, startedAt: iso(now) } })
  const ack = (who: string, ...agents: ReturnType<typeof agent>[]) =>
    decideHandle(
      viewOf({ agents, message: { generation: 2 }, receipts: [{ owner: 'ada' }] }),
      { agent: who, step: 'acked', id },
      context(),
    )

  test.each([1, 2])('can be handled by run %i', (generation) => {
    expect(change(ack('ada', inRun(generation)))).toMatchObject({ state: 'acked' })
  })

  test('is dead for the next', () => {
    expect(refusal(() => ack('ada', inRun(3)))).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('dead'),
    })
  })

  test('is not permitted to anybody else, whatever their run', () => {
    const bob = agent('bob', { session: { generation: 9, startedAt: iso(now) } })
    expect(refusal(() => ack('bob', inRun(2), bob)).code).toBe('not_permitted')
  })
})

describe('mail that waited for a frozen agent', () => {
  const extended = (who = agent('ada')) =>
    viewOf({
      agents: [who],
      message: { expiresAt: now - minute },
      receipts: [{ owner: 'ada', expiresAt: now + minute }],
    })

  test('is shown while its longer life lasts', () => {
    expect(decideShow(extended(), 'ada', [id], context())).toMatchObject([{ changes: [{ state: 'shown' }] }])
  })

  test('can be handled while its longer life lasts', () => {
    expect(change(decideHandle(extended(), { agent: 'ada', step: 'acked', id }, context()))).toMatchObject({
      state: 'acked',
    })
  })

  test('can be shown to it while it is frozen: for its own box the time stands still', () => {
    const frozen = agent('ada', { state: 'frozen', lastSeenAt: iso(now - 2 * minute) })
    const view = viewOf({
      agents: [frozen],
      message: { expiresAt: now - minute },
      receipts: [{ owner: 'ada' }],
    })
    expect(decideShow(view, 'ada', [id], context())).toMatchObject([{ changes: [{ state: 'shown' }] }])
  })
})
