import { mailboxOperations, waitAtMostMs, waitingOperations } from '../api/mailbox-operations.ts'
import { fromArguments, type Operation, toPath } from '../api/operation.ts'
import { MailboxError } from '../base/errors.ts'
import { checkJsonValue } from '../base/json.ts'
import { timeoutSignal } from '../base/timers.ts'
import { inSpan } from '../base/trace.ts'
import { type Unread, type WatchOptions, waitMail, watchMail } from '../delivery/watch.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Mailbox } from '../space/mailbox.ts'
import type { WaitOptions } from '../space/mailbox-options.ts'
import type { CallOptions, Connection } from './connection.ts'
import { followHub } from './stream.ts'

/** A little under what the hub waits at most, so that its answer comes before anybody gives up. */
const waitMs = waitAtMostMs - 5_000
/** How long an answer may be on its way. */
const answerMs = 30_000

export interface RemoteMailboxOptions {
  connection: Connection
  name: string
  claimTtlMs: number
  /** Told whenever the hub has heard of the agent. */
  onHeard: () => void
}

type Derived = keyof typeof mailboxOperations

/** A mailbox behind a hub. Its methods are made from the table that the hub's routes are made from. */
export function createRemoteMailbox(options: RemoteMailboxOptions): Mailbox {
  const { connection, name, claimTtlMs, onHeard } = options

  async function ask(method: string, operation: Operation, input: object, more: Partial<CallOptions> = {}) {
    const { payload, context, key } = input as { payload?: unknown; context?: unknown; key?: string }
    if (payload !== undefined) checkJsonValue(payload, 'payload')
    if (context !== undefined) checkJsonValue(context, 'context')
    const call = (headers: Record<string, string> = {}) =>
      connection.call<Record<string, unknown>>({
        method: 'POST',
        path: `/api/mailboxes/${encodeURIComponent(name)}/${toPath(method)}`,
        body: input,
        headers,
        repeatable: (operation.reads ?? false) || key !== undefined,
        ...more,
      })
    // The hub goes on with our trace, and the message carries it.
    const span = { name: `${method} ${name}`, kind: 'client', attributes: {} } as const
    const answer = operation.reads
      ? await call()
      : await inSpan(span, (traceparent) => call(traceparent === undefined ? {} : { traceparent }))
    if (!operation.reads) onHeard()
    return operation.wrap === undefined ? answer : answer[operation.wrap]
  }

  const methods = Object.entries(mailboxOperations).map(([method, operation]: [string, Operation]) => [
    method,
    (...words: unknown[]) => ask(method, operation, fromArguments(operation, words)),
  ])
  const derived = Object.fromEntries(methods) as Pick<Mailbox, Derived>

  /** How to watch: questions are asked again for as long as there is time, because the hub may be back by then. */
  const watched = (signal: AbortSignal | undefined, timeoutMs = Number.POSITIVE_INFINITY) => {
    const deadline = performance.now() + timeoutMs
    const again = () => ({ signal, retryForMs: deadline - performance.now(), repeatable: true })
    return {
      name,
      unread: (filter: object) => ask('unread', mailboxOperations.unread, filter, again()) as Promise<Unread>,
      peek: (seq: number) =>
        ask('peek', mailboxOperations.peek, { seq }, again()) as Promise<InboxMessage | null>,
      follow: (from: { after: number; signal: AbortSignal | undefined }) =>
        followHub(connection, { ...from, mailbox: name }),
      /**
       * When the answer is lost, the message is read: if it is shown now, it was shown to us, and must not get
       * lost between the hub and here.
       */
      async take(message: InboxMessage): Promise<InboxMessage | null> {
        try {
          return await derived.take(message.id)
        } catch (error) {
          if (!(error instanceof MailboxError) || error.code !== 'unreachable') throw error
          const read = await ask('read', mailboxOperations.read, { id: message.id }, again())
          const { state } = read as InboxMessage
          return state === 'shown' ? { ...message, state } : null
        }
      },
    }
  }

  /** The hub says what there is; what is wanted is judged here, because a function cannot be sent. */
  async function wait(wanted: WaitOptions = {}): Promise<InboxMessage | null> {
    const { match, signal, timeoutMs, replyTo, along: _, ...filter } = wanted
    checkTimeout(timeoutMs)
    connection.mustRun(signal)
    const whole = replyTo === undefined ? {} : { replyTo: (await derived.show(replyTo)).message.id }
    const over = timeoutMs === undefined ? [] : [timeoutSignal(timeoutMs)]
    const ending = AbortSignal.any([...over, connection.until(signal)])
    const taken = await waitMail(watched(signal, timeoutMs), { ...filter, ...whole, match, signal: ending })
    if (taken === null) connection.mustRun(signal)
    return taken
  }

  async function* watch(wanted: WatchOptions = {}): AsyncGenerator<InboxMessage> {
    const ending = connection.until(wanted.signal)
    try {
      yield* watchMail(watched(wanted.signal), { ...wanted, signal: ending })
    } catch (error) {
      // Whoever has ended it knows.
      if (!ending.aborted) throw error
    }
  }

  return {
    ...derived,
    name,
    claimTtlMs,
    wait,
    /** One question after another until the time is up: no connection is silent for long. */
    async waitForAck(id, { timeoutMs = 60_000, signal } = {}) {
      checkTimeout(timeoutMs)
      const deadline = performance.now() + timeoutMs
      for (;;) {
        const left = Math.max(0, Math.min(deadline - performance.now(), waitMs))
        const more = { signal, timeoutMs: left + answerMs, retryForMs: deadline - performance.now() }
        const isAcked = await ask('waitForAck', waitingOperations.waitForAck, { id, timeoutMs: left }, more)
        if (isAcked || performance.now() >= deadline) return isAcked as boolean
      }
    },
    watch,
  }
}

function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || timeoutMs >= 0) return
  throw new MailboxError('invalid', `one cannot wait ${timeoutMs} ms`, {
    hint: 'give a duration of 0 or more',
  })
}
