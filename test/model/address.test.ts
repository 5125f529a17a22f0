import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MailboxError } from '../../src/base/errors.ts'
import {
  type Address,
  boxesTo,
  boxOf,
  boxOfTag,
  checkTag,
  defaultLife,
  hasTag,
  isGroupBox,
  parseAddress,
  writeAddress,
} from '../../src/model/address.ts'

const hours = 3_600_000
const lifeOf = (...written: string[]) => defaultLife(written.map(parseAddress))

describe('addresses', () => {
  test.each<[string, Address]>([
    ['ada', { kind: 'agent', name: 'ada' }],
    ['agent:ada', { kind: 'agent', name: 'ada' }],
    ['swarm_dev/architect', { kind: 'agent', name: 'swarm_dev/architect' }],
    ['role:architect', { kind: 'role', name: 'architect' }],
    ['project:x', { kind: 'tag', tag: 'project:x', broadcast: false }],
    ['concern:governance', { kind: 'tag', tag: 'concern:governance', broadcast: false }],
    ['domain:x', { kind: 'tag', tag: 'domain:x', broadcast: false }],
    ['swarm:dev', { kind: 'tag', tag: 'swarm:dev', broadcast: false }],
    ['my-own_ns2:Any Value', { kind: 'tag', tag: 'my-own_ns2:Any Value', broadcast: false }],
    ['broadcast:dev', { kind: 'tag', tag: 'swarm:dev', broadcast: true }],
    ['all', { kind: 'all' }],
    ['*', { kind: 'all' }],
  ])('%s is understood', (written, address) => {
    expect(parseAddress(written)).toEqual(address)
  })

  test.each([
    ['agent:ada', 'ada'],
    ['ada', 'ada'],
    ['*', 'all'],
    ['all', 'all'],
    ['role:architect', 'role:architect'],
    ['project:x', 'project:x'],
    ['broadcast:dev', 'broadcast:dev'],
  ])('%s is stored as %s', (written, stored) => {
    expect(writeAddress(parseAddress(written))).toBe(stored)
  })

  test('the stored spelling means the same address', () => {
    const name = fc.stringMatching(/^[a-zA-Z][a-z0-9/_-]{0,10}$/).filter((word) => !reserved.has(word))
    const written = fc.oneof(
      name,
      fc
        .tuple(fc.constantFrom('agent', 'role', 'project', 'swarm', 'broadcast'), name)
        .map((p) => p.join(':')),
      fc.constantFrom('all', '*'),
    )
    fc.assert(
      fc.property(written, (text) => {
        const address = parseAddress(text)
        expect(parseAddress(writeAddress(address))).toEqual(address)
      }),
    )
  })

  test.each([
    [''],
    ['role:'],
    ['agent:'],
    ['agent:all'],
    [':x'],
    ['project:'],
    ['Project:x'],
    ['9ns:x'],
    ['project:a:b'],
    ['role:a:b'],
    ['project: x'],
    ['project:x\n'],
    ['broadcast:'],
    ['ada\0'],
    ['x'.repeat(33).concat(':y')],
  ])('%j is refused, with a hint', (written) => {
    try {
      parseAddress(written)
    } catch (error) {
      expect(error).toBeInstanceOf(MailboxError)
      expect(error).toMatchObject({ code: 'invalid', hint: expect.stringMatching(/\S/) })
      return
    }
    expect.unreachable('it was accepted')
  })

  test.each([['role:x'], ['agent:x'], [''], ['project:']])('%j is no tag', (tag) => {
    expect(() => checkTag(tag)).toThrow(MailboxError)
  })
})

const reserved = new Set(['all', 'role', 'agent', 'broadcast'])

describe('how long mail lives when its sender does not say', () => {
  test.each([
    ['ada', 24 * hours],
    ['agent:ada', 24 * hours],
    ['project:x', 24 * hours],
    ['swarm:x', 24 * hours],
    ['all', 4 * hours],
    ['*', 4 * hours],
    ['broadcast:x', 4 * hours],
    ['role:x', null],
  ])('%s', (written, life) => {
    expect(lifeOf(written)).toBe(life)
  })

  test('several addresses: the longest of them', () => {
    expect(lifeOf('all', 'ada')).toBe(24 * hours)
    expect(lifeOf('broadcast:x', 'all')).toBe(4 * hours)
    expect(lifeOf('all', 'role:x', 'ada')).toBeNull()
  })
})

describe('boxes', () => {
  test('a broadcast to a swarm waits in the box of the swarm', () => {
    expect(boxOf('broadcast:dev')).toBe('swarm:dev')
    for (const stored of ['ada', 'role:x', 'project:x', 'swarm:dev', 'all'])
      expect(boxOf(stored)).toBe(stored)
  })

  test('many read the box of a group; an agent and a role have boxes of their own', () => {
    expect(['all', 'project:x', 'swarm:dev'].map(isGroupBox)).toEqual([true, true, true])
    expect(['ada', 'role:x', 'a/b'].map(isGroupBox)).toEqual([false, false, false])
  })
})

test.each([
  ['ada ', 'address "ada "'],
  ['agent:all', 'agent name "all"'],
  ['role:', 'role ""'],
  ['broadcast:', 'swarm ""'],
  ['project:', 'tag value ""'],
  ['Project:x', '"Project:x" is not a tag'],
  [`${'n'.repeat(80)}:x`, `"${'n'.repeat(60)}" is not a tag`],
  [':x', '":x" is not a tag'],
])('the refusal of %j says what it should have been', (written, said) => {
  expect(() => parseAddress(written)).toThrow(said)
})

test.each(['role:x', 'agent:x', 'broadcast:x', 'X:y'])('%j is no tag', (text) => {
  expect(() => checkTag(text)).toThrow('is not a tag')
})

test.each(['', 'two  spaces', 'a\nb', 'tag:', 'tag:role:x', 'tag:a:b:c'])('%j is no label either', (text) => {
  expect(() => checkTag(text)).toThrow()
})

describe('a tag that is one word', () => {
  test('is kept as the word, and its holders have an address that is no name', () => {
    // No word is reserved: it addresses nobody by itself.
    for (const word of ['handoff', 'broadcast', 'all', 'needs review']) {
      expect([checkTag(word), checkTag(`tag:${word}`), boxOfTag(word)]).toEqual([word, word, `tag:${word}`])
      const address = { kind: 'tag', tag: `tag:${word}`, broadcast: false }
      expect(parseAddress(`tag:${word}`)).toEqual(address)
    }
    expect(boxOfTag('project:x')).toBe('project:x')
    expect(parseAddress('handoff')).toEqual({ kind: 'agent', name: 'handoff' })
    expect(isGroupBox('tag:handoff')).toBe(true)
  })

  test('is on a message that has it or is addressed to it, but not on mail to an agent of that name', () => {
    const tagged = (tags: string[], to: string[], tag: string) => hasTag({ tags, to }, tag)
    expect(tagged(['handoff'], ['ada'], 'handoff')).toBe(true)
    expect(tagged(['handoff'], ['ada'], 'tag:handoff')).toBe(true)
    expect(tagged([], ['tag:handoff'], 'handoff')).toBe(true)
    expect(tagged([], ['handoff'], 'handoff')).toBe(false)
    expect(tagged([], ['broadcast:dev'], 'swarm:dev')).toBe(true)
    expect(tagged(['project:x'], ['ada'], 'project:y')).toBe(false)
  })
})

test('a message is in each of its boxes once', () => {
  expect(boxesTo(['broadcast:dev'])).toEqual(['swarm:dev'])
  expect(boxesTo(['ada', 'swarm:dev', 'broadcast:dev', 'ada'])).toEqual(['ada', 'swarm:dev'])
})
