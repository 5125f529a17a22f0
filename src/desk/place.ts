import { hash } from 'node:crypto'
import { lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where the desk of a space is: its lock, its socket and the bells that it keeps. Only the owner can enter. */
export const deskDir = (space: string): string => join(space, 'desk')

export const lockPath = (space: string): string => join(deskDir(space), 'lock')

const socketPath = (space: string): string => join(deskDir(space), 'socket')

/** The longest address of a socket that every system takes, in bytes. */
const longestAddress = 103

const isLong = (space: string): boolean => Buffer.byteLength(socketPath(space)) > longestAddress

/** A link to the directory of the desk, for a space whose path is too long for the address of a socket. */
const linkPath = (space: string): string => join(tmpdir(), `mailbox-${hash('sha256', space).slice(0, 24)}`)

/** Makes the place ready for whoever has the lock. Returns the address to listen at; undefined if there is none. */
export function prepareAddress(space: string): string | undefined {
  rmSync(socketPath(space), { force: true })
  if (!isLong(space)) return socketPath(space)
  const link = linkPath(space)
  try {
    symlinkSync(deskDir(space), link)
  } catch {
    // It is there already, or somebody else's file is.
  }
  return findAddress(space)
}

/** The address of the socket; undefined if there can be none. */
export function findAddress(space: string): string | undefined {
  if (!isLong(space)) return socketPath(space)
  const link = linkPath(space)
  return isOurLink(link, space) ? join(link, 'socket') : undefined
}

/** Everybody can write to the directory of temporary files, so a link counts only if we made it. */
function isOurLink(link: string, space: string): boolean {
  try {
    return lstatSync(link).uid === process.getuid?.() && readlinkSync(link) === deskDir(space)
  } catch {
    return false
  }
}

export function removeAddress(space: string): void {
  rmSync(socketPath(space), { force: true })
  if (isLong(space) && isOurLink(linkPath(space), space)) rmSync(linkPath(space), { force: true })
}

export const makeDeskDir = (space: string): void =>
  void mkdirSync(deskDir(space), { recursive: true, mode: 0o700 })
