import { describe, expect, test } from 'vitest'
import { decideHandle } from '../../src/command/handle.ts'
import type { HandleCommand, HandleStep } from '../../src/command/ladder.ts'
import { decideClaimNext } from '../../src/command/take.ts'
import type { ClaimMade } from '../../src/model/claim.ts'
import { refusal } from '../helpers/refusal.ts'
import { agent } from '../helpers/samples.ts'
import { context, iso, minute, now, type ReceiptInput, receiptsIn, theMessage, viewOf } from './fake-view.ts'

const { id } = theMessage
const owner = 'role:r'
const claim = (number: number, by: string): ClaimMade => ({ owner, number, agent: by })

/** Mail to a role that ada and bob hold, with the claims that were made on it. */
const roleMail = (receipt: Partial<ReceiptInput>, ...claims: ClaimMade[]) =>
  viewOf({
    agents: [agent('ada', { roles: ['r'] }), agent('bob', { roles: ['r'] })],
    message: { sender: 'sam' },
    receipts: [{ owner, attempts: claims.length, ...receipt }],
    claims,
  })
const heldBy = (box: string, until: number, ...claims: ClaimMade[]) =>
  roleMail({ box, state: 'shown', claimUntil: until }, ...claims)

const step = (
  view: ReturnType<typeof roleMail>,
  command: Partial<HandleCommand> & { step: HandleStep },
  at = context(),
) => receiptsIn(decideHandle(view, { agent: 'bob', id, ...command }, at))[0]?.changes[0]

const ending = ['completed', 'failed', 'released', 'archived'] as const
const taking = ['shown', 'claimed', 'acked', 'processing'] as const
const past = now - minute
const later = now + minute

describe('a step with a claim that is not the newest', () => {
  test.each([...ending, 'claimed', 'acked', 'processing'] as const)(
    '%s is refused while a process of the same name holds the message',
    (one) => {
      const view = () => heldBy('bob', later, claim(11, 'bob'), claim(12, 'bob'))
      const error = refusal(() => step(view(), { step: one, claimNumber: 11 }))
      expect(error).toMatchObject({ code: 'conflict' })
      expect(error.message).toContain('bob, in another process, has claimed message')
      expect(error.message).toContain('as claim 12: claim 11 is over')
      // With the newest one, or for the agent, it is like any other.
      const known = one === 'claimed' ? { claimUntil: iso(now + 15 * minute) } : {}
      expect(step(view(), { step: one, claimNumber: 12 })).toMatchObject({ owner, ...known })
      expect(step(view(), { step: one })).toMatchObject({ owner, ...known })
    },
  )

  test.each(ending)('%s is refused when another has had it and given it back', (one) => {
    const free = (...claims: ClaimMade[]) => roleMail({ state: 'stored' }, ...claims)
    const had = [claim(11, 'bob'), claim(12, 'ada')]
    for (const claimNumber of [11, undefined]) {
      const error = refusal(() => step(free(...had), { step: one, claimNumber }))
      expect(error.message).toContain('ada has claimed message')
    }
    // Nobody else had it since: late, but right.
    if (one === 'released')
      expect(step(free(claim(11, 'bob')), { step: one, claimNumber: 11 })).toBeUndefined()
    else
      expect(step(free(claim(11, 'bob')), { step: one, claimNumber: 11 })).toMatchObject({
        box: 'bob',
        attempts: 2,
      })
    // Whoever never had it is no earlier holder.
    if (one !== 'released') expect(step(free(claim(12, 'ada')), { step: one })).toMatchObject({ box: 'bob' })
  })

  test.each(taking)('%s takes free mail, whoever had it before', (one) => {
    const view = roleMail({ state: 'stored' }, claim(11, 'bob'), claim(12, 'ada'))
    expect(step(view, { step: one, claimNumber: 11 })).toMatchObject({ box: 'bob', attempts: 3 })
  })

  test('a renewal takes nothing', () => {
    const view = roleMail({ state: 'stored' }, claim(11, 'bob'), claim(12, 'ada'))
    const renewal = { step: 'claimed', claimNumber: 11, renewsOnly: true } as const
    expect(refusal(() => step(view, renewal)).code).toBe('conflict')
    const own = roleMail({ state: 'stored' }, claim(11, 'bob'))
    expect(step(own, renewal)).toMatchObject({ box: 'bob', attempts: 2 })
  })

  test('the lapsed claim of a namesake is followed by a new one, not renewed', () => {
    const view = heldBy('bob', past, claim(11, 'bob'))
    expect(step(view, { step: 'claimed', claimNumber: 0 })).toMatchObject({ box: 'bob', attempts: 2 })
    expect(step(view, { step: 'claimed', claimNumber: 11 })).toMatchObject({ box: 'bob', attempts: 1 })
    expect(refusal(() => step(view, { step: 'completed', claimNumber: 0 })).code).toBe('conflict')
  })
})

test('a claim that was never made is refused', () => {
  for (const view of [
    heldBy('bob', later, claim(11, 'bob'), claim(12, 'ada')),
    roleMail({ state: 'stored' }),
  ]) {
    const error = refusal(() => step(view, { step: 'completed', claimNumber: 12 }))
    expect(error.message).toContain('bob has made no claim 12')
  }
})

test('with copies of two roles, only the one that was claimed again is out of reach', () => {
  const view = viewOf({
    agents: [agent('bob', { roles: ['r', 's'] })],
    receipts: ['role:r', 'role:s'].map((one) => ({
      ...{ owner: one, box: 'bob', state: 'shown' as const, attempts: 1, claimUntil: later },
    })),
    claims: [claim(11, 'bob'), { ...claim(11, 'bob'), owner: 'role:s' }, claim(12, 'bob')],
  })
  const changes = decideHandle(view, { agent: 'bob', step: 'completed', id, claimNumber: 11 }, context())
  expect(receiptsIn(changes)[0]?.changes.map((one) => one.owner)).toEqual(['role:s'])
})

describe('a process whose clock is wrong', () => {
  const doubtful = { ...context(now + 1_000 * minute), endsBy: Number.NEGATIVE_INFINITY }

  test("takes nobody's claim for over", () => {
    const view = heldBy('ada', past, claim(11, 'ada'))
    expect(step(view, { step: 'claimed' })).toMatchObject({ box: 'bob' })
    expect(refusal(() => step(view, { step: 'claimed' }, doubtful)).message).toContain('claimed by ada')
    const namesake = heldBy('bob', past, claim(11, 'bob'))
    expect(refusal(() => step(namesake, { step: 'claimed', claimNumber: 0 }, doubtful)).code).toBe('conflict')
  })

  test('takes no mail for expired, and claims it with a lease from its time', () => {
    const view = roleMail({ state: 'stored', expiresAt: past })
    expect(refusal(() => step(view, { step: 'claimed' })).code).toBe('conflict')
    expect(step(view, { step: 'claimed' }, doubtful)).toMatchObject({
      claimUntil: iso(doubtful.now + 15 * minute),
    })
    expect(decideClaimNext(view, 'bob', 'r', undefined, doubtful)).toHaveLength(1)
  })
})
