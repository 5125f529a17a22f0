import { say } from '../agent/say.ts'
import {
  mailboxOperations,
  rosterOperations,
  waitAtMostMs,
  waitingOperations,
} from '../api/mailbox-operations.ts'
import { type Operation, toArguments, toPath } from '../api/operation.ts'
import { talkOperations } from '../api/talk-operations.ts'
import { MailboxError } from '../base/errors.ts'
import type { JoinInput } from '../command/roster.ts'
import { actions, type NamedAction } from '../conversation/registry.ts'
import type { Survey } from '../query/survey.ts'
import type { WaitOptions } from '../space/mailbox-options.ts'
import type { Space } from '../space/space.ts'
import type { Feed } from './feed.ts'
import { concerns } from './mailbox-filter.ts'

/** What an operation works with. */
interface Call {
  space: Space
  name: string
  input: Record<string, unknown>
  /** Aborted when the client is gone, and when the hub stops. */
  signal: AbortSignal
  feed: Feed
  survey: Survey
}

export interface Runnable extends Operation {
  /** Its last part of the path. */
  path: string
  /** Holds its connection until something happens. */
  waits: boolean
  run(call: Call): Promise<unknown>
}

type Method = (...words: unknown[]) => Promise<unknown>

const mailboxOf = ({ space, name }: Call) => space.mailbox(name, { join: false })

function fromMethod(method: keyof typeof mailboxOperations): Runnable {
  const operation: Operation = mailboxOperations[method]
  const run = async (call: Call) => {
    const mailbox = await mailboxOf(call)
    return (mailbox[method] as Method).apply(mailbox, toArguments(operation, call.input))
  }
  return { ...operation, path: toPath(method), waits: false, run }
}

const fromTalk = (action: NamedAction): Runnable => ({
  ...talkOperations[action.name]!,
  path: toPath(action.name),
  waits: false,
  run: async (call) => say(await mailboxOf(call), action, call.input),
})

const wait: Runnable = {
  ...waitingOperations.wait,
  path: 'wait',
  waits: true,
  async run(call) {
    const mailbox = await mailboxOf(call)
    const { feed, survey, name, signal } = call
    const wants = concerns(name, await survey.agent(name))
    const along: NonNullable<WaitOptions['along']> = (from) =>
      feed.follow({ wants, after: from.after, signal: from.signal ?? signal })
    const message = await untilAborted(null, () =>
      mailbox.wait({ timeoutMs: waitAtMostMs, ...call.input, signal, along }),
    )
    // It was taken for somebody who has gone: the next one shall find it.
    if (message !== null && call.signal.aborted) await mailbox.release(message.id)
    return message
  },
}

const waitForAck: Runnable = {
  ...waitingOperations.waitForAck,
  path: toPath('waitForAck'),
  waits: true,
  async run(call) {
    const { id, ...options } = call.input as { id: string; timeoutMs?: number }
    const mailbox = await mailboxOf(call)
    return untilAborted(false, () =>
      mailbox.waitForAck(id, { timeoutMs: waitAtMostMs, ...options, signal: call.signal }),
    )
  },
}

/** A wait that is broken off has come to nothing; whoever is still there asks again. */
async function untilAborted<T>(nothing: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof MailboxError && error.code === 'interrupted') return nothing
    throw error
  }
}

const join: Runnable = {
  ...rosterOperations.join,
  path: 'join',
  waits: false,
  run: ({ space, name, input }) => space.join(name, withHost(input as JoinInput)),
}

const open: Runnable = {
  ...rosterOperations.open,
  path: 'open',
  waits: false,
  async run({ space, name, input }) {
    const given = (input as { join?: JoinInput | false }).join
    await space.mailbox(name, { join: given === false ? false : { session: {}, ...withHost(given ?? {}) } })
    return { name }
  },
}

/** A process is described by its own machine; ours would take the number for one of its own. */
function withHost(input: JoinInput): JoinInput {
  if (input.session?.pid === undefined || input.session.host !== undefined) return input
  throw new MailboxError('invalid', 'a pid says nothing without its host', {
    hint: 'give session.host and session.pidStart as well, or no pid',
  })
}

const methods = Object.keys(mailboxOperations) as (keyof typeof mailboxOperations)[]

/** Everything that can be done in a mailbox, by its path. */
export const operations: ReadonlyMap<string, Runnable> = new Map(
  [...methods.map(fromMethod), ...actions.map(fromTalk), wait, waitForAck, join, open].map((one) => [
    one.path,
    one,
  ]),
)

/** The answer as it goes over the wire: always an object. */
export const toAnswerBody = ({ wrap }: Operation, result: unknown): unknown =>
  wrap === undefined ? result : { [wrap]: result ?? null }
