import { readFileSync } from 'node:fs'
import { given } from '../../base/objects.ts'
import type { MessageDraft } from '../../model/entry.ts'
import { isDraft } from '../../model/shape.ts'
import { isoTime } from '../../model/time.ts'
import { LineBuffer } from '../codec.ts'
import { recordIn } from './items.ts'
import type { Pool, Range } from './pool.ts'

/** How long after a message was made its entry may have been written. */
const delayMs = 2_000
const nearMs = 60_000

/** The messages in a file that `mailbox export` wrote, this version's or an older one's; none if it is another kind of file. */
export function exportedMessages(path: string): MessageDraft[] {
  const found: MessageDraft[] = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (!line.startsWith('{"kind":"message",') && !line.startsWith('{"message":')) continue
    try {
      const { message, exclude, signature } = JSON.parse(line) as MessageDraft
      const draft = {
        kind: 'message' as const,
        message: message.sealed === undefined ? message : { ...message, sealed: asStored(message.sealed) },
        ...given({ exclude, signature: signature && asStored(signature) }),
      }
      if (isDraft(draft)) found.push(draft)
    } catch {
      // A line of the export that is damaged itself.
    }
  }
  return found
}

/** What is signed or encrypted as the entry had it: an export adds the space. */
const asStored = (text: string): string => text.split('.').slice(0, 2).join('.')

/**
 * An export has the messages, but neither the numbers nor the times of their entries. Where one record is missing,
 * its number and both links are known from the records around it, and its sum proves which message it was and when
 * it was written.
 */
export function offerExported(
  pool: Pool,
  gaps: readonly Range[],
  messages: readonly MessageDraft[],
  source: string,
): void {
  for (const { from: seq, to } of gaps) {
    const [before, after] = [pool.linkAt(seq - 1), pool.linkAt(seq + 1)]
    if (seq !== to || before === undefined || after === undefined) continue
    const [earliest, latest] = [Date.parse(before.at) - nearMs, Date.parse(after.at) + nearMs]
    for (const draft of messages) {
      const made = Date.parse(draft.message.createdAt)
      if (made < earliest || made > latest) continue
      const line = lineThatFits(draft, seq, made, before.sum, after.prev)
      const record = line && recordIn(line, 0, false)
      if (record !== undefined) pool.offer({ record, home: 0, source })
    }
  }
}

function lineThatFits(
  draft: MessageDraft,
  seq: number,
  made: number,
  prev: string,
  sum: string,
): Buffer | undefined {
  const buffer = new LineBuffer()
  for (let at = made; at <= made + delayMs; at++) {
    buffer.length = 0
    if (buffer.add(draft, seq, isoTime(at), prev) === sum) return Buffer.from(buffer.bytes.subarray(0, -1))
  }
  return undefined
}
