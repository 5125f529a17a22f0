import { expect, it } from 'vitest'
import { tally } from '../scripts/tally.mjs'

const plain = { project: 'all', failed: [], skipped: [] }

it('ends with the figures, alone on the last line', () => {
  expect(tally([{ ...plain, file: 'a.test.ts', passed: 12 }])).toBe('\n12 passed, 0 failed\n')
})

it('counts errors outside any test as failures', () => {
  expect(tally([{ ...plain, file: 'a.test.ts', passed: 12 }], { errors: 1 })).toBe('\n12 passed, 1 failed\n')
})

it('counts what was skipped, and gives each reason above with the tests it is about', () => {
  const text = tally([
    { ...plain, file: 'c.test.ts', passed: 5, failed: ['six'], skipped: [['needs root', 'five']] },
    {
      ...{ ...plain, file: 'a.test.ts', passed: 0 },
      skipped: [
        ['needs tmux', 'one'],
        ['needs tmux', 'two'],
      ],
    },
    {
      ...{ ...plain, file: 'b.test.ts', passed: 0 },
      skipped: [
        ['needs tmux', 'three'],
        ['needs tmux', 'four'],
      ],
    },
  ])
  expect(text.trim().split('\n')).toEqual([
    '1 skipped: needs root',
    '  c.test.ts: five',
    '4 skipped: needs tmux',
    '  a.test.ts: one',
    '  a.test.ts: two',
    '  b.test.ts: three',
    '  and 1 more',
    '5 passed, 1 failed, 5 skipped',
  ])
})

it('names what failed beside other tests and passed alone', () => {
  const text = tally([{ ...plain, file: 'a.test.ts', passed: 2 }], { unsteady: ['a.test.ts: one'] })
  expect(text).toBe(
    '\n1 failed beside other tests, and passed alone:\n  a.test.ts: one\n2 passed, 0 failed\n',
  )
})
