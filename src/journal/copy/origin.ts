import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { moveFile, readJsonIfAny, writeFileAtomically } from '../../base/files.ts'
import { copyDirOf, isPostgresAddress, type PostgresAddress, parseAddress } from '../postgres/address.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The directory of a space whose journal is in a database has `origin.json`, with its address. Besides the copy of the
 * journal it keeps what belongs to this machine, so it can be named in place of the address.
 */
const originFile = (dir: string): string => join(dir, 'origin.json')

/** Where the journal of this directory is, if it is not here. */
export function originOf(dir: string, env: Environment): PostgresAddress | undefined {
  const found = readJsonIfAny<{ address?: unknown }>(originFile(dir))
  if (found === undefined) return undefined
  if (typeof found.address !== 'string')
    throw new MailboxError('damaged', `${originFile(dir)} has no address in it`, {
      hint: 'name the space by its address: --space postgres://USER@HOST/DATABASE?space=NAME',
    })
  const address = parseAddress(found.address)
  // The file has no password; the environment may.
  const named = env['MAILBOX_SPACE'] ?? ''
  const given = isPostgresAddress(named) ? parseAddress(named) : undefined
  return given?.shown === address.shown ? given : address
}

/** Makes a directory the place of this machine's copy. */
export function linkTo(address: PostgresAddress, dir: string): void {
  const text = `${JSON.stringify({ address: address.shown }, null, 2)}\n`
  if (readJsonIfAny<{ address?: unknown }>(originFile(dir))?.address === address.shown) return
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  writeFileAtomically(originFile(dir), text)
}

/** The journal of this directory is here again. */
export const unlink = (dir: string): void => rmSync(originFile(dir), { force: true })

/** What to tell whoever has a space open that was moved to a database. */
export function mustNotBeMoved(dir: string): void {
  const found = readJsonIfAny<{ address?: unknown }>(originFile(dir))
  if (found === undefined) return
  throw new MailboxError('damaged', `the space in ${dir} was moved to ${String(found.address)}`, {
    hint: 'end this process and start it again: the directory leads there',
  })
}

/** The directory of this machine for a space that is named by its address. */
export function dirForAddress(address: PostgresAddress, env: Environment): string {
  const dir = copyDirOf(address, env)
  linkTo(address, dir)
  return dir
}

/** Puts a copy aside that is not of the journal that is there now. Returns where it is. */
export function putAside(dir: string, now: number): string {
  const aside = join(dir, `journal-${new Date(now).toISOString().replaceAll(':', '-')}`)
  moveFile(join(dir, 'journal'), aside)
  if (existsSync(join(dir, 'archive')))
    moveFile(join(dir, 'archive'), aside.replace(/journal-(?=[^/]*$)/, 'archive-'))
  return aside
}
