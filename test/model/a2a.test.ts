import { expect, test } from 'vitest'
import { exposedAddresses, isExposable } from '../../src/model/a2a.ts'

test('a list of addresses is taken apart', () => {
  expect(exposedAddresses(' role:architect ,ada,, bob smith ,')).toEqual([
    'role:architect',
    'ada',
    'bob smith',
  ])
  expect(exposedAddresses('')).toEqual([])
})

test.each(['', 'ada', 'role:architect', 'role:architect, ada', ' , '])('%j can be exposed', (list) => {
  expect(isExposable(list)).toBe(true)
})

test.each(['all', 'project:x', 'ada, all', 'role:', 'a\nb', 5, null, undefined, ['ada']])(
  '%j cannot',
  (list) => {
    expect(isExposable(list)).toBe(false)
  },
)
