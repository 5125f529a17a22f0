import { approvePlan, type InboxMessage, rejectPlan } from '../mod.ts'
import { person } from '../model/agent.ts'
import { announce, answer, answerWith, otherMail } from './common.ts'
import type { Job } from './demo.ts'
import type { MockAgent, Role } from './mock-agent.ts'
import { askForStatus, assign, chatter, decision, incident } from './scenes.ts'
import { incidents } from './texts/incidents.ts'
import { handToTester, workerMail } from './worker.ts'

const reviewer: Role['mail'] = {
  handoff: async (me, message) => {
    const job = me.demo.jobs.get(message.threadId)
    if (job === undefined) return otherMail(me, message)
    await me.work(`Reviewing: ${job.item.title}`, [8, 24], message.id, async () => {
      if (job.reviews++ > 0 || !me.demo.goesWrong('review', 0.35)) return approve(me, message, job)
      const { title, comment } = job.item
      await me.mailbox.done(message.id, { note: 'one comment' })
      await me.mailbox.reply(message.id, {
        ...{ type: 'fix_review_comments', subject: `Review comment: ${title}`, requiresAck: true },
        ...{ body: comment, payload: { comments: [commentOf(comment)] } },
      })
    })
  },
  request: async (me, message) => {
    const job = me.demo.jobs.get(message.threadId)
    if (job === undefined) return answer(me, message)
    await me.work(`Second review: ${message.subject}`, [5, 12], message.id, () => approve(me, message, job))
  },
}

function commentOf(text: string) {
  const [, path, line, body] = /^(\S+):(\d+) (.+)$/.exec(text)!
  return { path, line: Number(line), body }
}

async function approve(me: MockAgent, { id }: InboxMessage, job: Job): Promise<void> {
  await me.mailbox.done(id, { note: 'approved' })
  const body = me.demo.texts.reviewGood.draw()
  await me.mailbox.reply(id, { subject: `Approved: ${job.item.title}`, body })
  await handToTester(me, job, id, body)
}

const tester: Role['mail'] = {
  handoff: async (me, message) => {
    const job = me.demo.jobs.get(message.threadId)
    if (job === undefined) return otherMail(me, message)
    const { id: taskId, title, check, log, project, result } = job.item
    await me.work(`Testing: ${title}`, [8, 22], message.id, async () => {
      job.isGreen = job.tests++ > 0 || !me.demo.goesWrong('test', 0.25)
      await me.mailbox.done(message.id, { note: job.isGreen ? 'green' : 'red' })
      if (!job.isGreen) {
        await me.mailbox.reply(message.id, {
          ...{ to: job.author, type: 'fix_ci_failure', subject: `CI failed: ${check}`, requiresAck: true },
          ...{ priority: 'high', body: `\`${log}\``, payload: { check, log, branch: taskId.toLowerCase() } },
        })
        return
      }
      const body = me.demo.texts.testGood.draw()
      await me.mailbox.reply(message.id, { to: job.author, subject: `Green: ${title}`, body })
      await announce(me, { to: `project:${project}`, subject: `Merged: ${title}`, body: result })
    })
  },
}

const docs: Role['mail'] = {
  task_assignment: async (me, message) => {
    const { id, from, subject, body } = message
    const to = from === person ? person : `project:${me.demo.itemOf(message).project}`
    await me.work(`Writing: ${subject}`, [10, 26], id, async () => {
      await me.mailbox.done(id, { note: 'published' })
      const about = subject.replace(/^Docs: /, '')
      await me.mailbox.send({ to, subject: `Docs published: ${about}`, body: body.split('\n')[0]! })
    })
  },
}

const architect: Role['mail'] = {
  request: async (me, message) => {
    const item = me.demo.jobs.get(message.threadId)?.item
    if (item?.answer === undefined) return answer(me, message)
    await answerWith(me, message, `Thinking about: ${item.title}`, item.answer)
  },
}

const lead: Role['mail'] = {
  plan_submission: async (me, message) => {
    const { id, subject, replyTo } = message
    const { doubt } = me.demo.itemOf(message)
    await me.work(`Reading: ${subject}`, [5, 12], id, async () => {
      if (replyTo === undefined && doubt !== undefined && me.demo.goesWrong('plan', 0.3))
        await rejectPlan(me.mailbox, id, { feedback: doubt })
      else await approvePlan(me.mailbox, id, { feedback: me.demo.texts.planGood.draw() })
      await me.mailbox.done(id)
    })
  },
  escalation: async (me, message) => {
    if (message.from === 'system') return otherMail(me, message)
    const verdict = incidents.find(({ reason }) => reason === message.body)?.verdict
    const body = verdict ?? "I'll take it from here. Thanks for raising it early."
    await answerWith(me, message, `Deciding: ${message.subject}`, body)
  },
  help_request: answer,
  request: answer,
}

export const roles: Readonly<Record<string, Role>> = {
  lead: {
    mail: lead,
    start: (me) => {
      me.every([22, 40], () => assign(me))
      me.every([55, 95], () => askForStatus(me))
    },
  },
  architect: { mail: architect, start: (me) => me.every([50, 120], () => decision(me)) },
  oncall: { mail: {}, start: (me) => me.every([400, 800], () => incident(me)) },
  worker: { mail: workerMail, start: (me) => me.every([90, 220], () => chatter(me)) },
  reviewer: { mail: reviewer },
  tester: { mail: tester },
  docs: { mail: docs },
}
