import type { UnreadableRecord } from '../../query/unreadable.ts'

/** A record that could not be read, in one line: its place, and what other records tell of it. */
export function unreadableRecord(record: UnreadableRecord): string {
  return `segment ${record.segment}, line ${record.line} could not be read: ${whatItWas(record)}`
}

function whatItWas({ kind, ids, from, to, createdAt, receipts }: UnreadableRecord): string {
  if (kind === undefined) return 'no other record tells what it was'
  if (kind === 'receipt') return `a change to the receipts of ${ids.join(', ')}`
  const words = [
    `message ${ids.join(', ')}`,
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(to.length === 0 ? [] : [`to ${to.join(', ')}`]),
    ...(createdAt === undefined ? [] : [`of ${createdAt}`]),
  ]
  const states = receipts.map(({ recipient, state }) => `${recipient}: ${state}`)
  return [words.join(' '), ...states].join('; ')
}
