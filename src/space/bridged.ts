import type { JoinInput, UpdateInput } from '../command/roster.ts'
import type { Agent } from '../model/agent.ts'
import type { SendInput } from '../model/fields.ts'
import type { Origin } from '../model/origin.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Unread } from '../query/next-mail.ts'
import type { OpenedSpace } from './api.ts'
import type { SentMessage } from './mailbox/api.ts'
import type { DiskSpace } from './space.ts'
import { importLines, type NumberedLine, type Refusal } from './transfer.ts'

/** A space as a bridge needs it, on this disk or behind a hub. It speaks for whoever is in the folder of the other system. */
export interface BridgedSpace
  extends Pick<OpenedSpace, 'id' | 'place' | 'now' | 'agents' | 'show' | 'owed' | 'lastSeq' | 'entries'> {
  /** Where the notes of its bridges are on this machine. */
  readonly dir: string
  /** Everybody who is known, as of the last {@link refresh}. */
  readonly roster: ReadonlyMap<string, Agent>
  /** Brings the roster up to date, at the beginning of a look. */
  refresh(): Promise<void>
  /** What the space calls a folder of this machine: it knows many machines if it is behind a hub. */
  nameOf(path: string): string
  join(name: string, input: JoinInput): Promise<unknown>
  update(name: string, input: UpdateInput): Promise<unknown>
  leave(name: string, options: { frozen: true }): Promise<unknown>
  mailboxInside(name: string): BridgedMailbox
  /** The ids of messages by their senders and keys; undefined for those that are not here. */
  keyed(asked: readonly Keyed[]): Promise<(string | undefined)[]>
  /** Adds lines of the past. Returns how many messages are new. */
  importLines(lines: readonly NumberedLine[], onRefused: (refusal: Refusal) => void): Promise<number>
  /** Calls back when there may be something new, until it is told to stop. */
  onWake(ring: () => void): () => void
}

export interface Keyed {
  from: string
  key: string
}

/** The mailbox of somebody in the folder, or of whoever gets mail there. */
export interface BridgedMailbox {
  bring(input: SendInput, origin: Origin): Promise<SentMessage>
  unread(): Promise<Unread>
  peek(seq: number): Promise<InboxMessage | null>
  notified(ids: readonly string[]): Promise<unknown>
  take(id: string): Promise<unknown>
  retry(id: string): Promise<unknown>
  ack(id: string): Promise<unknown>
  start(id: string): Promise<unknown>
  fail(id: string, options: { reason: string }): Promise<unknown>
  done(id: string, options?: { archive?: boolean }): Promise<unknown>
  archive(id: string): Promise<unknown>
}

/**
 * What must end a bridge, and is no refusal of a single message: the hub does not take its token any more, or is of
 * another version.
 */
export class BridgeEnded extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/** A space of this disk, for its bridges. */
export function bridgedOnDisk(space: DiskSpace): BridgedSpace {
  const { core, id, dir, place, now, agents, show, owed, lastSeq, join, update, leave } = space
  return {
    ...{ id, dir, place, now, agents, show, owed, lastSeq, join, update, leave },
    entries: (after, signal) => space.entries(after, signal),
    get roster() {
      return core.agents
    },
    refresh: async () => {},
    nameOf: (path) => path,
    mailboxInside: space.mailboxInside,
    keyed: (asked) => messagesKeyed(space, asked),
    importLines: async (lines, onRefused) => (await importLines(core, lines, { onRefused })).imported,
    onWake: (ring) => core.journal.onWake(ring),
  }
}

export const messagesKeyed = (
  { core }: DiskSpace,
  asked: readonly Keyed[],
): Promise<(string | undefined)[]> =>
  core.query((source) => {
    const view = core.viewOf(source)
    return asked.map(({ from, key }) => view.keyed(from, key))
  })
