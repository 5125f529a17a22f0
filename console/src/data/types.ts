/** The hub's answers, with the types of the queries that produce them. */
export type { Entry } from '../../../src/model/entry.ts'
export type { Priority } from '../../../src/model/message.ts'
export type { LadderStep, ReceiptState, ReceiptView } from '../../../src/model/receipt.ts'
export type { AuditLines } from '../../../src/query/audit.ts'
export type { DeadLetter, DeadLetters } from '../../../src/query/dead.ts'
export type { Digest } from '../../../src/query/digest.ts'
export type { StoredMessage } from '../../../src/query/message.ts'
export type { Need as NeedsYouItem } from '../../../src/query/needs.ts'
export type { Owed } from '../../../src/query/owed.ts'
export type { RosterAgent } from '../../../src/query/presence.ts'
export type { Replay as ReplayFrame } from '../../../src/query/replay.ts'
export type { Series } from '../../../src/query/series.ts'
export type { ShownMessage } from '../../../src/query/show.ts'
export type { Stats } from '../../../src/query/stats.ts'
export type {
  BriefReceipt as ThreadReceipt,
  ThreadMessage,
  ThreadSummary,
} from '../../../src/query/threads.ts'
export type { Trace, TracedMessage } from '../../../src/query/trace.ts'
export type { Traffic as Pair } from '../../../src/query/traffic.ts'
export type { Overview } from '../../../src/space/survey.ts'
