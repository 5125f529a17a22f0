import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MailboxError } from '../../src/base/errors.ts'
import { checkName, fileToName, maxNameLength, nameToFile } from '../../src/model/name.ts'

/** Any text that can be written as UTF-8. */
const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })

function refusal(name: string): MailboxError {
  try {
    checkName(name)
  } catch (error) {
    return error as MailboxError
  }
  throw new Error(`${JSON.stringify(name)} was accepted`)
}

describe('names', () => {
  test.each([
    ['ada'],
    ['Ada'],
    ['ao-10'],
    ['swarm_dev/architect'],
    ['swarm_dev_architect'],
    ['Ada Lovelace'],
    ['user'],
    ['..'],
    ['a.b'],
    ['../../etc/passwd'],
    ['Zoë'],
    ['Ада'],
    ['建築家'],
    ['مهندس'],
    ['คน'],
    ['🙂'],
    ["o'neill"],
    ['x'.repeat(maxNameLength)],
  ])('%j is welcome', (name) => {
    expect(checkName(name)).toBe(name)
  })

  test.each([
    ['nothing', ''],
    ['a space at the start', ' ada'],
    ['a space at the end', 'ada '],
    ['two spaces in a row', 'ada  b'],
    ['a newline', 'ada\nbob'],
    ['a tab', 'ada\tbob'],
    ['NUL', 'ada\0'],
    ['an escape', 'ada\u001b[31m'],
    ['DEL', 'ada\u007f'],
    ['a C1 control', 'ada\u009b'],
    ['a zero-width space', 'a\u200bda'],
    ['a zero-width joiner', 'a\u200dda'],
    ['a bidi override', 'a\u202eda'],
    ['a bidi isolate', 'a\u2066da'],
    ['a byte order mark', '\ufeffada'],
    ['a soft hyphen', 'a\u00adda'],
    ['a line separator', 'a\u2028da'],
    ['a lone surrogate', 'a\ud800'],
    ['a colon', 'role:ada'],
    ['decomposed letters', 'Zoe\u0308'],
    ['the word all', 'all'],
    ['the star', '*'],
    ['the word role', 'role'],
    ['the word agent', 'agent'],
    ['the word broadcast', 'broadcast'],
    ['too many characters', 'x'.repeat(maxNameLength + 1)],
    ['too many bytes for a file name', '建'.repeat(27)],
  ])('%s is refused, with a hint', (_, name) => {
    const error = refusal(name)
    expect(error).toBeInstanceOf(MailboxError)
    expect(error.code).toBe('invalid')
    expect(error.hint).toMatch(/\S/)
  })

  test('the refusal quotes the name without its control characters', () => {
    expect(refusal('a\u001b[31m\0').message).not.toMatch(/[\p{Cc}]/u)
  })

  test('the refusal says of what, and is short', () => {
    expect(refusal('all').message).toBe('name "all" is reserved')
    expect(() => checkName('a:b', 'role')).toThrow('role "a:b" contains a colon')
    expect(() => checkName(5 as never, 'role')).toThrow('role must be a string')
    expect(refusal('x'.repeat(500)).message).toBe(`name "${'x'.repeat(60)}" is 500 characters long`)
    expect(refusal('x'.repeat(500)).hint).toBe('the limit is 120 characters')
  })

  test('a name may fill a file name to the last byte', () => {
    expect(checkName(`${'建'.repeat(26)}${'x'.repeat(6)}`)).toHaveLength(32)
    expect(refusal(`${'建'.repeat(26)}${'x'.repeat(7)}`).message).toContain('too long for a file name')
  })
})

describe('names as files', () => {
  test('a slash and an underscore are two names and two files', () => {
    expect(nameToFile('swarm_dev/architect')).toBe('swarm_dev%2Farchitect')
    expect(nameToFile('swarm_dev_architect')).toBe('swarm_dev_architect')
  })

  test('dots cannot climb', () => {
    expect(nameToFile('..')).toBe('%2E%2E')
    expect(nameToFile('../x')).toBe('%2E%2E%2Fx')
  })

  test('capitals differ on a file system that folds case', () => {
    const files = ['ada', 'Ada', 'ADA', 'aDa'].map((name) => nameToFile(name).toLowerCase())
    expect(new Set(files).size).toBe(4)
  })

  test('a name comes back from its file', () => {
    fc.assert(fc.property(anyText, (name) => fileToName(nameToFile(name)) === name))
  })

  test('two names never share a file, even when case is folded', () => {
    const near = fc.constantFrom('ada', 'Ada', 'a/b', 'a_b', 'a%2fb', 'a%2Fb', '..', '%2E%2E', '%', '%25')
    const name = fc.oneof(anyText, near)
    fc.assert(
      fc.property(name, name, (a, b) => {
        return a === b || nameToFile(a).toLowerCase() !== nameToFile(b).toLowerCase()
      }),
    )
  })

  test('a file holds nothing that a file system treats specially', () => {
    fc.assert(fc.property(anyText, (name) => /^[a-z0-9_%A-F-]+$/.test(nameToFile(name))))
  })

  test('an accepted name leaves room for an ending', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 130 }), (name) => {
        try {
          checkName(name)
        } catch {
          return
        }
        expect(nameToFile(name).length).toBeLessThanOrEqual(240)
      }),
    )
  })

  test.each([
    [''],
    ['Ada'],
    ['a b'],
    ['..'],
    ['../x'],
    ['%'],
    ['%4'],
    ['%zz'],
    ['%2f'],
    ['%61da'],
    ['%FF'],
    ['ada.'],
    ['.ada'],
    ['ada\n'],
    ['x%'],
  ])('the file %j is not one of ours', (file) => {
    expect(fileToName(file)).toBeUndefined()
  })

  test('whatever is taken for a name is the one that was written', () => {
    const file = fc.stringMatching(/^(?:[a-z0-9_-]|%[0-9A-F]{2}){1,12}$/)
    fc.assert(
      fc.property(file, (written) => {
        const name = fileToName(written)
        expect(name === undefined || nameToFile(name) === written).toBe(true)
      }),
    )
  })
})
