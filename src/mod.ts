/** The public API, every name listed by hand. */
export type { JoinInput, UpdateInput } from './command/roster.ts'
export type { SendInput } from './command/send.ts'
export type { Settings } from './config.ts'
export type { WatchOptions } from './delivery/watch.ts'
export { type ErrorCode, errorCodes, MailboxError } from './errors.ts'
export type { Mailbox } from './mailbox.ts'
export type {
  BroadcastInput,
  Checked,
  CheckOptions,
  Handled,
  HandleOptions,
  ReplyInput,
  SentMessage,
  WaitOptions,
} from './mailbox-options.ts'
export type { Agent, Session } from './model/agent.ts'
export type { Claim } from './model/claim.ts'
export type { Draft, Entry } from './model/entry.ts'
export { jsonSchemas } from './model/json-schema.ts'
export { toMarkdown } from './model/markdown.ts'
export { type Message, type Priority, priorities } from './model/message.ts'
export type { LadderStep, ReceiptState, ReceiptView } from './model/receipt.ts'
export type { Rule, Rules } from './model/rules.ts'
export { toPrintable } from './model/text.ts'
export { type FenceOptions, fence } from './protocol/fence.ts'
export type { Handoff } from './protocol/handoff.ts'
export type { Kind, MatterState } from './protocol/matter.ts'
export { payloadSchemas } from './protocol/payload.ts'
export type { TypedName } from './protocol/typed.ts'
export type { UnreadCount } from './query/count.ts'
export type { DeadLetter, DeadLetters } from './query/dead.ts'
export type { InboxMessage, InboxOptions } from './query/inbox.ts'
export type { StoredMessage } from './query/message.ts'
export type { Owed, OwedOptions } from './query/owed.ts'
export type { ListOptions, Page } from './query/page.ts'
export type { ShownMessage } from './query/show.ts'
export type { Figures, Latency, Stats } from './query/stats.ts'
export type { HubOptions } from './remote/connection.ts'
export type { ArchivedSegment, ArchiveOptions, ArchiveProgress, ArchiveReport } from './retention.ts'
export { type AnySpace, type OpenSpaceOptions, openSpace, type Space } from './space.ts'
export {
  type AgentContext,
  type AgentEvent,
  type AgentHandlers,
  type AgentLoopOptions,
  type AgentLoopResult,
  type Handler,
  runAgent,
} from './talk/agent-loop.ts'
export {
  type AgentMailState,
  type MailboxHookOptions,
  type MailboxHookOutput,
  type MailboxHooks,
  mailboxHooks,
} from './talk/agent-sdk.ts'
export { type Briefing, type BriefOptions, brief, type Moment } from './talk/briefing.ts'
export { type HandoffInput, handOff } from './talk/handoff.ts'
export { cleanUpTeam, type LeadHandlers, type PlanVerdict, runLead } from './talk/lead-loop.ts'
export { type PendingOptions, pendingContext } from './talk/pending.ts'
export { promptFor } from './talk/prompt.ts'
export {
  acceptShutdown,
  approvePlan,
  askForHelp,
  assignTask,
  deferShutdown,
  escalate,
  type RequestInput,
  type ReviewComment,
  rejectPlan,
  reportCiFailure,
  reportReview,
  requestShutdown,
  requestStatus,
  respondStatus,
  type StatusInput,
  submitPlan,
  updateStatus,
} from './talk/requests.ts'
