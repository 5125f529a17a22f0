import { approvePlan, type InboxMessage, rejectPlan } from '../mod.ts'
import { person } from '../model/agent.ts'
import { answerPerson, commonBehaviours } from './common.ts'
import { handToTester } from './handoffs.ts'
import type { Behaviours, MockAgent } from './mock-agent.ts'
import { itemOf, mishap } from './state.ts'
import { worker } from './worker.ts'

const reviewer: Behaviours = {
  ...commonBehaviours,
  handoff: async (me, message) => {
    const job = me.demo.jobs.get(message.threadId)
    if (job === undefined) return commonBehaviours['default']!(me, message)
    await me.mailbox.start(message.id)
    await me.work(`Reviewing: ${job.item.title}`, [8, 24], message.id, async () => {
      if (job.reviews++ === 0 && mishap(me.demo, 'review', 0.35)) {
        const { comment } = job.item
        await me.mailbox.done(message.id, { note: 'one comment' })
        await me.mailbox.reply(message.id, {
          ...{ type: 'fix_review_comments', subject: `Review comment: ${job.item.title}`, requiresAck: true },
          ...{ body: `${comment.path}:${comment.line} ${comment.body}`, payload: { comments: [comment] } },
        })
        return
      }
      await approve(me, message)
    })
  },
  request: async (me, message) => {
    if (!me.demo.jobs.has(message.threadId)) return answerAnybody(me, message)
    await me.work(`Second review: ${message.subject}`, [5, 12], message.id, () => approve(me, message))
  },
}

async function approve(me: MockAgent, message: InboxMessage): Promise<void> {
  const job = me.demo.jobs.get(message.threadId)
  await me.mailbox.done(message.id, { note: 'approved' })
  if (job === undefined) return
  const body = me.demo.lines.reviewGood.draw()
  await me.mailbox.reply(message.id, { subject: `Approved: ${job.item.title}`, body })
  await handToTester(me, job, message.id, body)
}

const tester: Behaviours = {
  ...commonBehaviours,
  handoff: async (me, message) => {
    const job = me.demo.jobs.get(message.threadId)
    if (job === undefined) return commonBehaviours['default']!(me, message)
    const { item, author } = job
    await me.mailbox.start(message.id)
    await me.work(`Testing: ${item.title}`, [8, 22], message.id, async () => {
      const isRed = job.tests++ === 0 && mishap(me.demo, 'test', 0.25)
      await me.mailbox.done(message.id, { note: isRed ? 'red' : 'green' })
      if (isRed) {
        await me.mailbox.reply(message.id, {
          ...{ to: author, type: 'fix_ci_failure', subject: `CI failed: ${item.check}`, requiresAck: true },
          ...{ priority: 'high', body: `\`${item.log}\`` },
          payload: { check: item.check, log: item.log, branch: job.taskId.toLowerCase() },
        })
        return
      }
      job.isGreen = true
      const body = me.demo.lines.testGood.draw()
      await me.mailbox.reply(message.id, { to: author, subject: `Green: ${item.title}`, body })
      await me.mailbox.send({
        ...{ to: `project:${item.project}`, type: 'notification', subject: `Merged: ${item.title}` },
        ...{ body: item.result, tags: [`project:${item.project}`] },
      })
    })
  },
}

const docs: Behaviours = {
  ...commonBehaviours,
  task_assignment: async (me, message) => {
    const item = itemOf(me.demo, message)
    await me.mailbox.start(message.id)
    await me.work(`Writing: ${message.subject}`, [10, 26], message.id, async () => {
      await me.mailbox.done(message.id, { note: 'published' })
      const to = message.from === person ? person : `project:${item.project}`
      const [, about = message.subject] = message.subject.split(/^Docs: /)
      await me.mailbox.send({
        to,
        subject: `Docs published: ${about}`,
        body: message.body.split('\n')[0] ?? '',
      })
    })
  },
}

const architect: Behaviours = {
  ...commonBehaviours,
  request: async (me, message) => {
    const item = me.demo.jobs.get(message.threadId)?.item
    if (item?.answer === undefined) return answerAnybody(me, message)
    await me.work(`Thinking about: ${item.title}`, [5, 12], message.id, async () => {
      await me.mailbox.reply(message.id, { body: item.answer! })
      await me.mailbox.done(message.id)
    })
  },
}

const lead: Behaviours = {
  ...commonBehaviours,
  plan_submission: async (me, message) => {
    const item = itemOf(me.demo, message)
    await me.work(`Reading: ${message.subject}`, [5, 12], message.id, async () => {
      const isFirst = message.replyTo === undefined
      if (isFirst && item.doubt !== undefined && mishap(me.demo, 'plan', 0.3))
        await rejectPlan(me.mailbox, message.id, { feedback: item.doubt })
      else await approvePlan(me.mailbox, message.id, { feedback: me.demo.lines.planGood.draw() })
      await me.mailbox.done(message.id)
    })
  },
  escalation: async (me, message) => {
    if (message.from === 'system') return commonBehaviours['default']!(me, message)
    const incident = me.demo.alarms.get(message.replyTo ?? '')
    await me.work(`Deciding: ${message.subject}`.slice(0, 200), [4, 10], message.id, async () => {
      const body = incident?.verdict ?? "I'll take it from here. Thanks for raising it early."
      await me.mailbox.reply(message.id, { body })
      await me.mailbox.done(message.id)
    })
  },
  help_request: answerAnybody,
  request: answerAnybody,
}

/** A question that the demo has no answer for. */
async function answerAnybody(me: MockAgent, message: InboxMessage): Promise<void> {
  if (message.from === person) return answerPerson(me, message)
  await me.work(`Answering: ${message.subject}`.slice(0, 200), [4, 10], message.id, async () => {
    await me.mailbox.reply(message.id, { body: "I'd start with the simple option and write down why." })
    await me.mailbox.done(message.id)
  })
}

/** What an agent with a role does with its mail. */
export const roleBehaviours: Readonly<Record<string, Behaviours>> = {
  worker,
  reviewer,
  tester,
  docs,
  architect,
  lead,
  oncall: commonBehaviours,
}
