import { type InboxMessage, respondStatus } from '../mod.ts'
import { person } from '../model/agent.ts'
import type { Behaviours, MockAgent } from './mock-agent.ts'

/** What everybody does with mail, whatever their trade. */
export const commonBehaviours: Behaviours = {
  response: async (me, message) => {
    await takeAnswer(me, message)
  },
  plan_approval: async (me, message) => {
    await takeAnswer(me, message)
  },
  status_request: async (me, message) => {
    const status = me.job === undefined ? 'idle' : 'working'
    const body =
      me.job === undefined ? 'Nothing in my hands.' : `${me.job}. ${me.demo.lines.statusWords.draw()}`
    await respondStatus(me.mailbox, message.id, { status, body })
    await me.mailbox.done(message.id)
  },
  shutdown_request: (me, message) => me.shutDown(message),
  default: async (me, message) => {
    if (message.from === person) await answerPerson(me, message)
    else await me.mailbox.done(message.id)
  },
}

/** An answer to something that it has asked; false when it had not. */
export async function takeAnswer(me: MockAgent, message: InboxMessage): Promise<boolean> {
  const go = message.replyTo === undefined ? undefined : me.waiting.get(message.replyTo)
  await me.mailbox.done(message.id)
  if (go === undefined) return false
  me.waiting.delete(message.replyTo!)
  me.demo.openAsks.delete(message.replyTo!)
  await go(message)
  return true
}

/** The person wrote: that comes before all else, and is answered. */
export async function answerPerson(me: MockAgent, message: InboxMessage): Promise<void> {
  await me.whenFree(() =>
    me.work(`Answering the owner: ${message.subject}`.slice(0, 200), [3, 8], message.id, async () => {
      await me.mailbox.reply(message.id, { body: me.demo.lines.toPerson.draw() })
      await me.mailbox.done(message.id)
    }),
  )
}
