import type { DiskSpace } from '../space/space.ts'
import type { Survey } from '../space/survey.ts'
import type { Connections } from './connections.ts'
import type { Feed } from './feed.ts'
import type { Guard } from './guard.ts'
import type { HubLimits } from './limits.ts'
import type { Logger, LogRate } from './log.ts'
import type { Metrics } from './metrics.ts'

/** What the parts of a hub share. */
export interface HubParts {
  space: DiskSpace
  survey: Survey
  feed: Feed
  guard: Guard
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
