import { type InboxMessage, respondStatus } from '../mod.ts'
import { person } from '../model/agent.ts'
import type { Behaviours, MockAgent } from './mock-agent.ts'

/** What every agent does with mail, whatever its role. */
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
      me.job === undefined
        ? 'Nothing in progress; I can take something.'
        : `${me.job}. ${me.demo.lines.statusWords.draw()}`
    await respondStatus(me.mailbox, message.id, { status, body })
    await me.mailbox.done(message.id)
  },
  shutdown_request: (me, message) => me.shutDown(message),
  default: async (me, message) => {
    if (message.from === person) await answerPerson(me, message)
    else await me.mailbox.done(message.id)
  },
}

/** Handles an answer to one of the agent's own questions; false if it had not asked. */
export async function takeAnswer(me: MockAgent, message: InboxMessage): Promise<boolean> {
  const go = message.replyTo === undefined ? undefined : me.waiting.get(message.replyTo)
  await me.mailbox.done(message.id)
  if (go === undefined) return false
  me.waiting.delete(message.replyTo!)
  me.demo.openAsks.delete(message.replyTo!)
  await go(message)
  return true
}

/** Answers the person, as the next thing the agent does. */
export async function answerPerson(me: MockAgent, message: InboxMessage): Promise<void> {
  await me.whenFree(() =>
    me.work(`Answering the owner: ${message.subject}`.slice(0, 200), [3, 8], message.id, async () => {
      await me.mailbox.reply(message.id, { body: me.demo.lines.toPerson.draw() })
      await me.mailbox.done(message.id)
    }),
  )
}
