import type { Database, SqlValue, Statement } from '../sqlite.ts'

const rowsAtOnce = 24

/** Gathers new rows of one table and inserts many with one statement: half the price of one by one. */
export class RowBuffer {
  readonly #one: Statement
  readonly #many: Statement
  readonly #width: number
  #values: SqlValue[] = []

  constructor(database: Database, insert: string, width: number) {
    const row = `(${new Array(width).fill('?').join(', ')})`
    this.#width = width
    this.#one = database.prepare(`${insert} VALUES ${row}`)
    this.#many = database.prepare(`${insert} VALUES ${new Array(rowsAtOnce).fill(row).join(', ')}`)
  }

  add(row: SqlValue[]): void {
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
