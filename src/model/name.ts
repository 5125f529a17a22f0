import { MailboxError } from '../base/errors.ts'

/** A name must fit into a file name (255 bytes) with room for an extension, even when escaped. */
export const maxNameLength = 120
const maxFileLength = 240

const lowerAscii = /[a-z0-9_-]/
// What is invisible can make two names look the same.
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\ufffc]|[^\S ]/u

/** Words with a meaning in addresses, which cannot be names. */
export const reserved: ReadonlySet<string> = new Set(['all', '*', 'role', 'agent', 'broadcast'])

/**
 * Checks the name of an agent, a role or a tag's value. Any script, capitals, `/` and single spaces are
 * allowed; names that could be mistaken for another are not.
 */
export function checkName(name: string, what = 'name'): string {
  checkLabel(name, what)
  if (reserved.has(name)) refuse(name, what, 'is reserved', 'choose another name')
  return name
}

function refuse(name: string, what: string, why: string, hint: string): never {
  throw new MailboxError('invalid', `${what} ${JSON.stringify(name.slice(0, 60))} ${why}`, { hint })
}

/** Checks a word that is no address, so that no word is reserved. */
export function checkLabel(name: string, what: string): string {
  if (typeof name !== 'string')
    throw new MailboxError('invalid', `${what} must be a string`, { hint: 'pass a string' })
  if (name.length === 0) refuse(name, what, 'is empty', 'use at least one character')
  if (name.length > maxNameLength) {
    refuse(name, what, `is ${name.length} characters long`, `the limit is ${maxNameLength} characters`)
  }
  if (nameToFile(name).length > maxFileLength) {
    refuse(name, what, 'is too long for a file name', 'the limit is about 26 non-ASCII characters')
  }
  if (invisible.test(name)) {
    refuse(name, what, 'contains control or invisible characters', 'use letters, digits, spaces, - _ . and /')
  }
  if (name !== name.trim() || name.includes('  ')) {
    refuse(name, what, 'has leading, trailing or double spaces', 'remove the extra spaces')
  }
  if (name.includes(':'))
    refuse(name, what, 'contains a colon', 'a colon is reserved for addresses such as role:NAME')
  if (name.normalize('NFC') !== name) refuse(name, what, 'is not in Unicode NFC', 'normalize it to NFC')
  return name
}

/**
 * A name as a unique path component: lower-case ASCII letters, digits, `-` and `_` are kept, every other
 * UTF-8 byte becomes `%XX`. Capitals are escaped because some file systems ignore case, dots because of `..`.
 */
export function nameToFile(name: string): string {
  let out = ''
  for (const byte of Buffer.from(name)) {
    const char = String.fromCharCode(byte)
    out += lowerAscii.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}

/** The inverse of {@link nameToFile}; undefined for a path component that it cannot have produced. */
export function fileToName(file: string): string | undefined {
  const bytes = file.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const name = Buffer.from(bytes, 'latin1').toString('utf8')
  return file !== '' && nameToFile(name) === file ? name : undefined
}
