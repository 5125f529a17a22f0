import { conversation } from './conversation.ts'

/** Mail without a payload of its own, and the question that any of it can ask. */
export const plain = conversation({
  name: 'question',
  messages: {
    text: { isComposed: true },
    request: { sentence: 'It asks for something.', isComposed: true },
    response: { sentence: 'It is a reply.' },
    notification: { isQuiet: true, isComposed: true },
    // To have received a question is not to have answered it.
    ack: { isQuiet: true, settlesNothing: true },
    error: { sentence: 'It reports an error.' },
    broadcast: { sentence: 'It was sent to everyone.', isQuiet: true },
  },
  matter: {
    kind: 'question',
    steps: { answer: { from: ['open'], to: 'answered' } },
    byReply: true,
    owes: 'answer',
  },
})
