import { AsyncLocalStorage } from 'node:async_hooks'
import { ownMailbox } from '../api/own-mailbox.ts'
import { isBetween } from '../api/shown.ts'
import type { DiskSpace } from '../space/space.ts'
import { type Caller, readsAll } from './callers.ts'

const callers = new AsyncLocalStorage<Caller>()

/** Does something for a caller; {@link outsideSpace} knows whom then. */
export const asCaller = <T>(caller: Caller, work: () => T): T => callers.run(caller, work)

/** Whether whoever asks sees its own mail only. Nobody sees more by being unknown. */
function isLimited(): boolean {
  const caller = callers.getStore()
  return caller === undefined || !readsAll(caller)
}

/** A space for those who come over HTTP but not by the hub's own routes: they see as much as their token lets them. */
export function outsideSpace(space: DiskSpace): DiskSpace {
  const wrapped: Partial<DiskSpace> = {
    mailboxOfRun: async (...words) => limited(space, await space.mailboxOfRun(...words)),
    mailbox: async (...words) => limited(space, await space.mailbox(...words)),
    async owed(options) {
      const owed = await space.owed(options)
      if (!isLimited()) return owed
      const name = callers.getStore()?.agent
      return name === undefined ? [] : owed.filter((one) => isBetween(one, name))
    },
  }
  return new Proxy(space, {
    get: (target, key: keyof DiskSpace) => wrapped[key] ?? Reflect.get(target, key, target),
  })
}

type LocalMailbox = Awaited<ReturnType<DiskSpace['mailboxOfRun']>>

const limited = (space: DiskSpace, mailbox: LocalMailbox): LocalMailbox =>
  ownMailbox(space.core, mailbox, isLimited) as LocalMailbox
