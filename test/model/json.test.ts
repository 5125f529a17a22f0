import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MailboxError } from '../../src/base/errors.ts'
import { checkJsonValue, maxJsonDepth, parseStrictJson } from '../../src/base/json.ts'

function refused(work: () => unknown): MailboxError {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(MailboxError)
    expect(error).toMatchObject({ code: 'invalid', hint: expect.stringMatching(/\S/) })
    return error as MailboxError
  }
  throw new Error('it was accepted')
}

const nested = (depth: number, open: string, close: string, core: string) =>
  open.repeat(depth) + core + close.repeat(depth)

/** Keys and numbers of which every reader makes the same. */
const safeValue = fc.jsonValue({ maxDepth: 6, noUnicodeString: false }).filter((value) => {
  const text = JSON.stringify(value)
  return !text.includes('__proto__') && isSafe(JSON.parse(text))
})

function isSafe(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  if (Array.isArray(value)) return value.every(isSafe)
  return typeof value !== 'object' || value === null || Object.values(value).every(isSafe)
}

describe('strict JSON', () => {
  test('takes what JSON.stringify made of safe values', () => {
    fc.assert(
      fc.property(safeValue, fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parseStrictJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('understands whatever it takes as JSON.parse does', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '"\\u0061"',
      '1',
      '-',
      '1e3',
      'null',
      ' ',
    )
    const soup = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
    const text = fc.oneof(fc.json(), soup, fc.string())
    fc.assert(
      fc.property(text, (written) => {
        let value: unknown
        try {
          value = parseStrictJson(written)
        } catch (error) {
          expect(error).toBeInstanceOf(MailboxError)
          return
        }
        expect(value).toEqual(JSON.parse(written))
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    ['twice', '{"from":"alice","from":"root"}'],
    ['with an escape', '{"from":"alice","fr\\u006fm":"root"}'],
    ['with a surrogate pair', '{"🙂":1,"\\ud83d\\ude42":2}'],
    ['in an inner object', '[{"x":{"a":1,"b":2,"a":3}}]'],
    ['around an inner object', '{"a":{"b":[1,{"c":2}]},"a":1}'],
    ['after strings that look like keys', '{"a":"\\"b\\":","b":"{","b":1}'],
    ['with the same value', '{"a":1, "a" : 1}'],
  ])('refuses a key %s', (_, text) => {
    expect(refused(() => parseStrictJson(text)).message).toMatch(/twice/)
  })

  test.each([
    ['in two objects', '[{"a":1},{"a":2}]'],
    ['inside and outside', '{"a":{"a":{"a":1}}}'],
    ['as a key and as a value', '{"a":"a","b":["a","a"]}'],
    ['in different case', '{"a":1,"A":2}'],
  ])('takes the same word %s', (_, text) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text))
  })

  test.each([['{"__proto__":{}}'], ['{"a":{"__pr\\u006fto__":1}}']])('refuses %s', (text) => {
    expect(refused(() => parseStrictJson(text)).message).toMatch(/__proto__/)
  })

  test('takes __proto__ where it is no key', () => {
    expect(parseStrictJson('["__proto__"]')).toEqual(['__proto__'])
  })

  test(`goes ${maxJsonDepth} levels deep and no deeper`, () => {
    for (const [open, close, core] of [
      ['[', ']', '1'],
      ['{"a":', '}', '1'],
    ] as const) {
      expect(() => parseStrictJson(nested(maxJsonDepth, open, close, core))).not.toThrow()
      expect(refused(() => parseStrictJson(nested(maxJsonDepth + 1, open, close, core))).message).toMatch(
        /deeper/,
      )
    }
  })

  test('refuses a depth of millions at once', () => {
    refused(() => parseStrictJson('['.repeat(5_000_000)))
  })

  test.each([
    ['9007199254740992'],
    ['-9007199254740993'],
    ['1e400'],
    ['-1e999'],
    ['1e16'],
    ['12345678901234567890'],
  ])('refuses the number %s', (text) => {
    refused(() => parseStrictJson(text))
    refused(() => parseStrictJson(`{"a":[${text}]}`))
  })

  test.each([['9007199254740991'], ['-9007199254740991'], ['0.1'], ['-0'], ['1e15'], ['1.5e-7'], ['0']])(
    'takes the number %s',
    (text) => {
      expect(parseStrictJson(text)).toBe(JSON.parse(text))
    },
  )

  test('takes digits in strings, however many', () => {
    expect(parseStrictJson('"123456789012345678901234567890"')).toBe('123456789012345678901234567890')
  })

  test.each([
    [''],
    ['{'],
    ['}'],
    ['[1,]'],
    ['{"a"}'],
    ['{a:1}'],
    ["{'a':1}"],
    ['"x'],
    ['1 2'],
    ['NaN'],
    ['{"a\n":1}'],
  ])('refuses %j, which is no JSON', (text) => {
    refused(() => parseStrictJson(text))
  })
})

describe('values that did not come as text', () => {
  const check = (value: unknown) => checkJsonValue(value, 'payload')

  test('takes what JSON holds', () => {
    fc.assert(fc.property(safeValue, (value) => void check(value)))
  })

  test('takes objects without a prototype, and undefined as an absent property', () => {
    expect(() => check(Object.assign(Object.create(null), { a: 1 }))).not.toThrow()
    expect(() => check({ a: undefined })).not.toThrow()
  })

  test.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a number beyond 2^53', 2 ** 53],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['undefined', undefined],
    ['undefined in an array', [undefined]],
    ['a hole in an array', new Array(2)],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['a Buffer', Buffer.from('x')],
    ['an object of a class', new (class Thing {})()],
    ['the key __proto__', JSON.parse('{"__proto__":1}')],
    ['an object with toJSON', { toJSON: () => 1 }],
  ])('refuses %s, also deep inside', (_, value) => {
    refused(() => check(value))
    if (value !== undefined) refused(() => check({ a: [{ b: value }] }))
  })

  test('refuses a value that contains itself', () => {
    const loop: Record<string, unknown> = {}
    loop['loop'] = loop
    expect(refused(() => check(loop)).message).toMatch(/deeper/)
  })

  test('names what it refuses', () => {
    expect(refused(() => checkJsonValue(Number.NaN, 'context')).message).toMatch(/^context /)
  })
})
