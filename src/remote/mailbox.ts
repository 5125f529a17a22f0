import { waitMail, watchMail } from '../delivery/watch.ts'
import { MailboxError } from '../errors.ts'
import type { Mailbox } from '../mailbox.ts'
import type { WaitOptions } from '../mailbox-options.ts'
import { checkJsonValue } from '../model/json.ts'
import type { InboxMessage } from '../query/inbox.ts'
import { mailboxOperations, waitAtMostMs, waitingOperations } from '../wire/mailbox-operations.ts'
import { fromArguments, type Operation, toPath } from '../wire/operation.ts'
import { type CallOptions, type Connection, cancelled } from './connection.ts'
import { followHub } from './stream.ts'

/** A little under what the hub waits at most, so that its answer comes before anybody gives up. */
const waitMs = waitAtMostMs - 5_000

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
    const answer = await connection.call<Record<string, unknown>>({
      method: 'POST',
      path: `/api/mailboxes/${encodeURIComponent(name)}/${toPath(method)}`,
      body: input,
      repeatable: (operation.reads ?? false) || key !== undefined,
      ...more,
    })
    if (!operation.reads) onHeard()
    return operation.wrap === undefined ? answer : answer[operation.wrap]
  }

  const methods = Object.entries(mailboxOperations).map(([method, operation]: [string, Operation]) => [
    method,
    (...words: unknown[]) => ask(method, operation, fromArguments(operation, words)),
  ])
  const derived = Object.fromEntries(methods) as Pick<Mailbox, Derived>

  const watched = {
    ...{ name, unread: derived.unread, peek: derived.peek, take: derived.take },
    follow: (from: { after: number; signal: AbortSignal | undefined }) =>
      followHub(connection, { ...from, mailbox: name }),
  }

  /** One question after another until there is an answer or the time is up: no connection is silent for long. */
  async function poll<T>(
    method: keyof typeof waitingOperations,
    input: object,
    { timeoutMs = Number.POSITIVE_INFINITY, signal }: Pick<WaitOptions, 'timeoutMs' | 'signal'>,
    isNothing: (answer: T) => boolean,
  ): Promise<T> {
    if (!(timeoutMs >= 0)) {
      throw new MailboxError('invalid', `one cannot wait ${timeoutMs} ms`, {
        hint: 'give a duration of 0 or more',
      })
    }
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const left = Math.max(0, Math.min(deadline - performance.now(), waitMs))
      const answer = (await ask(
        method,
        waitingOperations[method],
        { ...input, timeoutMs: left },
        { signal, timeoutMs: left + 30_000, repeatable: true, patient: true },
      )) as T
      if (!isNothing(answer) || performance.now() >= deadline) return answer
      if (signal?.aborted) throw cancelled()
    }
  }

  /** What a function of the caller's has to judge is judged here; the hub only says what there is. */
  async function waitMatching(
    wanted: WaitOptions & Required<Pick<WaitOptions, 'match'>>,
  ): Promise<InboxMessage | null> {
    const { match, signal, timeoutMs, replyTo, along: _, ...filter } = wanted
    const whole = replyTo === undefined ? {} : { replyTo: (await derived.show(replyTo)).message.id }
    const over =
      timeoutMs === undefined ? [] : [AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), longestTimerMs))]
    const ending = AbortSignal.any([...over, ...(signal === undefined ? [] : [signal])])
    const taken = await waitMail(watched, { ...filter, ...whole, match, signal: ending })
    if (taken !== null) return taken
    if (signal?.aborted) throw cancelled()
    if (connection.ending.aborted)
      throw new MailboxError('closed', 'the space is closed', { hint: 'open it again' })
    return null
  }

  return {
    ...derived,
    name,
    claimTtlMs,
    async wait(wanted = {}) {
      const { match, signal, timeoutMs, along: _, ...filter } = wanted
      if (match !== undefined) return waitMatching({ ...wanted, match })
      const time = {
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(signal === undefined ? {} : { signal }),
      }
      return poll<InboxMessage | null>('wait', filter, time, (message) => message === null)
    },
    waitForAck(id, { timeoutMs = 60_000, signal } = {}) {
      const time = { timeoutMs, ...(signal === undefined ? {} : { signal }) }
      return poll<boolean>('waitForAck', { id }, time, (acked) => !acked)
    },
    watch: (wanted) => watchMail(watched, wanted),
  }
}

/** A timer holds no more. */
const longestTimerMs = 2_147_483_647
