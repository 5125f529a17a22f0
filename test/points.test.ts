import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const root = new URL('../', import.meta.url)
const upTo = (letter: string, last: number) => Array.from({ length: last }, (_, at) => `${letter}${at + 1}`)

/** Lists of what was once wrong, each row with its test, and the points that a list must have. */
const lists: Record<string, string[]> = {
  'test/settling/README.md': [...upTo('A', 22), ...upTo('E', 19)],
  'test/trust/README.md': upTo('B', 16),
  'test/console/README.md': upTo('C', 9),
  'test/damage/README.md': [...upTo('D', 18), ...upTo('F', 6)],
}

const linesOf = (path: string) => readFileSync(new URL(path, root), 'utf8').split('\n')

describe.each(Object.entries(lists))('%s', (path, expected) => {
  const rows = linesOf(path).filter((line) => line.startsWith('| ') && !line.startsWith('| | what'))

  test('every row names a test that exists', () => {
    const wrong = rows.filter((row) => {
      const [, file, title] = /\| `([^`]+)`: (.*) \|$/.exec(row) ?? []
      return file === undefined || !readFileSync(new URL(file, root), 'utf8').includes(title!)
    })
    expect(wrong).toEqual([])
  })

  test('no point is left out', () => {
    expect(rows.flatMap((row) => /^\| ([A-Z]\d+) \|/.exec(row)?.[1] ?? [])).toEqual(expected)
  })
})
