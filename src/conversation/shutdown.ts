import { given } from '../base/objects.ts'
import { action, conversation } from './conversation.ts'
import { fieldsOf, wordIn } from './field.ts'
import { needed, option, verdict, withinMs } from './request.ts'

const requestId = needed('<id>', 'the request')

/** Somebody asks an agent to stop; it accepts, or defers until its work is done. */
export const shutdown = conversation({
  name: 'shutdown',
  messages: {
    shutdown_request: {
      aka: ['shutdown'],
      sentence: 'SHUTDOWN: finish or save the current work, and stop.',
      payload: { reason: { kind: 'text', label: 'Reason' }, withinMs },
      title: () => 'Please shut down',
      says: ({ payload }) => {
        const reason = wordIn(payload, 'reason')
        return reason === undefined ? 'Please stop.' : `Please stop. The reason: ${reason}`
      },
      opens: 'shutdown',
      isBound: true,
      interrupts: true,
      isEmergency: true,
    },
    shutdown_response: {
      sentence: 'A shutdown request was answered.',
      payload: {
        accepted: verdict('Answer', 'accepted', 'deferred'),
        reason: { kind: 'text', label: 'Reason' },
      },
      title: ({ accepted }) => (accepted === true ? 'Shutdown accepted' : 'Shutdown deferred'),
      says: ({ payload }) => {
        const reason = wordIn(payload, 'reason')
        if (fieldsOf(payload)['accepted'] === true) return 'Shutting down.'
        return reason === undefined ? 'Not yet.' : `Not yet: ${reason}`
      },
      answers: 'shutdown_request',
      takes: ({ accepted }) => (accepted === true ? 'accept' : 'defer'),
    },
  },
  matter: {
    kind: 'shutdown',
    steps: {
      defer: { from: ['open', 'deferred'], to: 'deferred', staysOpen: true, each: true },
      accept: { from: ['open', 'deferred'], to: 'accepted', each: true },
    },
    owes: 'shutdown',
  },
  actions: () => ({
    // It is for the run that is there now: a successor never gets it.
    requestShutdown: action({
      type: 'shutdown_request',
      command: 'request',
      summary: 'Ask an agent to stop',
      positional: ['to'],
      input: {
        to: needed('<to>', 'the agent that should stop'),
        reason: option('text', '--reason <text>', 'why'),
        withinMs,
      },
      says: ({ reason, withinMs: within }) => ({
        ...{ priority: 'urgent', subject: 'Please shut down', body: reason ?? '' },
        payload: given({ reason, withinMs: within }),
      }),
    }),
    acceptShutdown: action({
      type: 'shutdown_response',
      command: 'accept',
      summary: 'Agree to stop',
      positional: ['id'],
      input: { id: requestId },
      step: 'accept',
      says: () => ({ body: 'Shutting down.', payload: { accepted: true } }),
    }),
    deferShutdown: action({
      type: 'shutdown_response',
      command: 'defer',
      summary: 'Postpone stopping, with a reason',
      positional: ['id'],
      input: { id: requestId, reason: needed('--reason <text>', 'what has to be finished first') },
      step: 'defer',
      reason: { field: 'reason', otherwise: 'Busy.' },
      says: ({ reason }) => ({ body: reason, payload: { accepted: false, reason } }),
    }),
  }),
  verb: () => ({
    name: 'shutdown',
    summary: 'Ask an agent to stop; accept or defer a request',
    description:
      'Ask an agent to stop, and answer such a request. It is for the current run of the agent, never for its successor.',
    examples: [
      'mailbox shutdown request ada --as lead --reason "The task was cancelled." --within 60s',
      'mailbox shutdown defer ID --as ada --reason "Finishing the tests."',
      'mailbox shutdown accept ID --as ada',
    ],
  }),
})
