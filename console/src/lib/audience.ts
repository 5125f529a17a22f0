import { boxOfTag } from '../../../src/model/address.ts'
import type { RosterAgent, StoredMessage, ThreadReceipt } from '../data/types.ts'
import { boxOf, isTag } from './address.ts'

const isGroup = (name: string): boolean => isTag(name) || name === 'all' || name.startsWith('role:')
const unread = new Set(['stored', 'notified', 'dead', 'expired', 'withdrawn'])

export interface Audience {
  /** Who has read it, and everybody it is for: those who have, and the members of its groups now. */
  readers: string[]
  all: string[]
}

/** Who a message is for, and who has read it. */
export function audienceOf(
  { from, to }: Pick<StoredMessage, 'from' | 'to'>,
  receipts: readonly ThreadReceipt[],
  agents: readonly RosterAgent[],
): Audience {
  const here = agents.filter(({ state, name }) => state !== 'dead' && name !== from && name !== 'user')
  const members = to.map(boxOf).flatMap((box) => {
    if (box === 'all') return here.map(({ name }) => name)
    if (box.startsWith('role:')) return []
    if (isTag(box)) return here.filter(({ tags }) => tags.map(boxOfTag).includes(box)).map(({ name }) => name)
    return [box]
  })
  const readers = receipts
    .filter(({ state, box }) => !unread.has(state) && !isGroup(box))
    .map(({ box }) => box)
  const waiting = receipts.filter(({ owner, box }) => owner.startsWith('role:') && owner === box)
  return {
    readers: [...new Set(readers)],
    all: [...new Set([...members, ...readers, ...waiting.map(({ owner }) => owner)])],
  }
}

/** People before addresses: agents, then roles, tags and everybody. */
export const peopleFirst = (to: readonly string[]): string[] =>
  to.toSorted((a, b) => Number(isGroup(a)) - Number(isGroup(b)))
