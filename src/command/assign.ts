import type { View } from '../conversation/view.ts'
import type { Address } from '../model/address.ts'
import { offersMail } from '../model/assign.ts'
import type { Message } from '../model/message.ts'
import { isoTime } from '../model/time.ts'
import type { Context } from './context.ts'

export type Offer = Required<Pick<Message, 'offeredTo' | 'offeredUntil'>>

/**
 * Who is offered a message to a role first: of the holders that are there the one with the least open work. Recorded
 * with the message, so that every reader agrees. Undefined where whoever comes first takes it: as the setting says,
 * for urgent mail, and where there is nobody to choose from.
 */
export function offerOf(
  view: Pick<View, 'directory' | 'openWork'>,
  { id, from, priority }: Message,
  addresses: readonly Address[],
  { now, policy }: Context,
): Offer | undefined {
  const [address] = addresses
  const { 'roles.assign': assign, 'roles.offerMs': offerMs } = policy
  if (address?.kind !== 'role' || addresses.length > 1 || priority === 'urgent' || offerMs === 0)
    return undefined
  if (!offersMail(assign, address.name)) return undefined
  const holders = view.directory.holdersHere(address.name).filter((name) => name !== from)
  if (holders.length < 2) return undefined
  const work = holders.map((name) => ({ name, open: view.openWork(name) }))
  const least = Math.min(...work.map(({ open }) => open))
  const idle = work.filter(({ open }) => open === least).map(({ name }) => name)
  return { offeredTo: pick(idle.sort(), id), offeredUntil: isoTime(now + offerMs) }
}

/** One of equals, by the last digits of the id, which are random: each gets its turn. */
const pick = (names: readonly string[], id: string): string =>
  names[Number.parseInt(id.slice(-6), 16) % names.length]!
