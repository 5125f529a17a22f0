import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { readFileIfAny, writeFileAtomically } from '../../base/files.ts'
import type { Server } from './server.ts'

interface FileRow {
  name: string
  content: string | null
  version: string
}

/** How often a change is made again because somebody else was faster. */
const attempts = 20

/** Names of files that are the same on all machines. None leads out of the directory. */
const namePattern = /^(config\.json|hub\/(agents\.json|webhook-secret)|templates\/[^/]+\.json)$/

/**
 * Files of a space besides its journal that all machines share: settings, tokens, templates. The database has them, and
 * each machine has them where a space on its disk would, so that whoever reads them need not know.
 */
export class SharedFiles {
  readonly #server: Server
  readonly #dir: string
  #versions = new Map<string, number>()
  /** One after the other: an answer that was late must not replace a newer one. */
  #fetching: Promise<void> = Promise.resolve()

  constructor(server: Server, dir: string) {
    this.#server = server
    this.#dir = dir
  }

  /** The same if they have changed since this machine had them. */
  fetchAt(version: number): Promise<void> {
    const fetching = this.#fetching.catch(() => {}).then(() => this.#fetchAt(version))
    this.#fetching = fetching
    return fetching
  }

  async #fetchAt(version: number): Promise<void> {
    const note = join(this.#dir, 'shared')
    if (readFileIfAny(note) === `${version}\n`) return
    await this.fetch()
    writeFileAtomically(note, `${version}\n`, { expendable: true })
  }

  /** Brings the files of this machine to what the database has. */
  async fetch(): Promise<void> {
    const rows = await this.#server.with((link) =>
      link.query<FileRow>('SELECT name, content, version FROM mailbox.files WHERE space = $1', [
        this.#server.number,
      ]),
    )
    this.#versions = new Map(rows.map(({ name, version }) => [name, Number(version)]))
    for (const { name, content } of rows) if (namePattern.test(name)) this.#put(name, content)
  }

  #put(name: string, content: string | null): void {
    const path = join(this.#dir, name)
    if ((readFileIfAny(path) ?? null) === content) return
    if (content === null) rmSync(path, { force: true })
    else {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeFileAtomically(path, content)
      chmodSync(path, 0o600)
    }
  }

  /** Has `change` change a file of this machine, and the database with it; again if another machine was faster. */
  async change<T>(name: string, change: () => T): Promise<T> {
    const path = join(this.#dir, name)
    for (let attempt = 0; attempt < attempts; attempt++) {
      await this.fetch()
      const before = readFileIfAny(path) ?? null
      let result: T
      try {
        result = change()
      } catch (error) {
        this.#put(name, before)
        throw error
      }
      const after = readFileIfAny(path) ?? null
      if (after === before || (await this.#store(name, after))) return result
      if (existsSync(dirname(path))) this.#put(name, before)
    }
    throw new MailboxError('conflict', `other machines keep changing ${name}`, { hint: 'try again' })
  }

  async #store(name: string, content: string | null): Promise<boolean> {
    const known = this.#versions.get(name) ?? 0
    const stored = await this.#server.with((link) =>
      link.query(storeText, [this.#server.number, name, content, known]),
    )
    return stored.length > 0
  }
}

/**
 * The settings say how the space wants to be stored. The number that stands for the state of all files is drawn, not
 * counted: a database that was restored and then changed must not come to one that a machine has seen before.
 */
const storeText = `
  WITH stored AS (
    INSERT INTO mailbox.files AS f (space, name, content, version) VALUES ($1, $2, $3, 1)
    ON CONFLICT (space, name) DO UPDATE SET content = $3, version = f.version + 1 WHERE f.version = $4
    RETURNING version
  ), told AS (
    UPDATE mailbox.spaces SET files = (random() * 9007199254740991)::bigint, commit = CASE WHEN $2 = 'config.json'
      THEN coalesce($3::jsonb ->> 'postgres.commit', 'on') ELSE commit END
    WHERE space = $1 AND EXISTS (SELECT FROM stored)
  )
  SELECT version FROM stored WHERE version = $4 + 1`
