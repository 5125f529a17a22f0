import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDisk } from '../../src/space/open.ts'

/** A word that stands in one text of the scene and nowhere else. */
const markOf = (what: string): string => `mk${what}`
const marked = /\bmk[a-z]+\b/g

/** Which texts of the scene are in what somebody reads. */
export const marksIn = (text: string): string[] => [...new Set(text.match(marked) ?? [])].sort()

/** What stands in the place of a text for whoever has no key. */
export const closed = /\(encrypted|you have no key|"locked":true/

/** Messages of the scene that readings are about. */
export interface SceneIds {
  text: string
  question: string
  plan: string
  task: string
  open: string
  secret: string
}

/**
 * A space with mail of every kind in every state. In each of its texts (subject, body, payload, context, attachment, note)
 * there is a word of its own.
 */
export async function tellScene(dir: string): Promise<SceneIds> {
  await using space = await openDisk({ dir })
  const lead = await space.mailbox('lead', { join: { roles: ['lead'] } })
  const ada = await space.mailbox('ada', { join: { roles: ['worker'], tags: ['project:x'] } })
  const bob = await space.mailbox('bob')
  const cleo = await space.mailbox('cleo')
  const user = await space.mailbox('user')
  const words = (what: string) => ({
    subject: `${markOf(`subject${what}`)} of it`,
    body: `${markOf(`body${what}`)} and more`,
  })

  const attachment = join(dir, markOf('attachment'))
  writeFileSync(attachment, '')
  const text = await ada.send({
    ...{ ...words('text'), to: ['bob', 'user'], tags: ['project:x'], requiresAck: true },
    payload: { note: markOf('payload'), options: [markOf('yes'), markOf('no')] },
    context: { why: markOf('context') },
    attachments: [attachment],
  })
  const question = await ada.send({ ...words('question'), to: 'user', awaitingResponse: true })
  await user.reply(question.id, words('answer'))
  const plan = await ada.send({ ...words('plan'), to: 'user', type: 'plan_submission' })
  await user.reply(plan.id, {
    ...words('verdict'),
    type: 'plan_approval',
    payload: { approved: false, feedback: markOf('feedback') },
  })
  const open = await bob.send({ ...words('open'), to: 'user', type: 'help_request', priority: 'urgent' })
  const task = await lead.send({ ...words('task'), to: 'role:worker', type: 'task_assignment' })
  await ada.claim(task.id)
  await ada.done(task.id, { note: markOf('notedone') })
  const failed = await lead.send({ ...words('failed'), to: 'bob', type: 'task_assignment' })
  await bob.fail(failed.id, { reason: markOf('notefailed') })
  await lead.send({ ...words('lost'), to: 'cleo', requiresAck: true })
  await cleo.leave()
  await lead.send({ ...words('forall'), to: 'all' })
  await bob.send({ ...words('handoff'), to: 'lead', context: { work_completed: [markOf('half')] } })
  const secret = await ada.send({ ...words('secret'), to: 'bob', encrypt: true })
  await bob.reply(secret.id, words('secretanswer'))
  await user.send({ ...words('fromuser'), to: ['ada', 'bob'] })
  for (const mailbox of [bob, user]) await mailbox.send({ ...words('later'), to: 'lead', at: '2h' })
  await space.runDue()
  return {
    ...{ text: text.id, question: question.id, plan: plan.id, task: task.id },
    ...{ open: open.id, secret: secret.id },
  }
}
