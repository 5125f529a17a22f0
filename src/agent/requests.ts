import { ci } from '../conversation/ci.ts'
import { escalation } from '../conversation/escalation.ts'
import { handoff } from '../conversation/handoff.ts'
import { help } from '../conversation/help.ts'
import { plan } from '../conversation/plan.ts'
import { review } from '../conversation/review.ts'
import { shutdown } from '../conversation/shutdown.ts'
import { status } from '../conversation/status.ts'
import { task } from '../conversation/task.ts'
import { toFunctions } from './say.ts'

/** The actions of the conversations as functions on a mailbox. Each is declared in its conversation. */
export const { handOff } = toFunctions(handoff.actions())
export const { escalate } = toFunctions(escalation.actions())
export const { askForHelp } = toFunctions(help.actions())
export const { submitPlan, approvePlan, rejectPlan } = toFunctions(plan.actions())
export const { requestShutdown, acceptShutdown, deferShutdown } = toFunctions(shutdown.actions())
export const { requestStatus, respondStatus, updateStatus } = toFunctions(status.actions())
export const { assignTask } = toFunctions(task.actions())
export const { reportCiFailure } = toFunctions(ci.actions())
export const { reportReview } = toFunctions(review.actions())
