import { action, conversation } from './conversation.ts'
import { wordIn } from './field.ts'
import { needed, option, request } from './request.ts'

export const escalationType = 'escalation'

/** An issue goes one level up: to the lead, and from the lead to the person. */
export const escalation = conversation({
  name: 'escalation',
  messages: {
    [escalationType]: {
      sentence: 'A problem was escalated: decide, or pass it on.',
      payload: {
        level: { kind: 'scalar', label: 'Level' },
        reason: { kind: 'text', label: 'Reason' },
        related: { kind: 'texts', label: 'Related' },
      },
      title: ({ reason }) => (typeof reason === 'string' ? `Escalation: ${reason}`.slice(0, 500) : undefined),
      says: ({ payload }) => wordIn(payload, 'reason'),
      // Escalating a question is not answering it.
      settlesNothing: true,
      need: { kind: 'escalation', label: 'escalation' },
    },
  },
  actions: () => ({
    escalate: action({
      type: escalationType,
      summary: 'Raise an issue with the lead or the person',
      input: {
        about: option('word', '[id]', 'the message it is about'),
        reason: needed('--reason <text>', 'why'),
        ...request,
        to: { ...request.to, about: 'who to tell (default: the lead, or the person)' },
        body: { ...request.body, about: 'more about it; - reads standard input' },
        related: option('texts', '--related <id>', 'another related message; repeatable'),
      },
      // A prefix of an id finds a message now, but may be ambiguous later.
      prepare: async (mailbox, input) =>
        input.about === undefined ? input : { ...input, about: (await mailbox.show(input.about)).message.id },
      says: ({ about, reason, subject, body = reason, priority = 'urgent', related = [] }, { to }) => ({
        ...{ to, priority, body, awaitingResponse: true },
        subject: (subject ?? `Escalation: ${reason}`).slice(0, 500),
        payload: {
          reason,
          level: to === 'user' ? 'person' : 'lead',
          related: [...(about === undefined ? [] : [about]), ...related],
        },
        ...(about === undefined ? {} : { replyTo: about }),
      }),
    }),
  }),
  verb: () => ({
    name: 'escalate',
    group: 'send',
    summary: 'Raise an issue with the lead or the person',
    description: 'Raise an issue with the lead. A lead raises it with the person.',
    examples: ['mailbox escalate ID --as ada --reason "Blocked for two hours."'],
  }),
})
