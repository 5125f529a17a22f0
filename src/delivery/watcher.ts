import { join } from 'node:path'
import { listIfAny, readJsonIfAny } from '../base/files.ts'
import { type ProcessIdentity, processState } from '../base/process.ts'

/** Where one agent's mail stands with the watcher. */
export interface WatchedAgent {
  agent: string
  /** A pane, or the command that is run. */
  where: string
  /** Unread mail that it has not delivered yet. */
  waiting: number
  /** What it does or what it waits for, in a few words. */
  doing: string
}

/** What the watcher writes down once a second. */
export interface Heartbeat {
  worker: ProcessIdentity
  /** By the clock of the space, in ms. */
  at: number
  agents: WatchedAgent[]
}

export interface WatcherHealth {
  /** `silent`: its process is there, and has not been heard of for a while. */
  state: 'up' | 'silent' | 'down'
  /** Agents that get their mail from it. */
  registered: number
  supervisor?: ProcessIdentity
  heartbeat?: Heartbeat
}

/** Where the watcher keeps what must survive it, under a space's directory. */
export const watcherPaths = (dir: string) => {
  const root = join(dir, 'tmux')
  return {
    root,
    /** The one process that may watch; gone when it has ended in order. */
    supervisor: join(root, 'watcher.json'),
    heartbeat: join(root, 'heartbeat.json'),
    /** An agent a file: where its mail goes. */
    agents: join(root, 'agents'),
    /** An agent a file: what is being delivered at this moment. */
    attempts: join(root, 'attempts'),
  }
}

const silentAfterMs = 20_000

/** How the watcher is; undefined where nobody gets mail from one. */
export function watcherHealth(dir: string, now: number): WatcherHealth | undefined {
  const paths = watcherPaths(dir)
  const registered = listIfAny(paths.agents).filter((name) => name.endsWith('.json')).length
  if (registered === 0) return undefined
  const supervisor = readJsonIfAny<ProcessIdentity>(paths.supervisor)
  if (supervisor === undefined || processState(supervisor) === 'gone') return { state: 'down', registered }
  const heartbeat = readJsonIfAny<Heartbeat>(paths.heartbeat)
  const isHeard = heartbeat !== undefined && Math.abs(now - heartbeat.at) < silentAfterMs
  return {
    state: isHeard ? 'up' : 'silent',
    registered,
    supervisor,
    ...(heartbeat === undefined ? {} : { heartbeat }),
  }
}

/** What a person should know of it, and do. */
export function watcherWarnings(health: WatcherHealth | undefined): string[] {
  if (health === undefined || health.state === 'up') return []
  const whose = `${health.registered} ${health.registered === 1 ? 'agent gets its' : 'agents get their'} mail from it`
  return health.state === 'down'
    ? [`watcher down: ${whose}; start it: mailbox tmux watch`]
    : [`watcher silent: ${whose}; see mailbox tmux status`]
}
