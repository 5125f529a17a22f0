import { expect, test } from 'vitest'
import { unreadableText } from '../../src/model/unreadable.ts'

const lines = (count: number) => Array.from({ length: count }, (_, at) => ({ segment: 1, line: at + 4 }))

test('records that cannot be read are counted, and the first are named by their places', () => {
  expect(unreadableText(lines(1))).toBe('1 record could not be read (segment 1, line 4)')
  expect(unreadableText(lines(3))).toBe(
    '3 records could not be read (segment 1, line 4; segment 1, line 5; segment 1, line 6)',
  )
  expect(unreadableText(lines(5))).toBe(
    '5 records could not be read (segment 1, line 4; segment 1, line 5; segment 1, line 6; 2 more)',
  )
})
