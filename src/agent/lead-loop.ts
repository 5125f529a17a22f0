import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import { helpRequest } from '../conversation/help.ts'
import { asksFor } from '../conversation/matter.ts'
import { plan } from '../conversation/plan.ts'
import { asking } from '../model/reach.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Space } from '../space/api.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { runAgent } from './agent-loop.ts'
import type { AgentContext, AgentHandlers, AgentLoopOptions, AgentLoopResult, Handler } from './handlers.ts'
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

/**
 * Runs a lead: decides on plans, answers requests for help, collects its team's reports. Plans and requests for help
 * are handled while a task runs, because the task may be waiting for those who sent them.
 */
export async function runLead(
  mailbox: Mailbox,
  handlers: LeadHandlers,
  options: AgentLoopOptions = {},
): Promise<AgentLoopResult> {
  const { plan_submission: judge, help_request: help, ...rest } = handlers
  const wrapped: AgentHandlers = { ...rest }
  if (judge !== undefined) wrapped['plan_submission'] = planHandler(judge)
  if (help !== undefined) wrapped['help_request'] = helpHandler(help)
  return runAgent(mailbox, wrapped, { beside: ['plan_submission', helpRequest], ...options })
}

/** What a rejection says where the lead said nothing. */
const unexplained = plan.actions().rejectPlan.reason!.otherwise!

// The verdict or the answer says it all, so these return no note that would be sent as well.
const planHandler =
  (judge: NonNullable<LeadHandlers['plan_submission']>): Handler =>
  async (message, context) => {
    const { approved, feedback } = await judge(message, context)
    if (approved) await approvePlan(context.mailbox, message.id, given({ feedback }))
    else await rejectPlan(context.mailbox, message.id, { feedback: feedback ?? unexplained })
  }

const helpHandler =
  (help: NonNullable<LeadHandlers['help_request']>): Handler =>
  async (message, context) => {
    const body = await help(message, context)
    await context.mailbox.reply(message.id, { body })
  }

/**
 * Dissolves a team: archives the mail its members have seen, and lets those leave that are still there. Mail that
 * nobody has read becomes a dead letter, and its sender is told.
 */
export async function cleanUpTeam(space: Space, members: readonly string[]): Promise<{ archived: number }> {
  let archived = 0
  for (const name of members) {
    const mailbox = await space.mailbox(name, { join: false })
    let after: string | undefined
    do {
      const page = await mailbox.inbox({ limit: 1_000, ...given({ after }) })
      for (const message of page.messages) {
        const { id, state, role } = message
        if (state === 'stored' || state === 'notified') continue
        const isWork = role !== undefined && asksFor(message) !== asking.nothing
        // What it had claimed for a role goes to the next holder.
        const gives = isWork && state !== 'failed'
        if (await isDone(gives ? mailbox.release(id) : mailbox.archive(id))) archived++
      }
      after = page.next ?? undefined
    } while (after !== undefined)
    await mailbox.leave()
  }
  return { archived }
}

/** False when the member was quicker: it has finished the message itself, or has left. */
async function isDone(step: Promise<unknown>): Promise<boolean> {
  try {
    await step
    return true
  } catch (error) {
    if (error instanceof MailboxError && error.code === 'conflict') return false
    throw error
  }
}
