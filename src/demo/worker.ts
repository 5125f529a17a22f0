import { assignTask, type InboxMessage, submitPlan, updateStatus } from '../mod.ts'
import { person } from '../model/agent.ts'
import { approvalOf } from './approval.ts'
import { commonBehaviours, takeAnswer } from './common.ts'
import { askForReview, handToTester } from './handoffs.ts'
import type { Behaviours, MockAgent } from './mock-agent.ts'
import { itemOf, type Job, mishap, taskIdOf } from './state.ts'

/** At most this many plans wait for the person. */
const plansOpen = 3

/** Plans, asks, builds, fixes and finishes its work. */
export const worker: Behaviours = {
  ...commonBehaviours,
  task_assignment: async (me, message) => {
    const job = jobOf(me, message)
    await me.mailbox.start(message.id)
    const { item } = job
    if (job.tries++ > 0) await build(me, job)
    else if (item.plan !== undefined)
      await me.work(`Planning: ${item.title}`, [6, 16], message.id, () => propose(me, job))
    else if (item.question !== undefined)
      await me.work(`Reading: ${item.title}`, [4, 10], message.id, () => ask(me, job))
    else await build(me, job)
  },
  fix_review_comments: async (me, message) => {
    await me.mailbox.start(message.id)
    await me.work(`Fixing: ${message.subject}`, [8, 20], message.id, async () => {
      await me.mailbox.done(message.id, { note: 'fixed' })
      await me.mailbox.reply(message.id, {
        type: 'request',
        body: `${me.demo.lines.reviewFixed.draw()} Could you take another look?`,
        awaitingResponse: true,
      })
    })
  },
  fix_ci_failure: async (me, message) => {
    await me.mailbox.start(message.id)
    await me.work(`Fixing: ${message.subject}`, [8, 22], message.id, async () => {
      const body = me.demo.lines.ciFixed.draw()
      await me.mailbox.done(message.id, { note: body })
      const job = me.demo.jobs.get(message.threadId)
      if (job !== undefined) await handToTester(me, job, message.id, body)
    })
  },
  response: async (me, message) => {
    if (await takeAnswer(me, message)) return
    const job = me.demo.jobs.get(message.threadId)
    if (job?.isGreen && job.author === me.name) await me.whenFree(() => finish(me, job))
  },
}

function jobOf(me: MockAgent, task: InboxMessage): Job {
  const known = me.demo.jobs.get(task.threadId)
  const job: Job = known ?? {
    ...{ item: itemOf(me.demo, task), taskId: taskIdOf(task), task, author: me.name },
    ...{ tries: 0, reviews: 0, tests: 0, isGreen: false },
  }
  job.author = me.name
  job.task = task
  me.demo.jobs.set(task.threadId, job)
  return job
}

/** Submits the plan, and submits it again until it is approved. */
async function propose(me: MockAgent, job: Job, rejected?: { id: string; feedback: string }): Promise<void> {
  const { item } = job
  const { openPlans } = me.demo
  // With enough plans waiting for the person, the lead decides.
  job.judge ??= item.byPerson && openPlans.size < plansOpen ? person : await me.mailbox.lead()
  const to = job.judge
  const plan = rejected === undefined ? item.plan! : (item.revised ?? item.plan!)
  const body =
    rejected === undefined
      ? plan
      : `Revised after your feedback ("${rejected.feedback.slice(0, 200)}").\n\n${plan}`
  const revises = rejected === undefined ? {} : { revises: rejected.id }
  const subject = `Plan: ${item.title}`
  const sent = await submitPlan(me.mailbox, { to, subject, body, taskId: job.taskId, ...revises })
  if (to === person) openPlans.add(sent.id)
  me.waiting.set(sent.id, async (answer) => {
    openPlans.delete(sent.id)
    const { approved, feedback } = approvalOf(answer)
    if (approved) {
      await me.whenFree(async () => {
        if (to === person) await reportApproval(me, job)
        await build(me, job)
      })
      return
    }
    await me.whenFree(() =>
      me.work(`Revising the plan: ${item.title}`, [6, 14], job.task.id, () =>
        propose(me, job, { id: sent.id, feedback }),
      ),
    )
  })
}

async function reportApproval(me: MockAgent, job: Job): Promise<void> {
  await updateStatus(me.mailbox, {
    ...{ status: 'working', taskId: job.taskId, progress: 0.2 },
    body: `The owner approved "${job.item.title}". Starting now.`,
  })
}

async function ask(me: MockAgent, job: Job): Promise<void> {
  const { item, task } = job
  const sent = await me.mailbox.send({
    ...{ to: 'role:architect', type: 'request', replyTo: task.id, awaitingResponse: true },
    ...{ subject: `Before I start: ${item.title}`, body: item.question! },
  })
  me.waiting.set(sent.id, async (answer) => {
    if (me.demo.random.happens(0.4))
      await me.mailbox.reply(answer.id, { type: 'text', body: me.demo.lines.thanks.draw() })
    await me.whenFree(() => build(me, job))
  })
}

async function build(me: MockAgent, job: Job): Promise<void> {
  const { item, task } = job
  await me.work(`Building: ${item.title}`, [16, 48], task.id, async () => {
    if (job.reviews === 0 && job.tries < 2 && mishap(me.demo, 'build', 0.12)) {
      await me.mailbox.fail(task.id, { reason: item.trouble })
      await updateStatus(me.mailbox, { status: 'blocked', taskId: job.taskId, body: item.trouble })
      me.later([12, 30], async () => {
        await me.mailbox.retry(task.id)
      })
      return
    }
    await askForReview(me, job)
  })
}

/** All checks are green: completes the task, reports to the lead and assigns the docs. */
async function finish(me: MockAgent, job: Job): Promise<void> {
  const { item, task, taskId } = job
  me.demo.jobs.delete(task.threadId)
  await me.mailbox.done(task.id, { note: item.result })
  await updateStatus(me.mailbox, { status: 'completed', taskId, progress: 1, body: item.result })
  me.demo.given.set(`${taskId}-docs`, item)
  await assignTask(me.mailbox, {
    ...{ to: 'role:docs', subject: `Docs: ${item.title}`, taskId: `${taskId}-docs`, priority: 'normal' },
    body: `${item.doc}\n\n${item.result}`,
  })
}
