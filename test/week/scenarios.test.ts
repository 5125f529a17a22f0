import { expect, it } from 'vitest'
import { elsewhere, scenarios } from './scenarios.ts'

const upTo = (letter: string, last: number) => Array.from({ length: last }, (_, at) => `${letter}${at + 1}`)

it('has every point of the list, in the simulation or elsewhere', () => {
  const points = [...Object.keys(scenarios), ...Object.keys(elsewhere)]
  expect(points.sort()).toEqual([...upTo('E', 19), ...upTo('A', 22)].sort())
})
