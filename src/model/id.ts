import { randomFillSync } from 'node:crypto'
import { MailboxError } from '../base/errors.ts'
import { quote } from '../base/json.ts'

/** The ids of messages: UUIDs of version 7. */
export const messageIdPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Rejects what cannot be the id of a message or thread, before any lookup. */
export function checkId(id: unknown): void {
  if (typeof id === 'string' && id !== '' && id.length <= 200) return
  throw new MailboxError('invalid', `${quote(id)} is not an id`, {
    hint: 'pass a message id as printed by send and inbox',
  })
}

/**
 * UUID version 7: 48 bits of time, a counter, then random bits. The counter keeps ids of one process in
 * order even within a millisecond or when the clock steps back, so the index always grows at its end.
 */
export function createIdSource(
  now: () => number,
  random: (buffer: Buffer) => void = randomFillSync,
): () => string {
  const pool = Buffer.alloc(16 * 128)
  let used = pool.length
  let lastMs = 0
  let counter = 0
  return () => {
    if (used === pool.length) {
      random(pool)
      used = 0
    }
    const bytes = pool.subarray(used, used + 16)
    used += 16
    const ms = now()
    if (ms > lastMs) {
      lastMs = ms
      counter = bytes.readUInt16BE(6) & 0x07ff
    } else if (++counter > 0xfff) {
      lastMs++
      counter = 0
    }
    bytes.writeUIntBE(lastMs, 0, 6)
    bytes.writeUInt16BE(0x7000 | counter, 6)
    bytes[8] = (bytes[8]! & 0x3f) | 0x80
    const hex = bytes.toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }
}
