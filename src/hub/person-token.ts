import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { createFileAtomically, readTextFile, writeFileAtomically } from '../base/files.ts'
import { hubDir, isUnwritable, makeHubDir, mustBePrivate } from './hub-dir.ts'

export const newToken = (): string => `mbx_${randomBytes(32).toString('base64url')}`
export const personFile = (dir: string): string => join(hubDir(dir), 'token')

/**
 * The person's token for programs. It is created when it is first needed; where nothing can be written, it is one for
 * this process alone, which `isStored` says.
 */
export function personToken(dir: string): { token: string; isStored: boolean } {
  const file = personFile(dir)
  const found = statSync(file, { throwIfNoEntry: false })
  // A power loss could leave an empty file while an earlier version wrote tokens. Nobody has that token.
  const isEmpty = found?.isFile() && found.size === 0
  if (found === undefined || isEmpty) {
    try {
      makeHubDir(dir)
      if (isEmpty) rmSync(file)
      createFileAtomically(file, `${newToken()}\n`)
    } catch (error) {
      if (!isUnwritable(error)) throw error
      return { token: newToken(), isStored: false }
    }
  }
  return { token: readPersonToken(dir) ?? '', isStored: true }
}

/** The stored token of the person; undefined when there is none. */
export function readPersonToken(dir: string): string | undefined {
  const file = personFile(dir)
  const token = readTextFile(file)?.trim()
  if (token === undefined) return undefined
  mustBePrivate(file)
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new MailboxError('damaged', `${file} has no token`, {
    hint: 'delete it: a new token is created, and the old one ends',
  })
}

/** Replaces the person's token. The old one ends at once. */
export function rotatePersonToken(dir: string): string {
  const token = newToken()
  makeHubDir(dir)
  writeFileAtomically(personFile(dir), `${token}\n`)
  return token
}
