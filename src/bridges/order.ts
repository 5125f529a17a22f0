import type { Fact } from './format.ts'

/**
 * Where each message is a file of its own, a listing can have a later message of a sender and lack an earlier one that
 * was created meanwhile. A second listing has every message that is older than the newest of the first.
 */
export function inOrder(first: Fact[], again: () => Iterable<Fact>): Fact[] {
  const orders = first.flatMap((fact) =>
    fact.kind === 'copy' && fact.order !== undefined ? [fact.order] : [],
  )
  if (orders.length === 0) return first
  const newest = orders.reduce((a, b) => (compare(a, b) < 0 ? b : a))
  const isOlder = (fact: Fact) =>
    fact.kind !== 'copy' || fact.order === undefined || compare(fact.order, newest) <= 0
  return [...again()].filter(isOlder).sort(byOrder)
}

/** All in order, of one listing: what is created meanwhile is left for another time. */
export const sorted = (facts: Iterable<Fact>): Fact[] => [...facts].sort(byOrder)

const compare = (a: readonly [string, number], b: readonly [string, number]): number =>
  a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1]

const start = ['', 0] as const
const byOrder = (a: Fact, b: Fact): number =>
  compare(a.kind === 'copy' ? (a.order ?? start) : start, b.kind === 'copy' ? (b.order ?? start) : start)
