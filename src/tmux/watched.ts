import { systemAgent } from '../model/agent.ts'
import type { OpenedSpace } from '../space/api.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import type { DiskSpace } from '../space/space.ts'

export type RosterAgent = Awaited<ReturnType<OpenedSpace['agents']>>[number]

export interface WatchBell {
  /** Forgets rings up to now. */
  reset(): void
  /** Resolves at the next ring, or when the time is up. */
  rung(ms: number): Promise<void>
  close(): void
}

/** A space as the watcher needs it, on this disk or behind a hub. */
export interface WatchedSpace extends Pick<OpenedSpace, 'settings' | 'now' | 'stateDir'> {
  /** What a command gets as MAILBOX_SPACE. */
  readonly place: string
  /** How long what was found counts while there is no news: what has expired is none. */
  readonly lookMs: number
  /** Whose mail may have changed since this was asked last. */
  news(): Promise<(name: string) => boolean>
  /** These agents as they are now; an error for one that cannot be asked about. */
  agentsNamed(names: readonly string[]): Promise<Map<string, RosterAgent | Error>>
  /** The mailbox of an agent, to look into. */
  mailbox(name: string): Promise<Mailbox>
  /** The same for a delivery. */
  mailboxOfRun(name: string): Promise<Mailbox>
  /** Reports an agent that nobody can see and that is there all the same. */
  sayHere(name: string): Promise<unknown>
  /** Whoever says that mail for an agent could not be delivered. */
  reporter(name: string): Promise<Mailbox>
  join: OpenedSpace['join']
  /** Runs `work` while no other process takes the right to watch. */
  exclusively<T>(work: () => T): T
  /** Begins to deliver, until the signal ends it: rings when something has happened. */
  begin(signal: AbortSignal): WatchBell
  /** A delivery is about to change somebody's mail. */
  willChange(name: string): void
  close(): Promise<void>
}

/** The space of this disk. */
export function watchedOnDisk(space: DiskSpace): WatchedSpace {
  const { core, settings, now, stateDir, dir: place } = space
  let seq = -1
  return {
    ...{ settings, now, stateDir, place },
    lookMs: 0,
    async news() {
      const end = await space.lastSeq()
      const isNew = end !== seq
      seq = end
      return () => isNew
    },
    agentsNamed: async () => new Map((await space.agents()).map((agent) => [agent.name, agent])),
    mailbox: (name) => space.mailbox(name, { join: false }),
    mailboxOfRun: (name) => space.mailboxOfRun(name, { join: false }),
    sayHere: (name) => space.update(name, {}),
    reporter: async () => space.mailboxInside(systemAgent),
    join: space.join,
    exclusively: (work) => core.exclusively(work),
    begin(signal) {
      // It delivers to every agent with a pane, whoever started it.
      core.actsForAll = true
      const bell = core.bell(signal)
      const keeper = space.runDueEvery()
      return {
        reset: () => bell.reset(),
        rung: (ms) => bell.rung(ms),
        close() {
          keeper.stop()
          bell.close()
        },
      }
    },
    willChange: () => {},
    close: space.close,
  }
}
