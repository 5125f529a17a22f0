import { originOf } from '../journal/copy/origin.ts'
import type { SharedFiles } from '../journal/postgres/shared-files.ts'

/**
 * Changes a file that all machines of a space share: the settings, the tokens of agents, a template. On a space of this
 * disk that is all there is to it; otherwise the database gets it as well, and `change` may run again if another machine
 * was faster.
 */
export async function changeShared<T>(dir: string, name: string, change: () => T): Promise<T> {
  const isHere = originOf(dir, process.env) === undefined
  return isHere ? change() : withShared(dir, (files) => files.change(name, change))
}

/** Brings the shared files of this machine up to date, for whoever reads them without opening the space. */
export async function fetchShared(dir: string): Promise<void> {
  if (originOf(dir, process.env) !== undefined) await withShared(dir, (files) => files.fetch())
}

async function withShared<T>(dir: string, work: (files: SharedFiles) => Promise<T>): Promise<T> {
  const address = originOf(dir, process.env)!
  const { ServerClock } = await import('../journal/postgres/clock.ts')
  const { noSpace, Server } = await import('../journal/postgres/server.ts')
  const { SharedFiles: Files } = await import('../journal/postgres/shared-files.ts')
  const server = new Server(address, new ServerClock())
  try {
    if (!(await server.find({ creates: false }))) throw noSpace(address.shown)
    return await work(new Files(server, dir))
  } finally {
    await server.close()
  }
}
