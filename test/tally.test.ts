import { expect, it } from 'vitest'
import { tally } from './helpers/tally-reporter.ts'

it('ends with the figures, alone on the last line', () => {
  expect(tally(12, 0, new Map())).toBe('\n12 passed, 0 failed\n')
})

it('counts what was skipped, and gives each reason above with the tests it is about', () => {
  const names = ['a.test.ts: one', 'a.test.ts: two', 'b.test.ts: three', 'b.test.ts: four']
  const text = tally(
    5,
    1,
    new Map([
      ['needs root', ['c.test.ts: five']],
      ['needs tmux', names],
    ]),
  )
  expect(text.trim().split('\n')).toEqual([
    '1 skipped: needs root',
    '  c.test.ts: five',
    '4 skipped: needs tmux',
    ...names.slice(0, 3).map((name) => `  ${name}`),
    '  and 1 more',
    '5 passed, 1 failed, 5 skipped',
  ])
})
