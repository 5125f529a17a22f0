import { hash } from 'node:crypto'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { listIfAny, readTextFile, writeFileAtomically } from '../base/files.ts'
import { isObject } from '../base/objects.ts'
import { person } from '../model/agent.ts'
import { configDir, type Environment } from './trust.ts'

/** A token for a hub, as `mailbox login` keeps it: outside of every space, readable by its owner only. */
export interface Login {
  url: string
  /** The agent that the token belongs to. */
  agent: string
  token: string
  /** What the person calls it: `--space NAME`. */
  name?: string
}

const loginsDir = (env: Environment): string => join(configDir(env), 'logins')

/** A file for each address and agent, so that two logins at once do not overwrite each other. */
const fileOf = ({ url, agent }: Pick<Login, 'url' | 'agent'>): string =>
  `${hash('sha256', `${url}\n${agent}`, 'hex').slice(0, 32)}.json`

export function readLogins(env: Environment): Login[] {
  return listIfAny(loginsDir(env))
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => readLogin(join(loginsDir(env), file)) ?? [])
}

function readLogin(file: string): Login | undefined {
  const text = readTextFile(file)
  // Another process has logged out meanwhile.
  if (text === undefined) return undefined
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
    throw new MailboxError('not_permitted', `${file} is readable by other users`, {
      hint: `if somebody may have read it, have the token replaced and log in again; otherwise: chmod 600 ${file}`,
    })
  const found = parse(text)
  if (found !== undefined) return found
  throw new MailboxError('damaged', `${file} is not a login`, { hint: 'delete it, and log in again' })
}

function parse(text: string): Login | undefined {
  try {
    const found: unknown = JSON.parse(text)
    if (!isObject(found)) return undefined
    const { url, agent, token, name } = found
    const isWhole = [url, agent, token].every((word) => typeof word === 'string')
    if (!isWhole || (name !== undefined && typeof name !== 'string')) return undefined
    return found as unknown as Login
  } catch {
    return undefined
  }
}

/** A name that cannot be taken for a directory or an address. */
const namePattern = /^[a-z0-9][a-z0-9_-]{0,63}$/i

export function loginNamed(name: string, env: Environment): Login | undefined {
  if (!namePattern.test(name)) return undefined
  return readLogins(env).find((login) => login.name === name)
}

/** The token for a hub. A process that has one in its environment uses that one. */
export function tokenFor(
  hub: { url: string; agent?: string },
  agent: string | undefined,
  env: Environment,
): string {
  const token = env['MAILBOX_TOKEN'] || loginFor(hub.url, agent ?? hub.agent, env)?.token
  if (token !== undefined) return token
  throw new MailboxError('not_permitted', `there is no token for ${hub.url}`, {
    hint: `log in: mailbox login ${hub.url}; or set MAILBOX_TOKEN`,
  })
}

/** The login for an address: that of the agent who acts, the only one, or the person's. */
function loginFor(url: string, agent: string | undefined, env: Environment): Login | undefined {
  const known = readLogins(env).filter((login) => login.url === url)
  const of = (name: string | undefined) => known.find((login) => login.agent === name)
  return of(agent) ?? (known.length === 1 ? known[0] : of(person))
}

/** Keeps a login, in the place of an earlier one of the same agent. */
export function saveLogin(login: Login, env: Environment): void {
  const { name } = login
  if (name !== undefined && !namePattern.test(name))
    throw new MailboxError('invalid', `${JSON.stringify(name.slice(0, 80))} cannot be the name of a login`, {
      hint: 'use letters, digits, - and _',
    })
  const other = name === undefined ? undefined : loginNamed(name, env)
  if (other !== undefined && fileOf(other) !== fileOf(login))
    throw new MailboxError('conflict', `${name} is already ${other.agent} at ${other.url}`, {
      hint: `choose another name, or: mailbox logout ${name}`,
    })
  mkdirSync(loginsDir(env), { recursive: true, mode: 0o700 })
  writeFileAtomically(join(loginsDir(env), fileOf(login)), `${JSON.stringify(login, null, 2)}\n`)
}

export const removeLogin = (login: Login, env: Environment): void =>
  rmSync(join(loginsDir(env), fileOf(login)), { force: true })
