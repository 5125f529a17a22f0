import { setTimeout as sleep } from 'node:timers/promises'
import { brief, invitation, isWorthATurn } from '../../agent/briefing.ts'
import { identifyByProc, processState, startTimeOf } from '../../base/process.ts'
import type { InboxMessage } from '../../query/inbox.ts'
import type { Mailbox } from '../../space/mailbox.ts'
import { Handing } from './handover-note.ts'
import { recollect, setWaiter, waiterOf } from './hook-state.ts'
import type { Desk } from './respond.ts'

/** How often to look whether there is still somebody to wait for. */
const lookMs = 500
/** Mail is left to others for so long: to a hook of a turn that just ends, or to the MCP server that can ring. */
const graceMs = 3_000

export interface WaitOptions {
  /** Puts the text where the client takes it, or throws. */
  deliver: (text: string) => Promise<void> | void
  /** `shown`: the text is the mail itself. `notified`: it only says that there is some. */
  as: 'shown' | 'notified'
}

/**
 * Waits in the background until an idle agent has mail that is worth a turn, and delivers it. Ends without a
 * word when the agent gets to work, its client ends, or another wait for it begins. True when it delivered.
 */
export async function waitForMail(desk: Desk, { deliver, as }: WaitOptions): Promise<boolean> {
  const { space, mailbox, process: client } = desk
  const token = `${process.pid}.${startTimeOf(identifyByProc(process.pid))}`
  setWaiter(space.dir, mailbox.name, token)
  const { works } = recollect(space.dir, mailbox.name)
  const ending = new AbortController()
  const arrived = new Map<string, number>()
  let failure: unknown
  collect(mailbox, arrived, ending.signal).catch((error: unknown) => (failure = error))
  try {
    for (;;) {
      await sleep(lookMs)
      if (failure !== undefined) throw failure
      if (waiterOf(space.dir, mailbox.name) !== token || processState(client) === 'gone') return false
      if (recollect(space.dir, mailbox.name).works !== works) return false
      const ripe = await ripeMail(mailbox, arrived)
      if (ripe.length > 0 && (await wake(desk, ripe, { deliver, as }))) return true
    }
  } finally {
    ending.abort()
  }
}

/** Notes what comes, and when. */
async function collect(mailbox: Mailbox, arrived: Map<string, number>, signal: AbortSignal): Promise<void> {
  for await (const message of mailbox.watch({ minPriority: 'normal', signal }))
    if (isWorthATurn(message)) arrived.set(message.id, performance.now())
}

/** What nobody has shown or rung for although it has been there for a while. */
async function ripeMail(mailbox: Mailbox, arrived: Map<string, number>): Promise<InboxMessage[]> {
  const ripe = [...arrived].filter(([, at]) => performance.now() - at >= graceMs).map(([id]) => id)
  if (ripe.length === 0) return []
  for (const id of ripe) arrived.delete(id)
  const { messages } = await mailbox.inbox({ unread: true, limit: 200 })
  return messages.filter(({ id, state }) => ripe.includes(id) && state === 'stored')
}

async function wake(
  { space, mailbox }: Desk,
  ripe: readonly InboxMessage[],
  { deliver, as }: WaitOptions,
): Promise<boolean> {
  if (as === 'notified') {
    await deliver(invitation(ripe))
    await mailbox.notified(ripe.map(({ id }) => id))
    return true
  }
  const handing = new Handing(space.dir, mailbox)
  const { text, ids } = await brief(mailbox, 'wake', { onTake: (taken) => handing.note(taken) })
  handing.note(ids)
  // Somebody may have been quicker.
  if (ids.length === 0) return false
  try {
    await deliver(text)
  } catch (error) {
    await handing.undo()
    throw error
  }
  handing.done()
  return true
}
