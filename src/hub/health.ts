import { asMailboxError, type ErrorCode } from '../base/errors.ts'
import { isoTime } from '../model/time.ts'
import { scrubState } from '../space/scrub.ts'
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

/**
 * Why a load balancer should send requests to another hub of the space; undefined if it need not. A hub that is cut off
 * from its database is healthy: it goes on by itself, and starting it again would not help.
 */
export function notReady({ space, stopping }: HubParts): 'stopping' | 'cut off' | undefined {
  if (stopping.aborted) return 'stopping'
  return space.core.journal.cutOff === undefined ? undefined : 'cut off'
}

/** How the copies of the journal are. Without paths: it is asked without a token. */
export interface CopyHealth {
  /** How the mirror stands to the journal; absent if the space has none. */
  mirror?: 'current' | 'behind' | 'ahead' | 'away'
  /** What reading old files again has found; absent if that was never done. */
  scrub?: { finishedAt: string | null; damaged: number }
}

export async function copyHealth({ space }: HubParts): Promise<CopyHealth> {
  const mirror = (await space.mirror())?.state
  const scrub = scrubState(space.dir)
  return {
    ...(mirror !== undefined && { mirror }),
    ...(scrub !== undefined && {
      scrub: {
        finishedAt: scrub.finishedAt === 0 ? null : isoTime(scrub.finishedAt),
        damaged: scrub.findings.length,
      },
    }),
  }
}
