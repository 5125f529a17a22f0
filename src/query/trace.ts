import type { LadderStep } from '../model/receipt.ts'
import type { Source, StoredMessage } from './message.ts'
import { show } from './show.ts'
import { thread } from './threads.ts'

interface TraceStep extends LadderStep {
  /** The recipient whose step it is. */
  recipient: string
}

/** A message of a thread with what became of it, in order of time. */
export interface TracedMessage
  extends Pick<StoredMessage, 'id' | 'seq' | 'from' | 'to' | 'type' | 'subject' | 'createdAt'> {
  replyTo?: string
  steps: TraceStep[]
}

export interface Trace {
  messages: TracedMessage[]
  /** There are more messages in the thread. */
  isMore: boolean
}

/** More cannot be read as one story. */
const tracedAtMost = 60

/** What became of each message of a thread, from the first question to the last step. */
export function trace(source: Source, id: string, now: number): Trace {
  const messages = thread(source, id)
  return {
    messages: messages.slice(0, tracedAtMost).map((message) => tracedOf(source, message, now)),
    isMore: messages.length > tracedAtMost,
  }
}

function tracedOf(source: Source, message: StoredMessage, now: number): TracedMessage {
  const { id, seq, from, to, type, subject, createdAt, replyTo } = message
  const steps = show(source, id, now)
    .receipts.flatMap(({ recipient, steps }) => steps.map((step) => ({ ...step, recipient })))
    // That it was stored is when it was sent, for every recipient.
    .filter(({ state }) => state !== 'stored')
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return { id, seq, from, to, type, subject, createdAt, ...(replyTo !== undefined && { replyTo }), steps }
}
