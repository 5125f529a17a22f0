import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Hello } from '../../src/desk/hello.ts'
import { DeskLink } from '../../src/desk/link.ts'
import { WriterLock } from '../../src/journal/file/lock.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { tempSpace } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

/** Opens a space in which this process takes part in the desk. */
export async function opener(dir?: string): Promise<DiskSpace> {
  const space = await tempSpace(dir === undefined ? {} : { dir })
  space.core.desk!.takePart()
  return space
}

export const isDesk = ({ core }: DiskSpace): boolean => core.desk!.isDesk

/** A space with a desk, and another opener that knows it. */
export async function deskAndSender(): Promise<{ desk: DiskSpace; sender: DiskSpace }> {
  const desk = await opener()
  await until('there is a desk', () => isDesk(desk))
  const sender = await opener(desk.dir)
  await until('the sender knows it', () => sender.core.desk!.knowsDesk)
  return { desk, sender }
}

/** Makes a process find somebody at the lock, so that it asks the desk from then on. */
export async function crowd({ dir, core }: DiskSpace): Promise<void> {
  const lock = new WriterLock(join(dir, 'lock'))
  const before = core.journal.contendedAt
  let looked: Promise<unknown> | undefined
  await lock.tryWith(async () => {
    looked = core.whileStill(() => {})
    await until('it has waited for the lock', () => core.journal.contendedAt > before)
  })
  lock.close()
  await looked
}

/** How often a space was written to by its own process. */
export function countAppends({ core }: DiskSpace): () => number {
  const { journal } = core
  const append = journal.append.bind(journal)
  let appends = 0
  journal.append = (...words) => {
    appends++
    return append(...words)
  }
  return () => appends
}

/** Does something until the desk has done it: on a busy machine it may not answer in time. */
export function throughDesk<T>(space: DiskSpace, work: () => Promise<T>): Promise<T> {
  const appends = countAppends(space)
  return until('the desk does it', async () => {
    await crowd(space)
    const before = appends()
    const result = await work()
    return appends() === before && { result }
  }).then(({ result }) => result)
}

/** A connection of its own, as another program would have it. */
export function connectTo(dir: string, hello: Hello): DeskLink {
  const link = new DeskLink(dir, hello)
  onTestFinished(() => link.close())
  return link
}
