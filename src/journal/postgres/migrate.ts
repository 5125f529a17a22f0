import { MailboxError } from '../../base/errors.ts'
import type { Link } from './driver.ts'
import { migrations } from './schema.ts'

export const schemaVersion = migrations.length

/** Creates or upgrades the tables; whoever comes at the same time waits. */
export async function ensureSchema(link: Link): Promise<void> {
  await link.query('BEGIN')
  try {
    // Any number that no other program takes.
    await link.query('SELECT pg_advisory_xact_lock(7237119540122)')
    const [{ found }] = await link.query<{ found: boolean }>(
      "SELECT to_regclass('mailbox.migrations') IS NOT NULL AS found",
    )
    if (!found) {
      await link.query('CREATE SCHEMA IF NOT EXISTS mailbox')
      await link.query(
        'CREATE TABLE mailbox.migrations (version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())',
      )
    }
    const [{ version }] = await link.query<{ version: number }>(
      'SELECT coalesce(max(version), 0) AS version FROM mailbox.migrations',
    )
    mustBeKnown(version)
    for (let next = version; next < schemaVersion; next++) {
      await link.query(migrations[next]!)
      await link.query('INSERT INTO mailbox.migrations (version) VALUES ($1)', [next + 1])
    }
    await link.query('COMMIT')
  } catch (error) {
    await link.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Tables of a later version may not mean what this one thinks they do. */
export function mustBeKnown(version: number): void {
  if (version <= schemaVersion) return
  throw new MailboxError(
    'invalid',
    `the tables of this database have format ${version}; this version of agent-mailbox knows ${schemaVersion}`,
    { hint: 'open it with a newer agent-mailbox' },
  )
}
