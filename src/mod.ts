/** The public API, every name listed by hand. */

export { runAgent } from './agent/agent-loop.ts'
export {
  type AgentMailState,
  type MailboxHookOptions,
  type MailboxHookOutput,
  type MailboxHooks,
  mailboxHooks,
} from './agent/agent-sdk.ts'
export { type Briefing, type BriefOptions, brief, type Moment } from './agent/briefing.ts'
export type {
  AgentContext,
  AgentEvent,
  AgentHandlers,
  AgentLoopOptions,
  AgentLoopResult,
  Handler,
} from './agent/handlers.ts'
export { cleanUpTeam, type LeadHandlers, type PlanVerdict, runLead } from './agent/lead-loop.ts'
export { type PendingOptions, pendingContext } from './agent/pending.ts'
export { promptFor } from './agent/prompt.ts'
export {
  acceptShutdown,
  approvePlan,
  askForHelp,
  assignTask,
  deferShutdown,
  escalate,
  handOff,
  rejectPlan,
  reportCiFailure,
  reportReview,
  requestShutdown,
  requestStatus,
  respondStatus,
  submitPlan,
  updateStatus,
} from './agent/requests.ts'
export { type ErrorCode, errorCodes, MailboxError } from './base/errors.ts'
export type { JoinInput, UpdateInput } from './command/roster.ts'
export { type FenceOptions, fence, fenceAll } from './conversation/fence.ts'
export type { Handoff, HandoffInput } from './conversation/handoff.ts'
export type { Kind, MatterState, TypedName } from './conversation/registry.ts'
export { toMarkdown } from './conversation/render.ts'
export type { RequestInput } from './conversation/request.ts'
export type { ReviewComment } from './conversation/review.ts'
export { payloadSchemas } from './conversation/schema.ts'
export type { StatusInput } from './conversation/status.ts'
export type { WaitForMessagesOptions, WaitOptions, WatchOptions } from './delivery/watch.ts'
export type { Agent, Session } from './model/agent.ts'
export type { Claim } from './model/claim.ts'
export type { Draft, Entry } from './model/entry.ts'
export type { SendInput } from './model/fields.ts'
export { jsonSchemas } from './model/json-schema.ts'
export { type Message, type Priority, type PriorityInput, priorities } from './model/message.ts'
export type { LadderStep, ReceiptState, ReceiptView } from './model/receipt.ts'
export type { Route, Routed } from './model/routes.ts'
export type { Rule, Rules } from './model/rules.ts'
export type { Settings } from './model/settings.ts'
export { toPrintable } from './model/text.ts'
export type { ExportLine } from './model/transfer.ts'
export type { UnreadCount } from './query/count.ts'
export type { DeadLetter, DeadLetters } from './query/dead.ts'
export type { Digest } from './query/digest.ts'
export type { Escalation } from './query/escalations.ts'
export type { InboxMessage, InboxOptions } from './query/inbox.ts'
export type { StoredMessage } from './query/message.ts'
export type { Owed, OwedOptions } from './query/owed.ts'
export type { ListOptions, Page } from './query/page.ts'
export type { MatterEnd, Settled } from './query/settled.ts'
export type { ShownMessage } from './query/show.ts'
export type { Figures, Latency, Stats } from './query/stats.ts'
export type { UnreadableRecord } from './query/unreadable.ts'
export type { HubOptions } from './remote/connection.ts'
export type { LocalSpace, MailboxOptions, OpenSpaceOptions, Space } from './space/api.ts'
export type {
  BroadcastInput,
  Checked,
  CheckOptions,
  ClaimNumber,
  ClaimOptions,
  FailOptions,
  Handled,
  HandleOptions,
  Mailbox,
  ReplyInput,
  SentMessage,
} from './space/mailbox/api.ts'
export type { Mirrored } from './space/mirror.ts'
export { openSpace } from './space/open.ts'
export type { RepairedFile, RepairOptions, RepairReport } from './space/repair.ts'
export type { ArchivedSegment, ArchiveOptions, ArchiveProgress, ArchiveReport } from './space/retention.ts'
export type { RouteTest } from './space/routing.ts'
export type { ExportOptions, Imported, ImportOptions, Refusal } from './space/transfer.ts'
