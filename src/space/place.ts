import { hash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { loginNamed } from './logins.ts'
import { type FindSpaceOptions, findSpace } from './settings.ts'
import { configDir, type Environment, type FoundSpace } from './trust.ts'

/** A space behind a hub, as it was named. */
export interface HubPlace {
  kind: 'hub'
  url: string
  /** The agent of the login that was named, if it was named by its name. */
  agent?: string
}

/** Where a space is: in a directory of this machine, or behind a hub. */
export type Place = ({ kind: 'directory' } & FoundSpace) | HubPlace

/** What somebody has named as a space. An address is known by its scheme; everything else is a directory. */
function kindOfAddress(named: string): Place['kind'] {
  if (/^https?:\/\//i.test(named) || /^unix:/i.test(named)) return 'hub'
  return 'directory'
}

/** Finds the space: the directories of {@link findSpace}, the address of a hub, or a login by its name. */
export function findPlace(options: FindSpaceOptions): Place {
  const { given, env } = options
  const named = given ?? env['MAILBOX_SPACE'] ?? ''
  const login = named === '' ? undefined : loginNamed(named, env)
  if (login !== undefined) return { kind: 'hub', url: login.url, agent: login.agent }
  if (kindOfAddress(named) === 'hub') return { kind: 'hub', url: hubUrl(named) }
  return { kind: 'directory', ...findSpace(options) }
}

/** The address of a hub as it is stored and compared: without a path, and never with a secret in it. */
export function hubUrl(named: string): string {
  const socket = /^unix:(?:\/\/)?(.+)$/i.exec(named)?.[1]
  if (socket !== undefined) return `unix:${resolve(socket)}`
  if (URL.canParse(named)) {
    const { protocol, origin, username, password, hash } = new URL(named)
    if (username !== '' || password !== '' || hash !== '')
      throw new MailboxError('invalid', 'an address has no token in it', {
        hint: `other users of this machine can see it; use ${origin}, and give the token to mailbox login`,
      })
    if (/^https?:$/.test(protocol)) return origin
  }
  throw new MailboxError('invalid', `${JSON.stringify(named.slice(0, 200))} is not the address of a hub`, {
    hint: 'use the address that `mailbox serve` printed, such as http://127.0.0.1:7337, or unix:PATH for its socket',
  })
}

/** What programs on this machine keep about a space behind a hub, as those on its machine keep it in the space. */
export const stateDirFor = (url: string, env: Environment): string =>
  join(configDir(env), 'hubs', hash('sha256', url, 'hex').slice(0, 32))
