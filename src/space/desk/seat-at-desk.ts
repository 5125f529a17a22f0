import type { SeatInput } from '../../command/seat.ts'
import { GoDirect } from '../../desk/wire.ts'
import type { RosterAgent } from '../../query/presence.ts'
import type { Mailbox } from '../mailbox/api.ts'
import type { BellState } from './bells.ts'
import { linkTo } from './mailbox-at-desk.ts'

/** What a hook needs, at the desk of the space: its agent's mailbox, and the little that it asks the space. */
export interface SeatAtDesk {
  mailbox: Mailbox
  /** The time of the space. */
  now: () => number
  agents: () => Promise<RosterAgent[]>
  bellOf: (name: string) => Promise<BellState>
}

/**
 * Works as the agent of a client's process at the desk: neither the journal nor the index is loaded for that. Returns
 * false where there is no desk, or it does not answer or will not do this: then `work` may have been done in part, up to
 * any question, and the desk decides nothing more of it. Mail that it may have taken without an answer is for the caller
 * to give back, with the right to append: whatever the desk has decided is then in the journal.
 */
export async function workAtDesk(
  dir: string,
  seat: SeatInput,
  work: (seat: SeatAtDesk) => Promise<void>,
): Promise<boolean> {
  const link = linkTo(dir)
  if (link === undefined) return false
  const by = { name: seat.name, pid: process.pid, at: Date.now() }
  const ask = async <T>(verb: string, args: readonly unknown[]): Promise<T> => {
    const reply = await link.ask<T>({ verb, by, args })
    if (reply === undefined) throw new GoDirect(`the desk does not ${verb}`)
    return reply.value
  }
  try {
    const name = await ask<string>('seat', [seat])
    const greeting = await link.greeting
    if (greeting === undefined) return false
    by.name = name
    const now = () => greeting.value.now
    const known = { name, now }
    const mailbox = new Proxy(known, {
      get: (target, key) =>
        key in target
          ? target[key as keyof typeof target]
          : (...args: readonly unknown[]) => ask(String(key), args),
    })
    await work({
      mailbox: mailbox as unknown as Mailbox,
      now,
      agents: () => ask('agents', []),
      bellOf: () => ask('bell', []),
    })
    return true
  } catch (error) {
    if (error instanceof GoDirect) return false
    throw error
  } finally {
    link.close()
  }
}
