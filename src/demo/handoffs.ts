import { handOff } from '../mod.ts'
import type { MockAgent } from './mock-agent.ts'
import type { Job } from './state.ts'

/** Hands work to the first free reviewer. */
export async function askForReview(me: MockAgent, { item, task, taskId }: Job): Promise<void> {
  await handOff(me.mailbox, {
    ...{ to: 'role:reviewer', subject: `Review: ${item.title}`, replyTo: task.id, priority: 'normal' },
    workCompleted: item.result,
    currentState: 'Implemented; unit tests pass.',
    nextSteps: ['Review the change', 'Approve it or request changes'],
    filesModified: item.files,
    jobId: taskId,
  })
}

/** Hands approved work to the first free tester. */
export async function handToTester(me: MockAgent, job: Job, replyTo: string, notes: string): Promise<void> {
  await handOff(me.mailbox, {
    ...{ to: 'role:tester', subject: `Test: ${job.item.title}`, replyTo, priority: 'normal', notes },
    workCompleted: job.item.result,
    nextSteps: [`Run ${job.item.check}`, 'Try the edge cases by hand'],
    filesModified: job.item.files,
    jobId: job.taskId,
  })
}
