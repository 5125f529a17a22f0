import { MailboxError } from '../base/errors.ts'

/** Limits as numbers: a name must fit a file name (255 bytes) with room for an ending, even when escaped. */
export const maxNameLength = 120
const maxFileLength = 240

const lowerAscii = /^[a-z0-9_-]$/
// Format and bidi controls look like nothing and make two names look the same.
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\u115f\u1160\u2800\u3164\uffa0]|[^\S ]/u

/** Words that mean something in an address and therefore name nobody. */
const reserved = new Set(['all', '*', 'role', 'agent', 'broadcast'])

/**
 * Checks the name of an agent, a role or a tag's value. Any script, capitals, `/` and single spaces are
 * welcome; what could be mistaken for another name is not.
 */
export function checkName(name: string, what = 'name'): string {
  const refuse = (why: string, hint: string) => {
    throw new MailboxError('invalid', `${what} ${JSON.stringify(name.slice(0, 60))} ${why}`, { hint })
  }
  if (typeof name !== 'string')
    throw new MailboxError('invalid', `${what} is not a string`, { hint: 'pass a string' })
  if (name.length === 0) refuse('is empty', `give the ${what} at least one character`)
  if (name.length > maxNameLength) {
    refuse(`is ${name.length} characters long`, `${maxNameLength} characters are the limit`)
  }
  if (nameToFile(name).length > maxFileLength) {
    refuse('is too long for a file name', 'about 26 characters outside ASCII are the limit')
  }
  if (invisible.test(name)) {
    refuse('holds control or invisible characters', 'use letters, digits, spaces, - _ . and /')
  }
  if (name !== name.trim() || name.includes('  ')) {
    refuse('has spaces at an end or two in a row', 'remove the extra spaces')
  }
  if (name.includes(':')) refuse('holds a colon', 'a colon separates the kind of an address: role:NAME')
  if (name.normalize('NFC') !== name) refuse('is not in composed form', 'write it in Unicode NFC')
  if (reserved.has(name)) refuse('is reserved', 'choose another')
  return name
}

/**
 * A name as one path component, one to one: lower-case ASCII letters, digits, `-` and `_` stay, every
 * other byte of its UTF-8 becomes `%XX`. Capitals are escaped as well, because a file system may fold
 * them, and dots, because of `..`.
 */
export function nameToFile(name: string): string {
  let out = ''
  for (const byte of Buffer.from(name, 'utf8')) {
    const char = String.fromCharCode(byte)
    out += lowerAscii.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}

/** The name a path component stands for, or undefined where {@link nameToFile} did not write it. */
export function fileToName(file: string): string | undefined {
  if (!/^(?:[a-z0-9_-]|%[0-9A-F]{2})+$/.test(file)) return undefined
  const bytes = file.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const name = Buffer.from(bytes, 'latin1').toString('utf8')
  return nameToFile(name) === file ? name : undefined
}
