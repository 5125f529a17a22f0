import { type InboxMessage, type Mailbox, respondStatus } from '../mod.ts'
import { person } from '../model/agent.ts'
import type { Behaviour, MockAgent, Role } from './mock-agent.ts'

/** Handles an answer to one of the agent's own questions; false if it had not asked. */
export async function takeAnswer(me: MockAgent, message: InboxMessage): Promise<boolean> {
  const { id, replyTo = '' } = message
  const go = me.waiting.get(replyTo)
  await me.mailbox.done(id)
  me.waiting.delete(replyTo)
  await go?.(message)
  return go !== undefined
}

/** Thinks about a message for a while, then answers it. */
export const answerWith = (me: MockAgent, { id }: InboxMessage, what: string, body: string) =>
  me.work(what, [4, 10], id, async () => {
    await me.mailbox.reply(id, { body })
    await me.mailbox.done(id)
  })

/** Answers what the demo has no text for, as the next thing the agent does. */
export const answer: Behaviour = (me, message) => {
  const { from, subject } = message
  const [whom, body] =
    from === person
      ? [' the owner', me.demo.texts.toPerson.draw()]
      : ['', "I'd start with the simple option and write down why."]
  return me.whenFree(() => answerWith(me, message, `Answering${whom}: ${subject}`, body))
}

/** Only the person gets an answer to mail that the agent does not expect. */
export const otherMail: Behaviour = (me, message) =>
  message.from === person ? answer(me, message) : me.mailbox.done(message.id)

/** What every agent does with mail, whatever its role. */
export const commonMail: Role['mail'] = {
  response: takeAnswer,
  plan_approval: takeAnswer,
  status_request: async (me, { id }) => {
    const status = me.job === undefined ? 'idle' : 'working'
    const body =
      me.job === undefined
        ? 'Nothing in progress; I can take something.'
        : `${me.job}. ${me.demo.texts.statusWords.draw()}`
    await respondStatus(me.mailbox, id, { status, body })
    await me.mailbox.done(id)
  },
  shutdown_request: (me, message) => me.shutDown(message),
}

/** Tells everyone, or those with a role or a tag. */
export const announce = (me: MockAgent, message: Parameters<Mailbox['send']>[0] & { to: string }) =>
  me.mailbox.send({
    type: message.to === 'all' ? 'broadcast' : 'notification',
    tags: /^(project|concern):/.test(message.to) ? [message.to] : [],
    ...message,
  })
