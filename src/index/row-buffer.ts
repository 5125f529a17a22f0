import type { Database, SqlValue, Statement } from '../base/sqlite.ts'

const rowsAtOnce = 24

/**
 * Collects new rows of one table and inserts many with one statement, at half the cost of one by one. `row`
 * is one row of the VALUES clause with `$1`, `$2` … for its parameters. Passing a parameter costs more than
 * anything SQLite does with it, so constants are part of the text.
 */
export class RowBuffer {
  readonly #one: Statement
  readonly #many: Statement
  readonly #width: number
  #values: SqlValue[] = []

  constructor(database: Database, insert: string, row: string) {
    this.#width = Math.max(...[...row.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])))
    const numbered = (at: number) =>
      row.replace(/\$(\d+)/g, (_, place) => `?${at * this.#width + Number(place)}`)
    const rows = Array.from({ length: rowsAtOnce }, (_, at) => numbered(at))
    this.#one = database.prepare(`${insert} VALUES ${numbered(0)}`)
    this.#many = database.prepare(`${insert} VALUES ${rows.join(', ')}`)
  }

  add(...row: SqlValue[]): void {
    for (const value of row) this.#values.push(value)
    if (this.#values.length === rowsAtOnce * this.#width) {
      this.#many.run(this.#values)
      this.#values = []
    }
  }

  flush(): void {
    const values = this.#values
    for (let at = 0; at < values.length; at += this.#width) this.#one.run(values.slice(at, at + this.#width))
    this.#values = []
  }
}
