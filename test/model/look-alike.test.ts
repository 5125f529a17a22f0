import { describe, expect, test } from 'vitest'
import { confusables } from '../../src/model/confusables.ts'
import { Directory } from '../../src/model/directory.ts'
import { Looks, reservedLookAlike, skeletonsOf } from '../../src/model/look-alike.ts'
import { agent } from '../helpers/samples.ts'

const look = (one: string, other: string) => new Looks([one]).find(other) === one

describe('names that look the same', () => {
  test.each([
    ['ada', 'Ada'],
    ['ada', 'ADA'],
    ['ada', 'аda'],
    ['ada', 'аԁа'],
    ['ada', 'ａｄａ'],
    ['ada', '𝐚𝐝𝐚'],
    ['ada', 'ⓐⓓⓐ'],
    ['ada', 'ɑda'],
    ['AI', 'Al'],
    ['AI', 'ai'],
    ['worker-1', 'worker-l'],
    ['worker-1', 'worker-I'],
    ['agent-0', 'agent-O'],
    ['agent-0', 'agent-о'],
    ['team', 'tearn'],
    ['dev/ada', 'dev∕ada'],
    ['a-b', 'a–b'],
    ['straße', 'STRASSE'],
    ['Ада', 'ада'],
    ['Ада', 'Aдa'],
    ['Zoë', 'zoë'],
  ])('%s and %s', (one, other) => {
    expect(look(one, other)).toBe(true)
    expect(look(other, one)).toBe(true)
  })

  test.each([
    ['ada', 'adá'],
    ['ada', 'ida'],
    ['mail', 'mall'],
    ['ai', 'al'],
    ['a_b', 'a-b'],
    ['a/b', 'a_b'],
    ['Ada Lovelace', 'AdaLovelace'],
    ['claude-1', 'claude-11'],
    ['建築家', '建築'],
  ])('%s and %s do not', (one, other) => {
    expect(look(one, other)).toBe(false)
    expect(look(other, one)).toBe(false)
  })

  test('are told without the table of Unicode where they are ASCII, and with the same result', () => {
    const table = confusables()
    for (let code = 0x20; code < 0x7f; code++) {
      const char = String.fromCharCode(code)
      if (char === '%') continue
      const expected = (table.get(char) ?? char).toLowerCase()
      expect(skeletonsOf(char).at(-1), char).toBe(expected)
    }
  })

  test('include the reserved ones', () => {
    for (const name of [
      'User',
      'USER',
      'usеr',
      'ｕｓｅｒ',
      'System',
      'systern',
      'ALL',
      'Role',
      'agеnt',
      '＊',
    ])
      expect(reservedLookAlike(name), name).toBeDefined()
    for (const name of ['user', 'system', 'users', 'person', 'Ada'])
      expect(reservedLookAlike(name)).toBeUndefined()
  })
})

test('the table is the whole of one version', () => {
  expect(confusables().size).toBe(2_743)
  expect(confusables().get('а')).toBe('a')
})

test('the roster keeps the looks of its names, however many join', () => {
  const directory = new Directory()
  for (let n = 0; n < 10_000; n++) directory.put(agent(`worker-${n}`))
  expect(directory.lookAlike('Worker-77')).toBe('worker-77')
  directory.put(agent('Zed'))
  directory.put(agent('gone', { state: 'dead' }))
  expect(directory.lookAlike('zed')).toBe('Zed')
  expect(directory.lookAlike('Gone')).toBe('gone')
  expect(directory.lookAlike('Zed')).toBeUndefined()
  expect(directory.lookAlike('fresh')).toBeUndefined()
})
