import { conversation } from './conversation.ts'

/** Mail without a payload of its own, and the question that any of it can ask. */
export const plain = conversation({
  name: 'question',
  messages: {
    text: { isComposed: true },
    request: { isComposed: true },
    response: {},
    notification: { isQuiet: true, isComposed: true },
    // Receiving a question is not answering it.
    ack: { isQuiet: true, settlesNothing: true },
    error: {},
    broadcast: { isQuiet: true },
  },
  matter: {
    kind: 'question',
    steps: { answer: { from: ['open'], to: 'answered' } },
    byReply: true,
    owes: 'answer',
  },
})
