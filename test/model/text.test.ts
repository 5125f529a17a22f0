import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  estimateTokens,
  toPrintable,
  toPrintableLine,
  toSafeJson,
  withoutControls,
  withoutHidden,
} from '../../src/model/text.ts'

/** Text full of what a terminal obeys. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(
        '\u001b[31m',
        '\u001b]0;title\u0007',
        '\u009b2J',
        '\r\n',
        '\u202e',
        '\u2066',
        '\ud800',
        '\udc00',
      ),
    ),
  )
  .map((pieces) => pieces.join(''))

const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/
const bidi = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

describe('text for a terminal', () => {
  test('holds no control character but newline and tab, and nothing that reorders', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const printable = toPrintable(text)
        expect(printable).not.toMatch(control)
        expect(printable).not.toMatch(bidi)
        expect(printable.isWellFormed()).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test('is the same for text that was harmless', () => {
    for (const text of [
      'hello',
      'two\nlines\tand a tab',
      'Zoë 建築家 Ада مهندس 🙂 👩‍👩‍👧'.replaceAll('\u200d', ''),
    ]) {
      expect(toPrintable(text)).toBe(text)
    }
  })

  test('is settled: a second pass changes nothing', () => {
    fc.assert(fc.property(hostile, (text) => toPrintable(toPrintable(text)) === toPrintable(text)))
  })

  test('shows what was removed', () => {
    expect(toPrintable('a\u001b[31mred')).toBe('a␛[31mred')
    expect(toPrintable('a\0b')).toBe('a␀b')
    expect(toPrintable('a\u001fb c')).toBe('a␟b c')
    expect(toPrintable('a\u007fb')).toBe('a␡b')
    expect(toPrintable('a\u202eb')).toBe('a\ufffdb')
    expect(toPrintable('a\ud800b')).toBe('a\ufffdb')
    expect(toPrintable('progress 10%\rprogress 20%')).toBe('progress 10%␍progress 20%')
  })

  test('has plain newlines where the text came from Windows', () => {
    expect(toPrintable('one\r\ntwo\r\n')).toBe('one\ntwo\n')
  })

  test('is one line in a table', () => {
    fc.assert(fc.property(hostile, (text) => !/[\n\t]/.test(toPrintableLine(text))))
    expect(toPrintableLine(' a\n\tb ')).toBe('a b')
  })
})

test('a token is about four characters of English', () => {
  expect(estimateTokens('')).toBe(0)
  expect(estimateTokens('abcd')).toBe(1)
  expect(estimateTokens('abcde')).toBe(2)
})

test('text for a model loses what steers a terminal or hides, without a mark', () => {
  expect(withoutControls('a\u001b[31mred\u202e\ud800')).toBe('a[31mred')
  expect(withoutControls('one\r\ntwo\rthree\tfour\n')).toBe('one\ntwothree\tfour\n')
  expect(withoutControls('a\u00ad\ufe0f\u3164\u{e0101}b')).toBe('ab')
  expect(withoutControls('Zoë 建築家 🙂')).toBe('Zoë 建築家 🙂')
})

test('what a terminal obeys leaves no trace where there must be none', () => {
  expect(withoutControls('a\r\nb\rc\u001b[31md\u202ee\u200bf\tg\nh')).toBe('a\nbc[31mdef\tg\nh')
  expect(withoutHidden('a\ufe0fb\u00adc\u{e0041}d\ufffce')).toBe('abcde')
  // These are seen.
  expect(withoutHidden('a\u0600b\u06ddc\u{110bd}')).toBe('a\u0600b\u06ddc\u{110bd}')
})

test('JSON stays the same value and is harmless', () => {
  const value = { a: '\u001b[31m \u202e \u{e0041} \u007f é\r\n', 'b\u009b': ['x'] }
  const text = toSafeJson(value)
  expect(JSON.parse(text)).toEqual(value)
  expect(text).toContain('\\u001b')
  expect(text).toContain('\\u202e \\udb40\\udc41 \\u007f é')
  expect(text).not.toMatch(control)
  expect(text).not.toMatch(bidi)
})

test('a mark stands where a control character was', () => {
  expect(toPrintable('\u0000\u001f \u007f\u0080')).toBe('\u2400\u241f \u2421\ufffd')
})
