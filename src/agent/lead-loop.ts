import { given } from '../base/objects.ts'
import { plan } from '../conversation/plan.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Space } from '../space/api.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import {
  type AgentContext,
  type AgentHandlers,
  type AgentLoopOptions,
  type AgentLoopResult,
  type Handler,
  runAgent,
} from './agent-loop.ts'
import { approvePlan, rejectPlan } from './requests.ts'

export interface PlanVerdict {
  approved: boolean
  /** Required when it is rejected. */
  feedback?: string
}

/** How a lead handles what its team sends. Mail without a handler is gathered, as with any agent. */
export type LeadHandlers = Omit<AgentHandlers, 'plan_submission' | 'help_request'> & {
  plan_submission?: (message: InboxMessage, context: AgentContext) => Promise<PlanVerdict> | PlanVerdict
  /** Returns the answer. */
  help_request?: (message: InboxMessage, context: AgentContext) => Promise<string> | string
}

/** Runs a lead: decides on plans, answers requests for help, collects its team's reports. */
export async function runLead(
  mailbox: Mailbox,
  handlers: LeadHandlers,
  options: AgentLoopOptions = {},
): Promise<AgentLoopResult> {
  const { plan_submission: judge, help_request: help, ...rest } = handlers
  const wrapped: AgentHandlers = { ...rest }
  if (judge !== undefined) wrapped['plan_submission'] = planHandler(judge)
  if (help !== undefined) wrapped['help_request'] = helpHandler(help)
  return runAgent(mailbox, wrapped, options)
}

/** What a rejection says where the lead said nothing. */
const unexplained = plan.actions().rejectPlan.reason!.otherwise!

const planHandler =
  (judge: NonNullable<LeadHandlers['plan_submission']>): Handler =>
  async (message, context) => {
    const { approved, feedback } = await judge(message, context)
    if (approved) await approvePlan(context.mailbox, message.id, given({ feedback }))
    else await rejectPlan(context.mailbox, message.id, { feedback: feedback ?? unexplained })
    return approved ? 'approved' : 'rejected'
  }

const helpHandler =
  (help: NonNullable<LeadHandlers['help_request']>): Handler =>
  async (message, context) => {
    const body = await help(message, context)
    await context.mailbox.reply(message.id, { body })
    return 'answered'
  }

/**
 * Dissolves a team: archives the mail its members have seen, and lets them leave. Mail that nobody has read
 * becomes a dead letter, and its sender is told.
 */
export async function cleanUpTeam(space: Space, members: readonly string[]): Promise<{ archived: number }> {
  let archived = 0
  for (const name of members) {
    const mailbox = await space.mailbox(name, { join: false })
    let after: string | undefined
    do {
      const page = await mailbox.inbox({ limit: 1_000, ...given({ after }) })
      for (const { id, state, role } of page.messages) {
        if (state === 'stored' || state === 'notified') continue
        // What it had claimed for a role goes to the next holder.
        if (role !== undefined && state !== 'failed') await mailbox.release(id)
        else await mailbox.archive(id)
        archived++
      }
      after = page.next ?? undefined
    } while (after !== undefined)
    await mailbox.leave()
  }
  return { archived }
}
