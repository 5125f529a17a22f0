import { describe, expect, test } from 'vitest'
import {
  decideClaimNext,
  decideHandle,
  decideShow,
  type HandleStep,
  handleRules,
} from '../../src/command/handle.ts'
import type { ReceiptDraft } from '../../src/model/entry.ts'
import { type ReceiptState, receiptStates } from '../../src/model/receipt.ts'
import { agent, idOf } from '../model/samples.ts'
import { context, directMail, minute, now, theMessage, viewOf } from './fake-view.ts'
import { refusal } from './refusal.ts'

const id = theMessage.id
const change = (drafts: ReceiptDraft[]) => drafts[0]?.changes[0]
const states = (drafts: ReceiptDraft[]) =>
  Object.fromEntries((drafts[0]?.changes ?? []).map(({ owner, state }) => [owner, state]))

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
const roleMail = (receipt: object = {}) =>
  viewOf({ agents: [ada, cy, agent('dan')], receipts: [{ owner: 'role:x', ...receipt }] })
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

  test.each<HandleStep>(['shown', 'acked', 'processing'])('%s claims it as well', (step) => {
    const drafts = decideHandle(roleMail(), { agent: 'ada', step, id, claimTtlMs: minute }, context())
    expect(change(drafts)).toMatchObject({
      box: 'ada',
      wasBox: 'role:x',
      attempts: 1,
      claimUntil: '2026-11-15T10:01:00.000Z',
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

  test('starting again after a failure takes a new claim', () => {
    const view = roleMail({ box: 'ada', state: 'failed', attempts: 1 })
    expect(change(decideHandle(view, { agent: 'ada', step: 'processing', id }, context()))).toMatchObject({
      box: 'ada',
      state: 'processing',
      claimUntil: '2026-11-15T10:15:00.000Z',
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
  const groupMail = (
    receipts: { owner: string; state?: ReceiptState }[] = [{ owner: 'project:p' }],
    message = {},
  ) => viewOf({ agents: [eve, agent('dan'), agent('bob', { tags: ['project:p'] })], receipts, message })

  test('gets a receipt of its own when an agent first touches it', () => {
    const drafts = decideHandle(groupMail(), { agent: 'eve', step: 'shown', id }, context())
    expect(change(drafts)).toEqual({ id, seq: 10, rank: 1, owner: 'eve', box: 'eve', state: 'shown' })
  })

  test('moves on from there', () => {
    const view = groupMail([{ owner: 'project:p' }, { owner: 'eve', state: 'shown' }])
    expect(change(decideHandle(view, { agent: 'eve', step: 'acked', id }, context()))).toMatchObject({
      was: 'shown',
      state: 'acked',
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
})
