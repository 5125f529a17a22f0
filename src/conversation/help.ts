import { given } from '../base/objects.ts'
import { action, conversation } from './conversation.ts'
import { input, option, request, withinMs } from './request.ts'

export const helpRequest = 'help_request'

/** An agent that is stuck asks a question and is shown as waiting until somebody answers. */
export const help = conversation({
  name: 'help request',
  messages: {
    [helpRequest]: {
      sentence: 'The sender is stuck and is waiting for an answer.',
      payload: { withinMs, options: { kind: 'texts', label: 'Suggested answers' } },
      opens: 'question',
      need: { kind: 'help', label: 'asks for help' },
      answerWith: ['mailbox reply ID --body B'],
      isComposed: true,
    },
  },
  actions: () => ({
    askForHelp: action({
      type: helpRequest,
      summary: 'Ask for help; shows you as waiting',
      input: {
        ...request,
        to: { ...request.to, about: 'who to ask (default: the lead)' },
        body: { ...input('--body <text>', 'what you need to know'), kind: 'word', required: true },
        options: option('texts', '--option <text>', 'an answer to choose from; repeatable'),
        priority: { ...request.priority, about: 'low, normal, high, urgent, or 1 to 4 (default urgent)' },
      },
      tip: ['wait for the answer', 'wait --reply-to ID'],
      says: ({ to, subject = 'Help wanted', body, priority = 'urgent', withinMs: within, options }) => ({
        ...{ subject, body, priority, awaitingResponse: true, ...given({ to }) },
        ...(within === undefined && options === undefined
          ? {}
          : { payload: given({ withinMs: within, options }) }),
      }),
    }),
  }),
  verb: () => ({
    name: 'help-request',
    summary: 'Ask for help; shows you as waiting',
    description:
      'Ask for help. You are shown as waiting until somebody answers, and the answer is the first mail you get.',
    examples: ['mailbox help-request --as ada --body "Which port does the API use?"'],
  }),
})
