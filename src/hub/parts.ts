import type { DiskSpace } from '../space/space.ts'
import type { Survey } from '../space/survey.ts'
import type { Connections } from './connections.ts'
import type { Feed } from './feed.ts'
import type { Guard } from './guard.ts'
import type { HubLimits } from './limits.ts'
import type { Logger, LogRate } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Revocation } from './revocation.ts'
import type { TokenUse } from './token-use.ts'

/** What the parts of a hub share. */
export interface HubParts {
  space: DiskSpace
  survey: Survey
  feed: Feed
  guard: Guard
  revocation: Revocation
  use: TokenUse
  limits: HubLimits
  metrics: Metrics
  log: Logger
  /** For lines that strangers can cause. */
  logRate: LogRate
  connections: Connections
  version: string
  /** Aborted when the hub stops. */
  stopping: AbortSignal
}
