import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const list = readFileSync(new URL('README.md', import.meta.url), 'utf8')
const rows = list.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| | what'))
const named = rows.map((row) => /\| `([^`]+)`: (.*) \|$/.exec(row))

test('every row of the list names a test that exists', () => {
  const wrong = rows.filter((_, at) => {
    const [, file, title] = named[at] ?? []
    return file === undefined || !readFileSync(new URL(file, root), 'utf8').includes(title!)
  })
  expect(wrong).toEqual([])
})

test('no point is left out', () => {
  const points = rows.flatMap((row) => /^\| ([AE]\d+) \|/.exec(row)?.[1] ?? [])
  const upTo = (letter: string, last: number) => Array.from({ length: last }, (_, at) => `${letter}${at + 1}`)
  expect(points).toEqual([...upTo('A', 22), ...upTo('E', 19)])
})
