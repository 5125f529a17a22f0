import { bridgeOperations } from '../api/bridge-operations.ts'
import { concerns } from '../api/mailbox-filter.ts'
import { mailboxOperations } from '../api/mailbox-operations.ts'
import { type Operation, type Schema, type Served, toPath } from '../api/operation.ts'
import { ownMailbox } from '../api/own-mailbox.ts'
import { personOperations } from '../api/person-operations.ts'
import { rosterOperations } from '../api/roster-operations.ts'
import { talkOperations } from '../api/talk-operations.ts'
import { waitingOperations } from '../api/waiting-operations.ts'
import type { HubParts } from './parts.ts'

/** What a request to a mailbox works with. */
interface Call extends Pick<HubParts, 'space' | 'feed' | 'survey'> {
  /** Whose mailbox. */
  name: string
  /** Aborted when the client has gone, and when the hub stops. */
  signal: AbortSignal
  /** Whether the caller sees more than its own mail. @default false */
  readsAll?: boolean
  isStillGood?: () => boolean
}

/** A row of the API as the hub serves it. */
export type Runnable = Operation<Schema, Schema, unknown, Call>

const mailboxOf = async ({ space, name, readsAll = false }: Call) =>
  ownMailbox(space.core, await space.mailboxOfRun(name, { join: false }), () => !readsAll)

/** The hub reads the journal once for everyone who waits. */
const followFor = ({ feed, survey, name, signal }: Call): Served['follow'] =>
  async function* (from) {
    const wants = concerns(name, await survey.agent(name))
    yield* feed.follow(from.after, wants, from.signal ?? signal)
  }

/** The rows of a table by their paths; `on` makes what they work on. */
const byPath = <On>(
  table: Record<string, Operation<Schema, Schema, unknown, On>>,
  on: (call: Call) => On | Promise<On>,
) =>
  Object.entries(table).map(([method, row]): [string, Runnable] => [
    toPath(method),
    { ...row, run: async (call, input) => row.run(await on(call), input) },
  ])

/** Everything that can be done in a mailbox, by its path. */
export const operations: ReadonlyMap<string, Runnable> = new Map([
  ...byPath({ ...mailboxOperations, ...talkOperations }, mailboxOf),
  ...byPath(waitingOperations, async (call) => ({
    ...{ mailbox: await mailboxOf(call), signal: call.signal, follow: followFor(call) },
    isStillGood: call.isStillGood,
  })),
  ...byPath({ ...rosterOperations, ...personOperations, ...bridgeOperations }, (call) => call),
])

/** What holds its connection open, by the names that the metrics use. */
export const heldOperations: ReadonlySet<string> = new Set([
  ...[...operations].filter(([, { holds }]) => holds).map(([path]) => path),
  ...['stream', 'mcp', 'a2a'],
])
