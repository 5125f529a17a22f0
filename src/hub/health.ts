import { asMailboxError, type ErrorCode } from '../base/errors.ts'
import type { HubParts } from './parts.ts'

/**
 * What keeps the hub from serving its space; undefined if nothing does. Asked without a token, so the details go to the
 * log: they have paths in them.
 */
export async function healthProblem({
  space,
  log,
}: HubParts): Promise<{ code: ErrorCode; message: string; hint: string } | undefined> {
  try {
    space.core.journal.mustBeInPlace()
    await space.lastSeq()
    return undefined
  } catch (thrown) {
    const { code, message } = asMailboxError(thrown)
    log.error({ event: 'health', code, reason: message }, 'the space cannot be used')
    return { code, message: 'the space cannot be used', hint: 'see the log of `mailbox serve`' }
  }
}
