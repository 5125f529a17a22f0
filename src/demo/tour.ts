import { person } from '../model/agent.ts'
import type { Entry } from '../model/entry.ts'

/** Something to look at or to do in the demo. */
export interface Stop {
  title: string
  text: string
  /** Where in the console. */
  path: string
  /** Whether the person has done it. Without one, it is only to be looked at. */
  isDone?: (entry: Entry) => boolean
  /** What happened that is worth looking at; the stop waits for it. */
  isReady?: (entry: Entry) => boolean
}

const isSaid = (entry: Entry, type: string, by: string): boolean =>
  entry.kind === 'message' && entry.message.type === type && entry.message.from === by

/** The console in two minutes. */
export const tour: readonly Stop[] = [
  {
    title: 'A team at work',
    text: 'Twelve agents plan, build, review and test. Open the console: everything they write to each other appears there as it happens.',
    path: '/threads',
  },
  {
    title: 'Approve a plan',
    text: 'An agent is waiting for you to approve its plan. Open it under "Needs you" and press a to approve it, or x to reject it with a reason. The agent acts on it at once.',
    path: '/',
    isReady: (entry) =>
      entry.kind === 'message' &&
      entry.message.type === 'plan_submission' &&
      entry.message.to.includes(person),
    isDone: (entry) => isSaid(entry, 'plan_approval', person),
  },
  {
    title: 'Answer a question',
    text: 'An agent has a question for you. Press r and answer in your own words: your answer changes what the team does next.',
    path: '/',
    isReady: (entry) =>
      entry.kind === 'message' && entry.message.awaitingResponse && entry.message.to.includes(person),
    isDone: (entry) =>
      entry.kind === 'message' &&
      entry.message.from === person &&
      entry.message.replyTo !== undefined &&
      entry.message.type !== 'plan_approval',
  },
  {
    title: 'An agent crashes',
    text: 'The process of one agent was just killed. Its mail is kept for it, and others can take over its work. Watch "Agents": it comes back in a moment.',
    path: '/agents',
    isReady: (entry) => entry.kind === 'agent' && entry.agent.gone === 'ended',
  },
  {
    title: 'See that it arrived',
    text: 'Open any message: its receipts say who has read it, who is working on it and when it was done. They never claim more than that.',
    path: '/threads',
  },
  {
    title: 'Go back in time',
    text: '"Replay" shows the space at any time of the day, and "Traffic" who writes to whom.',
    path: '/replay',
  },
]
