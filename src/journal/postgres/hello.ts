import { MailboxError } from '../../base/errors.ts'
import type { PostgresAddress } from './address.ts'
import type { Link } from './driver.ts'
import { ensureSchema, mustBeKnown, schemaVersion } from './migrate.ts'

/** What a server says of itself, and of the space, when a connection is new. */
interface Hello {
  version: number
  recovery: boolean
  readonly: string
  encoding: string
  migration: number
  space: string | null
  id: string | null
}

const oldestVersion = 130_000

/** Asks a server who it is. Its tables are made, or upgraded, if there is a need. */
export async function greet(link: Link, address: PostgresAddress): Promise<Hello> {
  try {
    const [hello] = await link.query<Hello>(helloText, [address.space])
    if (hello.migration >= schemaVersion || hello.recovery) return hello
  } catch (error) {
    if (!isMissing(error)) throw error
    const [bare] = await link.query<Hello>(bareHelloText)
    mustBeUsable(bare, address)
  }
  await ensureSchema(link)
  const [hello] = await link.query<Hello>(helloText, [address.space])
  return hello
}

const about = `current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS recovery,
  current_setting('transaction_read_only') AS readonly, current_setting('server_encoding') AS encoding`
const helloText = `SELECT ${about}, (SELECT coalesce(max(version), 0) FROM mailbox.migrations) AS migration, s.space, s.id
  FROM (SELECT 1) AS one LEFT JOIN mailbox.spaces AS s ON s.name = $1`
const bareHelloText = `SELECT ${about}, 0 AS migration, NULL AS space, NULL AS id`

const isMissing = (error: unknown): boolean => {
  const { code } = ((error as MailboxError).cause ?? {}) as { code?: string }
  return code === '42P01' || code === '3F000'
}

export function mustBeUsable(
  { version, recovery, readonly, encoding, migration }: Omit<Hello, 'space' | 'id'>,
  { shown }: PostgresAddress,
): void {
  if (version < oldestVersion)
    throw new MailboxError(
      'invalid',
      `${shown}: the server is PostgreSQL ${Math.floor(version / 10_000)}; it takes 13 or newer`,
      {
        hint: 'upgrade the server, or use another one',
      },
    )
  if (encoding !== 'UTF8')
    throw new MailboxError('invalid', `${shown}: the database has the encoding ${encoding}; it takes UTF8`, {
      hint: 'create one: createdb --encoding=UTF8 --template=template0 DATABASE',
    })
  mustBeKnown(migration)
  // One that is promoted later is used then.
  if (recovery)
    throw new MailboxError('unreachable', `${shown}: the server is a standby, or still recovering`, {
      hint: 'use the address of the primary; if this server becomes it, everything goes on by itself',
    })
  if (readonly === 'on')
    throw new MailboxError('not_permitted', `${shown}: the database is read-only`, {
      hint: 'see default_transaction_read_only of the server, the database and the user',
    })
}
