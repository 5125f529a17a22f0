import { interrupted } from '../../delivery/bell.ts'
import {
  checkWait,
  type Follow,
  type Takeable,
  type WaitForMessagesOptions,
  type Watched,
  waitForMail,
} from '../../delivery/watch.ts'
import { isAcked } from '../../model/receipt.ts'
import type { InboxMessage } from '../../query/inbox.ts'
import { receiptsOf, requireSeq } from '../../query/message.ts'
import { nextMail } from '../../query/next-mail.ts'
import { type Settled, settledOf } from '../../query/settled.ts'
import type { SpaceCore } from '../core.ts'
import { followRunningDue, runDueEvery } from '../due.ts'
import type { Mailbox, UntilOptions } from './api.ts'
import { checkedOptions } from './arguments.ts'
import { handle } from './handling.ts'
import { type Holder, lookIn, messageOf } from './looking.ts'
import { peek, take } from './reading.ts'

/** A mailbox as watching sees it. A hub passes its own feed of entries, so that many who wait share one reading. */
export const watched = (
  holder: Holder,
  {
    follow = (options) => followRunningDue(holder.core, options),
    acts = true,
  }: { follow?: Follow | undefined /** Whether the agent itself watches. */; acts?: boolean } = {},
): Watched => ({
  name: holder.name,
  unread: (filter) => lookIn(holder, (source, agent, now) => nextMail(source, agent, filter, now), acts),
  peek: (seq) => peek(holder, seq),
  follow,
})

export async function waitForMessages(
  holder: Holder,
  options: WaitForMessagesOptions,
  follow?: Follow,
): Promise<InboxMessage[]> {
  const { core } = holder
  const { replyTo, signal } = options
  checkWait(options)
  if (signal?.aborted) throw interrupted()
  const idOf = async (id: string) => (await messageOf(core, id)).id
  const whole =
    typeof replyTo === 'object' ? await Promise.all(replyTo.map(idOf)) : replyTo && (await idOf(replyTo))
  const mailbox: Takeable = {
    ...watched(holder, { follow }),
    takeAll: (messages) => take(holder, messages),
    release: ({ id, claimNumber }) => handle(holder, 'released', id, { claimNumber }),
  }
  const found = await waitForMail(mailbox, { ...options, ...(whole === undefined ? {} : { replyTo: whole }) })
  if (found.length > 0) return found
  core.mustBeOpen()
  if (signal?.aborted) throw interrupted()
  return found
}

export async function waitForAck(
  core: SpaceCore,
  ...[id, given]: Parameters<Mailbox['waitForAck']>
): Promise<boolean> {
  const options = checkedOptions(given)
  const look = () => core.query((source) => receiptsOf(source, requireSeq(source, id)))
  const hasAck = async () => (await look()).some(({ state }) => isAcked(state))
  return until(core, hasAck, { ...options, timeoutMs: options.timeoutMs ?? 60_000 })
}

export async function waitUntilSettled(
  core: SpaceCore,
  ...[ids, given]: Parameters<Mailbox['waitUntilSettled']>
): Promise<Settled> {
  const options = checkedOptions(given)
  let now: Settled = { settled: true, matters: [] }
  const isSettled = async () => {
    now = await core.query((source) => settledOf(source, [ids].flat(), core.now()))
    return now.settled
  }
  await until(core, isSettled, options)
  return now
}

/** Looks again whenever something was written, and does what is due meanwhile. False when the time is up. */
async function until(
  core: SpaceCore,
  isSo: () => Promise<boolean>,
  { timeoutMs, signal }: UntilOptions,
): Promise<boolean> {
  checkWait({ timeoutMs })
  const keeper = runDueEvery(core)
  try {
    return (await core.bell(signal).until(async () => (await isSo()) || undefined, timeoutMs)) ?? false
  } finally {
    keeper.stop()
  }
}
