import { handOff } from '../mod.ts'
import type { MockAgent } from './mock-agent.ts'
import type { Job } from './state.ts'

/** Work goes on to whoever of the reviewers is first. */
export async function askForReview(me: MockAgent, { item, task, taskId }: Job): Promise<void> {
  await handOff(me.mailbox, {
    ...{ to: 'role:reviewer', subject: `Review: ${item.title}`, replyTo: task.id, priority: 'normal' },
    workCompleted: item.result,
    currentState: 'Built, and its own tests pass.',
    nextSteps: ['Read the change', 'Say what has to change, or approve it'],
    filesModified: item.files,
    jobId: taskId,
  })
}

/** Approved work goes on to whoever of the testers is first. */
export async function handToTester(me: MockAgent, job: Job, replyTo: string, notes: string): Promise<void> {
  await handOff(me.mailbox, {
    ...{ to: 'role:tester', subject: `Test: ${job.item.title}`, replyTo, priority: 'normal', notes },
    workCompleted: job.item.result,
    nextSteps: [`Run ${job.item.check}`, 'Try the odd cases by hand'],
    filesModified: job.item.files,
    jobId: job.taskId,
  })
}
