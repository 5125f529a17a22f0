import { describe, expect, it } from 'vitest'
import { type Call, checkHistory, type Death } from '../helpers/claim-checker.ts'

/** Calls one after another, each 10 ms after the one before unless it says otherwise. */
function inTurn(...calls: (Partial<Call> & Pick<Call, 'does' | 'agent'>)[]): Call[] {
  return calls.map((call, at) => ({
    ...{ process: call.agent, acting: undefined, leaseMs: 1_000, answer: { ok: false } as const },
    ...{ calledAt: at * 10, answeredAt: at * 10 + 5 },
    ...call,
  }))
}
const ok = (number?: number) => ({ ok: true, number }) as const
const no = { ok: false } as const
const fits = (calls: Call[], deaths: Death[] = []) => checkHistory({ calls, deaths }).violation === undefined

describe('histories that are right', () => {
  it('one claims, the other is refused, the first is done', () => {
    expect(
      fits(
        inTurn(
          { agent: 'bob', does: 'claim', answer: ok(10) },
          { agent: 'cy', does: 'claim', answer: no },
          { agent: 'bob', does: 'renew', acting: 10, answer: ok(10) },
          { agent: 'bob', does: 'done', acting: 10, answer: ok(10) },
          { agent: 'cy', does: 'done', answer: no },
        ),
      ),
    ).toBe(true)
  })

  it('a claim is free after its lease, and its first holder is refused', () => {
    expect(
      fits(
        inTurn(
          { agent: 'bob', does: 'claim', answer: ok(10) },
          { agent: 'cy', does: 'claim', calledAt: 1_000, answeredAt: 1_010, answer: ok(20) },
          { agent: 'bob', does: 'done', acting: 10, calledAt: 1_100, answeredAt: 1_110, answer: no },
        ),
      ),
    ).toBe(true)
  })

  it('calls that overlap may have come in either order', () => {
    const [claim, other] = inTurn(
      { agent: 'bob', does: 'claim', answer: ok(20), calledAt: 0, answeredAt: 100 },
      { agent: 'cy', does: 'claim', answer: ok(10), calledAt: 1, answeredAt: 20 },
    )
    const release = {
      ...other!,
      does: 'release',
      acting: 10,
      calledAt: 30,
      answeredAt: 90,
      answer: ok(10),
    } as const
    expect(fits([claim!, other!, release])).toBe(true)
    expect(fits([claim!, other!])).toBe(false)
  })

  it('a call without an answer may have happened or not, and late', () => {
    const lost = { agent: 'bob', does: 'claim', answer: undefined, answeredAt: Infinity } as const
    const [claim, then] = inTurn(lost, { agent: 'cy', does: 'claim', answer: no })
    expect(fits([claim!, then!])).toBe(true)
    expect(fits([claim!, { ...then!, answer: ok(20) }])).toBe(true)
    expect(fits([then!])).toBe(false)
  })

  it("a claim that is over is nobody else's yet: whoever cannot tell the time is refused", () => {
    const late = (at: number) => ({ calledAt: at, answeredAt: at + 5 })
    const history = inTurn(
      { agent: 'ada', does: 'claim', answer: ok(10) },
      { agent: 'bob', does: 'release', ...late(2_000), answer: ok() },
      { agent: 'cy', does: 'claim', ...late(2_010), answer: no },
      { agent: 'bob', does: 'claim', ...late(2_020), answer: ok(20) },
      { agent: 'cy', does: 'claim', ...late(2_030), answer: no },
    )
    expect(fits(history)).toBe(true)
    expect(
      fits(history.map((call) => ({ ...call, answer: call.agent === 'cy' ? ok(30) : call.answer }))),
    ).toBe(false)
  })

  it('a namesake goes on with a claim whose process was killed before it was told the number', () => {
    const lost = { agent: 'bob', does: 'claim', answer: undefined, answeredAt: Infinity } as const
    const then = (number: number, last: number) =>
      inTurn(
        { agent: 'cy', does: 'claim', answer: ok(10) },
        { agent: 'cy', does: 'release', acting: 10, answer: ok(10) },
        lost,
        { agent: 'bob', does: 'start', answer: ok(number) },
        { agent: 'cy', does: 'claim', acting: 10, answer: no },
        { agent: 'bob', does: 'done', acting: number, answer: ok(last) },
      )
    expect(fits(then(12, 12))).toBe(true)
    expect(fits(then(10, 10))).toBe(false)
    expect(fits(then(12, 13))).toBe(false)
  })

  it('what a killed process held is free at once, and only then', () => {
    const calls = inTurn(
      { agent: 'bob', does: 'claim', answer: ok(10) },
      { agent: 'cy', does: 'claim', answer: ok(20) },
    )
    expect(fits(calls, [{ agent: 'bob', from: 7, to: 50 }])).toBe(true)
    expect(fits(calls, [{ agent: 'dora', from: 7, to: 50 }])).toBe(false)
    expect(fits(calls)).toBe(false)
  })
})

describe('violations that were planted', () => {
  const lapsed = { calledAt: 2_000, answeredAt: 2_010 }
  const late = { calledAt: 2_100, answeredAt: 2_110 }

  it('two holders at once', () => {
    const both = inTurn(
      { agent: 'bob', does: 'claim', answer: ok(10) },
      { agent: 'cy', does: 'claim', answer: ok(20) },
    )
    expect(fits(both)).toBe(false)
  })

  it.each(['done', 'fail', 'release', 'renew'] as const)(
    'a holder that slept does %s after its namesake has claimed the message again',
    (does) => {
      const history = (answer: Call['answer']) =>
        inTurn(
          { agent: 'bob', process: 'bob 1', does: 'claim', answer: ok(10) },
          { agent: 'bob', process: 'bob 2', does: 'claim', ...lapsed, answer: ok(20) },
          { agent: 'bob', process: 'bob 1', does, acting: 10, ...late, answer },
        )
      expect(fits(history(ok(20)))).toBe(false)
      expect(fits(history(no))).toBe(true)
    },
  )

  it('a lapsed claim is finished that another has had and given back since', () => {
    const history = (answer: Call['answer']) =>
      inTurn(
        { agent: 'bob', does: 'claim', answer: ok(10) },
        { agent: 'cy', does: 'claim', ...lapsed, answer: ok(20) },
        { agent: 'cy', does: 'release', acting: 20, calledAt: 2_020, answeredAt: 2_030, answer: ok(20) },
        { agent: 'bob', does: 'done', acting: 10, ...late, answer },
      )
    expect(fits(history(ok(30)))).toBe(false)
    expect(fits(history(no))).toBe(true)
  })

  it('a number that does not rise', () => {
    const again = (number: number) =>
      inTurn(
        { agent: 'bob', does: 'claim', answer: ok(10) },
        { agent: 'bob', does: 'release', acting: 10, answer: ok(10) },
        { agent: 'cy', does: 'claim', answer: ok(number) },
      )
    expect(fits(again(10))).toBe(false)
    expect(fits(again(11))).toBe(true)
  })

  it('a live claim is taken, because somebody thinks that hours have passed', () => {
    const steal = inTurn(
      { agent: 'bob', does: 'claim', leaseMs: 900_000, answer: ok(10) },
      { agent: 'cy', does: 'claim', calledAt: 500, answeredAt: 510, answer: ok(20) },
    )
    expect(fits(steal)).toBe(false)
  })
})
