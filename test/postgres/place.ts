import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { parseAddress } from '../../src/journal/postgres/address.ts'
import { connect, type Link } from '../../src/journal/postgres/driver.ts'
import type { PostgresJournal, PostgresJournalOptions } from '../../src/journal/postgres/postgres-journal.ts'
import { freshAddress } from '../helpers/postgres.ts'
import { tempPostgres } from '../helpers/temp.ts'

/** A space in a database, and its tables by hand. */
export interface Place {
  url: string
  link: Link
  /** `SPACE` in the text is the number of the space. */
  sql: <Row = unknown>(text: string, ...values: unknown[]) => Promise<Row[]>
  open: (options?: Partial<PostgresJournalOptions>) => Promise<PostgresJournal>
}

async function placeAt(url: string): Promise<Place> {
  const address = parseAddress(url)
  const link = await connect(address)
  onTestFinished(() => link.close())
  const number = `(SELECT space FROM mailbox.spaces WHERE name = '${address.space}')`
  return {
    ...{ url, link },
    sql: (text, ...values) => link.query(text.replaceAll('SPACE', number), values),
    open: (options = {}) => tempPostgres({ ...options, url }),
  }
}

/** The place of a space that no other test has. */
export const ownSpace = async (): Promise<Place> => placeAt(await freshAddress())

/** The same in a database of its own, for what would disturb others. */
export async function ownDatabase(): Promise<Place> {
  const { url, sql } = await ownSpace()
  const database = `d${randomUUID().slice(0, 8)}`
  await sql(`CREATE DATABASE ${database}`)
  return placeAt(url.replace('/postgres?', `/${database}?`))
}
