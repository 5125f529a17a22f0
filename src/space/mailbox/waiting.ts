import { interrupted } from '../../delivery/bell.ts'
import { checkTimeout, type Follow, type Watched, waitForMail } from '../../delivery/watch.ts'
import { isAcked } from '../../model/receipt.ts'
import type { InboxMessage } from '../../query/inbox.ts'
import { receiptsOf, requireSeq } from '../../query/message.ts'
import { nextMail } from '../../query/next-mail.ts'
import type { SpaceCore } from '../core.ts'
import { followRunningDue, runDueEvery } from '../due.ts'
import type { WaitOptions } from './api.ts'
import { lookIn, messageOf } from './looking.ts'
import { peek, take } from './reading.ts'

/** A mailbox as watching sees it. A hub passes its own feed of entries, so that many who wait share one reading. */
export const watched = (
  core: SpaceCore,
  name: string,
  follow: Follow = (options) => followRunningDue(core, options),
): Watched => ({
  name,
  unread: (filter) => lookIn(core, name, (source, agent) => nextMail(source, agent, filter, core.now())),
  peek: (seq) => peek(core, name, seq),
  follow,
})

export async function wait(
  core: SpaceCore,
  name: string,
  options: WaitOptions,
  follow?: Follow,
): Promise<InboxMessage | null> {
  const { replyTo, signal, ...rest } = options
  checkTimeout(rest.timeoutMs)
  if (signal?.aborted) throw interrupted()
  const whole = replyTo === undefined ? {} : { replyTo: (await messageOf(core, replyTo)).id }
  const mailbox = {
    ...watched(core, name, follow),
    take: async (message: InboxMessage) => (await take(core, name, [message]))[0] ?? null,
  }
  const found = await waitForMail(mailbox, { ...rest, ...whole, ...(signal === undefined ? {} : { signal }) })
  if (found !== null) return found
  core.mustBeOpen()
  if (signal?.aborted) throw interrupted()
  return null
}

export async function waitForAck(
  core: SpaceCore,
  id: string,
  options: { timeoutMs?: number; signal?: AbortSignal },
): Promise<boolean> {
  const { timeoutMs = 60_000, signal } = options
  checkTimeout(timeoutMs)
  const attempt = async () => {
    const receipts = await core.query((source) => receiptsOf(source, requireSeq(source, id)))
    return receipts.some(({ state }) => isAcked(state)) || undefined
  }
  const keeper = runDueEvery(core)
  try {
    return (await core.bell(signal).until(attempt, timeoutMs)) ?? false
  } finally {
    keeper.stop()
  }
}
