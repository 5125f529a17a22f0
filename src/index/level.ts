import { isOnlyReply } from '../conversation/matter.ts'
import { isGroupBox } from '../model/address.ts'
import { systemAgent } from '../model/agent.ts'
import type { MessageEntry } from '../model/entry.ts'
import { escalation } from '../model/receipt.ts'

/** A message that entered the journal this long after it was sent was imported, by a version that did not mark it. */
const importedAfterMs = 60_000

/** Some mail is never escalated: low priority, answers, to groups, from the system, imported. */
export function levelAtFirst(
  { originalAt, scheduledAt, at, message }: MessageEntry,
  box: string,
  created: number,
): number {
  if (originalAt !== undefined) return escalation.silent
  const { from, priority } = message
  const isLate = scheduledAt === undefined && Date.parse(at) - created > importedAfterMs
  const isQuiet =
    isGroupBox(box) || from === systemAgent || priority === 'low' || isOnlyReply(message) || isLate
  return isQuiet ? escalation.muted : escalation.none
}
