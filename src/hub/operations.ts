import { mailboxOperations } from '../api/mailbox-operations.ts'
import {
  type Operation,
  type RosterOperation,
  type ServedOperation,
  toPath,
  type Wait,
} from '../api/operation.ts'
import { rosterOperations } from '../api/roster-operations.ts'
import { talkOperations } from '../api/talk-operations.ts'
import { waitingOperations } from '../api/waiting-operations.ts'
import type { DiskSpace } from '../space/space.ts'
import type { Survey } from '../space/survey.ts'
import type { Feed } from './feed.ts'
import { concerns } from './mailbox-filter.ts'

/** What a request to a mailbox works with. */
interface Call {
  space: DiskSpace
  /** Whose mailbox. */
  name: string
  /** Aborted when the client has gone, and when the hub stops. */
  signal: AbortSignal
  feed: Feed
  survey: Survey
}

/** A row of the API as the hub serves it. */
export interface Runnable extends Omit<Operation, 'run'> {
  /** The last part of its path. */
  path: string
  /** Holds its connection until something happens. */
  waits: boolean
  /** Takes an input that its schema has checked. */
  run(call: Call, input: unknown): Promise<unknown>
}

const mailboxOf = ({ space, name }: Call) => space.mailbox(name, { join: false })

/** The hub reads the journal once for everyone who waits. */
const followFor = ({ feed, survey, name, signal }: Call): Wait['follow'] =>
  async function* (from) {
    const wants = concerns(name, await survey.agent(name))
    yield* feed.follow({ wants, after: from.after, signal: from.signal ?? signal })
  }

const answering = (row: Operation): Omit<Runnable, 'path'> => ({
  ...{ ...row, waits: false },
  run: async (call, input) => row.run(await mailboxOf(call), input),
})

const serving = (row: ServedOperation): Omit<Runnable, 'path'> => ({
  ...{ ...row, waits: row.holds ?? false },
  run: async (call, input) =>
    row.run(await mailboxOf(call), input, { signal: call.signal, follow: followFor(call) }),
})

const joining = (row: RosterOperation): Omit<Runnable, 'path'> => ({
  ...{ ...row, waits: false },
  run: ({ space, name }, input) => row.run(space, name, input),
})

function byPath<R>(table: Record<string, R>, toRunnable: (row: R) => Omit<Runnable, 'path'>) {
  return Object.entries(table).map(([method, row]): [string, Runnable] => {
    const path = toPath(method)
    return [path, { ...toRunnable(row), path }]
  })
}

/** Everything that can be done in a mailbox, by its path. */
export const operations: ReadonlyMap<string, Runnable> = new Map([
  ...byPath<Operation>({ ...mailboxOperations, ...talkOperations }, answering),
  ...byPath<ServedOperation>(waitingOperations, serving),
  ...byPath<RosterOperation>(rosterOperations, joining),
])

/** What holds its connection open, by the names that the metrics use. */
export const heldOperations: ReadonlySet<string> = new Set([
  ...[...operations.values()].filter(({ waits }) => waits).map(({ path }) => path),
  ...['stream', 'mcp'],
])
