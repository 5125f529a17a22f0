import { fieldsOf } from '../conversation/field.ts'
import { assignTask, handOff, type InboxMessage, submitPlan, updateStatus } from '../mod.ts'
import { person } from '../model/agent.ts'
import { takeAnswer } from './common.ts'
import type { Job } from './demo.ts'
import type { MockAgent, Role } from './mock-agent.ts'

/** At most this many plans wait for the person. */
const plansOpen = 3

/** Plans, asks, builds, fixes and finishes its work. */
export const workerMail: Role['mail'] = {
  task_assignment: async (me, message) => {
    const job = jobOf(me, message)
    const { title, plan, question } = job.item
    if (job.tries++ > 0) await build(me, job)
    else if (plan !== undefined)
      await me.work(`Planning: ${title}`, [6, 16], message.id, () => propose(me, job))
    else if (question !== undefined)
      await me.work(`Reading: ${title}`, [4, 10], message.id, () => ask(me, job))
    else await build(me, job)
  },
  fix_review_comments: async (me, { id, subject }) => {
    await me.work(`Fixing: ${subject}`, [8, 20], id, async () => {
      await me.mailbox.done(id, { note: 'fixed' })
      const body = `${me.demo.texts.reviewFixed.draw()} Could you take another look?`
      await me.mailbox.reply(id, { type: 'request', body, awaitingResponse: true })
    })
  },
  fix_ci_failure: async (me, { id, subject, threadId }) => {
    await me.work(`Fixing: ${subject}`, [8, 22], id, async () => {
      const body = me.demo.texts.ciFixed.draw()
      await me.mailbox.done(id, { note: body })
      const job = me.demo.jobs.get(threadId)
      if (job !== undefined) await handToTester(me, job, id, body)
    })
  },
  response: async (me, message) => {
    if (await takeAnswer(me, message)) return
    const job = me.demo.jobs.get(message.threadId)
    if (job?.isGreen && job.author === me.name) await me.whenFree(() => finish(me, job))
  },
}

function jobOf(me: MockAgent, task: InboxMessage): Job {
  const { demo, name: author } = me
  const fresh = { item: demo.itemOf(task), tries: 0, reviews: 0, tests: 0, isGreen: false }
  const job: Job = Object.assign(demo.jobs.get(task.threadId) ?? fresh, { task, author })
  demo.jobs.set(task.threadId, job)
  return job
}

/** Submits the plan, and submits it again until it is approved. */
async function propose(me: MockAgent, job: Job, rejected?: { id: string; feedback: unknown }): Promise<void> {
  const { id: taskId, title, plan = '', revised = plan, byPerson } = job.item
  const { openPlans } = me.demo
  // With enough plans waiting for the person, the lead decides.
  job.judge ??= byPerson && openPlans.size < plansOpen ? person : await me.mailbox.lead()
  const to = job.judge
  const body = rejected
    ? `Revised after your feedback ("${String(rejected.feedback).slice(0, 200)}").\n\n${revised}`
    : plan
  const { id } = await submitPlan(me.mailbox, {
    ...{ to, subject: `Plan: ${title}`, body, taskId },
    ...(rejected && { revises: rejected.id }),
  })
  if (to === person) openPlans.add(id)
  me.waiting.set(id, async (answer) => {
    openPlans.delete(id)
    const { approved, feedback = answer.body } = fieldsOf(answer.payload)
    await me.whenFree(async () => {
      if (approved !== true) {
        const again = () => propose(me, job, { id, feedback })
        return me.work(`Revising the plan: ${title}`, [6, 14], job.task.id, again)
      }
      if (to === person) {
        const news = `The owner approved "${title}". Starting now.`
        await updateStatus(me.mailbox, { status: 'working', taskId, progress: 0.2, body: news })
      }
      await build(me, job)
    })
  })
}

async function ask(me: MockAgent, job: Job): Promise<void> {
  const sent = await me.mailbox.send({
    ...{ to: 'role:architect', type: 'request', replyTo: job.task.id, awaitingResponse: true },
    ...{ subject: `Before I start: ${job.item.title}`, body: job.item.question! },
  })
  me.waiting.set(sent.id, async (answer) => {
    if (me.demo.random.happens(0.4))
      await me.mailbox.reply(answer.id, { type: 'text', body: me.demo.texts.thanks.draw() })
    await me.whenFree(() => build(me, job))
  })
}

async function build(me: MockAgent, job: Job): Promise<void> {
  const { item, task } = job
  await me.work(`Building: ${item.title}`, [16, 48], task.id, async () => {
    if (job.reviews > 0 || job.tries > 1 || !me.demo.goesWrong('build', 0.12)) return askForReview(me, job)
    await me.mailbox.fail(task.id, { reason: item.trouble })
    await updateStatus(me.mailbox, { status: 'blocked', taskId: item.id, body: item.trouble })
    me.later([12, 30], () => me.mailbox.retry(task.id))
  })
}

/** Hands work to the first free reviewer. */
const askForReview = (me: MockAgent, { item, task }: Job) =>
  handOff(me.mailbox, {
    ...{ to: 'role:reviewer', subject: `Review: ${item.title}`, replyTo: task.id, priority: 'normal' },
    workCompleted: item.result,
    currentState: 'Implemented; unit tests pass.',
    nextSteps: ['Review the change', 'Approve it or request changes'],
    filesModified: item.files,
    jobId: item.id,
  })

/** Hands approved work to the first free tester. */
export const handToTester = (me: MockAgent, { item }: Job, replyTo: string, notes: string) =>
  handOff(me.mailbox, {
    ...{ to: 'role:tester', subject: `Test: ${item.title}`, replyTo, priority: 'normal', notes },
    workCompleted: item.result,
    nextSteps: [`Run ${item.check}`, 'Try the edge cases by hand'],
    filesModified: item.files,
    jobId: item.id,
  })

/** All checks are green: completes the task, reports to the lead and assigns the docs. */
async function finish(me: MockAgent, { item, task }: Job): Promise<void> {
  const taskId = `${item.id}-docs`
  me.demo.jobs.delete(task.threadId)
  await me.mailbox.done(task.id, { note: item.result })
  await updateStatus(me.mailbox, { status: 'completed', taskId: item.id, progress: 1, body: item.result })
  me.demo.assigned.set(taskId, item)
  await assignTask(me.mailbox, {
    ...{ to: 'role:docs', subject: `Docs: ${item.title}`, taskId, priority: 'normal' },
    body: `${item.doc}\n\n${item.result}`,
  })
}
