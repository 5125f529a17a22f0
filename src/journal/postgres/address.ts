import { hash } from 'node:crypto'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'

/** Where a space on PostgreSQL is: `postgres://USER@HOST:PORT/DATABASE?space=NAME`. */
export interface PostgresAddress {
  /** The name of the space in its database. */
  space: string
  /** As it may be shown and stored: without a password. */
  shown: string
  /** What the driver gets: without our own parameters. */
  connection: string
  /** How long to wait for a connection. */
  connectMs: number
  /** How long to wait for an answer before the database counts as unreachable. */
  timeoutMs: number
}

const pattern = /^postgres(?:ql)?:\/\//i
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
const example = 'postgres://USER@HOST/DATABASE?space=NAME'

export const isPostgresAddress = (text: string): boolean => pattern.test(text)

export function parseAddress(text: string): PostgresAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !isPostgresAddress(text))
    throw new MailboxError('invalid', `${JSON.stringify(hidePassword(text))} is not a PostgreSQL address`, {
      hint: example,
    })
  const shown = new URL(url)
  shown.password = ''
  // libpq takes it here as well.
  shown.searchParams.delete('password')
  const space = url.searchParams.get('space') ?? ''
  if (!namePattern.test(space))
    throw new MailboxError(
      'invalid',
      space === ''
        ? `${shown.href} does not name a space`
        : `${JSON.stringify(space)} is not a name of a space`,
      { hint: `${example}; a name has letters, digits, dots, dashes and underscores, at most 63` },
    )
  chooseTls(url)
  const connectMs = seconds(url, 'connect_timeout', 5)
  const timeoutMs = seconds(url, 'timeout', 15)
  for (const own of ['space', 'timeout', 'connect_timeout']) url.searchParams.delete(own)
  return { space, shown: shown.href, connection: url.href, connectMs, timeoutMs }
}

const tlsModes = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full']

/**
 * Every mode but the first two checks the certificate and whose it is, as the driver does today. It is named to the
 * driver as what it is: a later one may take `require` for less. Who wants libpq's meaning says so.
 */
function chooseTls({ searchParams }: URL): void {
  const mode = searchParams.get('sslmode')
  if (mode === null) return
  if (!tlsModes.includes(mode))
    throw new MailboxError('invalid', `sslmode=${mode} is not one of ${tlsModes.join(', ')}`, {
      hint: 'sslmode=verify-full, with sslrootcert=FILE if the certificate is not from a public authority',
    })
  const isLibpq = searchParams.get('uselibpqcompat') === 'true'
  if (!isLibpq && tlsModes.indexOf(mode) > 1) searchParams.set('sslmode', 'verify-full')
}

function seconds(url: URL, name: string, otherwise: number): number {
  const text = url.searchParams.get(name)
  const found = text === null ? otherwise : Number(text)
  if (Number.isFinite(found) && found > 0) return found * 1_000
  throw new MailboxError('invalid', `${name}=${text} is not a number of seconds`, { hint: `${name}=10` })
}

/** For messages: an address that cannot be parsed may have a password in it all the same. */
const hidePassword = (text: string): string =>
  text
    .slice(0, 200)
    .replace(/\/\/([^/@:]*):[^@]*@/, '//$1:***@')
    .replace(/([?&]password=)[^&]*/i, '$1***')

/** Arguments of a process can be seen by every user of the machine. */
export function mustHideNothing(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.password === '' && !url.searchParams.has('password'))) return
  throw new MailboxError(
    'invalid',
    'the address has a password, and everyone on this machine can see the arguments of a command',
    {
      hint: 'leave it out, and set PGPASSWORD, or add a line to ~/.pgpass: HOST:PORT:DATABASE:USER:PASSWORD',
    },
  )
}

/** The directory of this machine's copy, for whoever names the space by its address. */
export function copyDirOf(
  address: PostgresAddress,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const { hostname, port, pathname } = new URL(address.shown)
  const key = `${hostname}:${port || 5432}${pathname}?${address.space}`
  const cache = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache')
  return join(
    cache,
    'agent-mailbox',
    'postgres',
    `${address.space}-${hash('sha256', key, 'hex').slice(0, 12)}`,
  )
}
