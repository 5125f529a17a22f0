import { interrupted } from '../../delivery/bell.ts'
import {
  checkTimeout,
  type Follow,
  type WaitOptions,
  type Watched,
  waitForMail,
} from '../../delivery/watch.ts'
import { isAcked } from '../../model/receipt.ts'
import type { InboxMessage } from '../../query/inbox.ts'
import { receiptsOf, requireSeq } from '../../query/message.ts'
import { nextMail } from '../../query/next-mail.ts'
import type { SpaceCore } from '../core.ts'
import { followRunningDue, runDueEvery } from '../due.ts'
import type { Mailbox } from './api.ts'
import { type Holder, lookIn, messageOf } from './looking.ts'
import { peek, take } from './reading.ts'

/** A mailbox as watching sees it. A hub passes its own feed of entries, so that many who wait share one reading. */
export const watched = (
  holder: Holder,
  follow: Follow = (options) => followRunningDue(holder.core, options),
): Watched => ({
  name: holder.name,
  unread: (filter) => lookIn(holder, (source, agent, now) => nextMail(source, agent, filter, now)),
  peek: (seq) => peek(holder, seq),
  follow,
})

export async function wait(
  holder: Holder,
  { replyTo, signal, ...rest }: WaitOptions,
  follow?: Follow,
): Promise<InboxMessage | null> {
  const { core } = holder
  checkTimeout(rest.timeoutMs)
  if (signal?.aborted) throw interrupted()
  const whole = replyTo === undefined ? {} : { replyTo: (await messageOf(core, replyTo)).id }
  const mailbox = {
    ...watched(holder, follow),
    take: async (message: InboxMessage) => (await take(holder, [message]))[0] ?? null,
  }
  const found = await waitForMail(mailbox, { ...rest, ...whole, signal })
  if (found !== null) return found
  core.mustBeOpen()
  if (signal?.aborted) throw interrupted()
  return null
}

export async function waitForAck(
  core: SpaceCore,
  ...[id, { timeoutMs = 60_000, signal } = {}]: Parameters<Mailbox['waitForAck']>
): Promise<boolean> {
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
