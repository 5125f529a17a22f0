import { MailboxError } from '../base/errors.ts'
import { LineCopy } from '../journal/copy/line-copy.ts'
import { originOf, putAside } from '../journal/copy/origin.ts'

/** Whether the journal in this directory is a copy of one in a database. */
export const isCopy = (dir: string): boolean => originOf(dir, process.env) !== undefined

/**
 * Discards the copy of this machine, so that the next use fetches it from the database. If it has entries that are not
 * there, it is put aside. Returns where.
 */
export async function fetchAgain(dir: string): Promise<string | undefined> {
  const address = originOf(dir, process.env)!
  const { ServerClock } = await import('../journal/postgres/clock.ts')
  const { noSpace, Server } = await import('../journal/postgres/server.ts')
  const { Store } = await import('../journal/postgres/store.ts')
  const store = new Store(new Server(address, new ServerClock()), new LineCopy(dir))
  try {
    if (!(await store.server.find({ creates: false }))) throw noSpace(address.shown)
    store.space = store.server.id
    await store.pull({ strict: true })
    store.copy.drop()
    return undefined
  } catch (error) {
    // What it has differs from the database.
    if (!(error instanceof MailboxError) || error.code !== 'conflict') throw error
    const aside = store.copy.locked(() => putAside(dir, Date.now()))
    store.copy.drop()
    return aside
  } finally {
    await store.close()
  }
}
