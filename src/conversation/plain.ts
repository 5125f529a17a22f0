import { conversation } from './conversation.ts'
import { wordIn } from './field.ts'

/** Mail without a payload of its own, and the question that any of it can ask. */
export const plain = conversation({
  name: 'question',
  messages: {
    text: { isComposed: true },
    request: { isComposed: true, asks: true },
    response: {},
    notification: { isComposed: true },
    // Receiving a question is not answering it.
    ack: {
      title: () => 'Received',
      says: () => 'Received.',
      settlesNothing: true,
    },
    error: { title: () => 'An error', says: ({ payload }) => wordIn(payload, 'reason') },
    broadcast: {},
  },
  matter: {
    kind: 'question',
    steps: { answer: { from: ['open'], to: 'answered' } },
    byReply: 'answer',
    owes: 'answer',
    blocks: true,
  },
})
