import { join } from 'node:path'
import { openDatabase } from '../../src/base/sqlite.ts'

/** Every row of every table of an index, as the file has it. The boot it was made in is no part of it. */
export function rowsOf(dir: string, file = 'index.db'): Record<string, unknown[][]> {
  const database = openDatabase(join(dir, file), 10_000)
  try {
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
    const tables: Record<string, unknown[][]> = {}
    for (const [name] of names) {
      const columns = name === 'meta' ? 'format, space, seq, segment, offset, sum' : '*'
      tables[name as string] = database.prepare(`SELECT ${columns} FROM ${name as string}`).all()
    }
    return tables
  } finally {
    database.close()
  }
}
