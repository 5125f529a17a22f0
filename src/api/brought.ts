import { MailboxError } from '../base/errors.ts'
import { isObject } from '../base/objects.ts'
import { person, systemAgent } from '../model/agent.ts'
import type { NumberedLine } from '../space/transfer.ts'

/** Only what comes from a folder is imported, and steps of that: never what the person or the mailbox has said. */
export function ofBridges(lines: readonly unknown[]): NumberedLine[] {
  const brought = new Set<unknown>()
  return lines.map((value, at) => {
    const line = at + 1
    if (isBrought(value, brought)) return { line, value }
    const error = new MailboxError('not_permitted', 'a bridge imports what it has found in a folder', {
      hint: 'messages with `bridge`, and receipts for those',
    })
    return { line, error }
  })
}

function isBrought(value: unknown, brought: Set<unknown>): boolean {
  if (!isObject(value)) return false
  const { kind, message, changes, by } = value
  if (kind === 'message' && isObject(message) && isObject(message['bridge'])) {
    brought.add(message['id'])
    return message['from'] !== person && message['from'] !== systemAgent
  }
  if (kind !== 'receipt' || !Array.isArray(changes)) return false
  return changes.every(
    (change: unknown) =>
      isObject(change) && brought.has(change['id']) && (by === change['owner'] || by === systemAgent),
  )
}
