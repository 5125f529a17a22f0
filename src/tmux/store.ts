import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { MailboxError } from '../base/errors.ts'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import type { ProcessIdentity } from '../base/process.ts'
import { nameToFile } from '../model/name.ts'
import { describeHelper, type HelperDescription } from '../space/helpers.ts'

/** One pane of one tmux server. The next server reuses pane numbers, but not the process. */
export interface PanePlace {
  socket: string
  pane: string
  panePid: number
}

/** Where an agent's mail goes, and how. */
export interface Registration {
  agent: string
  place?: PanePlace
  /** Run instead of typing, where there is no pane. */
  exec?: string
  /** Type only while this program is in the foreground, and treat it as one that reads messages. */
  program?: string
  /** A regular expression for the line up to the cursor when the program waits for input. */
  prompt?: string
  quietMs?: number
  /** Keep line breaks, for programs that support bracketed paste. */
  multiline?: boolean
  budgetBytes?: number
  /** How long typed text may stay unseen. */
  seenMs?: number
  /** Do not acknowledge mail when it appears on the screen. */
  noAck?: boolean
}

/**
 * A delivery, recorded before anything is done. Together with what the tmux server remembers about the pane (tmux.ts)
 * it tells the next watcher exactly how far a killed one got.
 */
export interface Attempt {
  /** Unique to this attempt; no earlier text on any screen contains it. */
  token: string
  /** One message, or several that one notice announces. */
  ids: string[]
  /** Mail to a role, which has to be claimed first. */
  isRole: boolean
  /** By the clock of the space, in ms. */
  at: number
  place?: PanePlace
  /** Only a notice is typed; the agent reads the mail itself. */
  isNotice?: boolean
  /** The end of the typed text, without white space: once it is visible, all of it has arrived. */
  end?: string
  /** It does not wait for a prompt. */
  atOnce?: boolean
  /** How often the command has failed, and when to retry. */
  tries?: number
  notBefore?: number
}

export const newToken = (): string => randomBytes(6).toString('hex')

/** Where one agent's mail stands with the watcher. */
export interface WatchedAgent {
  agent: string
  /** A pane, or the command that is run. */
  where: string
  /** Unread mail that is not delivered yet. */
  waiting: number
  /** What the watcher is doing or waiting for, in a few words. */
  doing: string
}

/** What the worker writes once a second. */
export interface Heartbeat {
  worker: ProcessIdentity
  /** By the clock of the space, in ms. */
  at: number
  agents: WatchedAgent[]
}

const mostTold = 2_000

/** How the watcher describes itself to the space. The supervisor is the one process that may watch. */
const description: HelperDescription = {
  name: 'watcher',
  agentsDir: 'tmux/agents',
  processFile: 'tmux/watcher.json',
  heartbeatFile: 'tmux/heartbeat.json',
  start: 'mailbox tmux watch',
  status: 'mailbox tmux status',
  detach: 'mailbox tmux detach NAME',
}

/** The watcher's files in a space. */
export class Store {
  readonly paths: Record<'supervisor' | 'heartbeat' | 'agents' | 'attempts', string>
  /** Only one worker writes them, so it need not read them again. */
  readonly #attempts = new Map<string, Attempt | undefined>()

  constructor(dir: string) {
    this.paths = {
      supervisor: join(dir, description.processFile),
      heartbeat: join(dir, description.heartbeatFile),
      agents: join(dir, description.agentsDir),
      attempts: join(dir, 'tmux/attempts'),
    }
    for (const path of [this.paths.agents, this.paths.attempts])
      mkdirSync(path, { recursive: true, mode: 0o700 })
    describeHelper(dir, 'tmux', description)
  }

  /** Records that nobody watches any more. Only for the process that had the right to watch (supervisor.ts). */
  giveUpWatch(): void {
    rmSync(this.paths.supervisor, { force: true })
    rmSync(this.paths.heartbeat, { force: true })
  }

  heartbeat(): Heartbeat | undefined {
    return readJsonIfAny<Heartbeat>(this.paths.heartbeat)
  }

  registrations(): Registration[] {
    const files = readdirSync(this.paths.agents).filter((file) => file.endsWith('.json'))
    return files.sort().flatMap((file) => readJsonIfAny<Registration>(join(this.paths.agents, file)) ?? [])
  }

  /** Two agents in one pane would interfere with each other. */
  register(registration: Registration): void {
    const { agent, place } = registration
    const others = this.registrations().filter((one) => one.agent !== agent)
    const other = place && others.find((one) => isDeepStrictEqual(one.place, place))
    if (other !== undefined) {
      const hint = `detach it first: mailbox tmux detach ${other.agent}`
      throw new MailboxError('conflict', `pane ${place!.pane} belongs to ${other.agent}`, { hint })
    }
    writeFileAtomically(this.#agentFile(agent), JSON.stringify(registration))
  }

  /** Returns whether it was registered. */
  forget(agent: string): boolean {
    const known = readJsonIfAny(this.#agentFile(agent)) !== undefined
    rmSync(this.#agentFile(agent), { force: true })
    return known
  }

  attempt(agent: string): Attempt | undefined {
    if (!this.#attempts.has(agent))
      this.#attempts.set(agent, readJsonIfAny<Attempt>(this.file(agent, 'json')))
    return this.#attempts.get(agent)
  }

  intend(agent: string, attempt: Attempt): void {
    writeFileAtomically(this.file(agent, 'json'), JSON.stringify(attempt))
    this.#attempts.set(agent, attempt)
  }

  endAttempt(agent: string): void {
    rmSync(this.file(agent, 'json'), { force: true })
    this.#attempts.set(agent, undefined)
    // Its other files are removed afterwards: without it they mean nothing, should we crash in between.
    const left = readdirSync(this.paths.attempts).filter((file) => file.startsWith(`${nameToFile(agent)}.`))
    for (const file of left.filter((each) => /\.(text|started|result)$/.test(each)))
      rmSync(join(this.paths.attempts, file), { force: true })
  }

  /** The latest messages that were announced to an agent. */
  told(agent: string): string[] {
    return readJsonIfAny<string[]>(this.file(agent, 'told')) ?? []
  }

  noteTold(agent: string, ids: readonly string[]): void {
    const told = [...this.told(agent), ...ids].slice(-mostTold)
    writeFileAtomically(this.file(agent, 'told'), JSON.stringify(told))
  }

  /** A file of an agent's attempt. */
  file(agent: string, what: string): string {
    return join(this.paths.attempts, `${nameToFile(agent)}.${what}`)
  }

  #agentFile(agent: string): string {
    return join(this.paths.agents, `${nameToFile(agent)}.json`)
  }
}
