import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { watcherPaths } from '../delivery/watcher.ts'
import { nameToFile } from '../model/name.ts'

/** One pane of one tmux server. A number is used again by the next server, a process is not. */
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
  /** Types only while this program is in the foreground, and takes it for one that is talked to. */
  program?: string
  /** What the line up to the cursor looks like when it waits for input: a regular expression. */
  prompt?: string
  quietMs?: number
  /** Keep the line breaks of a body: for programs that are known to take bracketed pastes. */
  multiline?: boolean
  budgetBytes?: number
  /** How long what was typed may stay unseen. */
  seenMs?: number
  /** Do not ack mail that wants it when it was seen on the screen. */
  noAck?: boolean
}

/**
 * What is being delivered, written down before anything is done. Together with what the tmux server
 * remembers of the pane (tmux.ts) it tells a successor exactly how far a killed watcher came.
 */
export interface Attempt {
  /** Made for this attempt; no earlier text on any screen holds it. */
  token: string
  /** One message; more where the agent is only told of them. */
  ids: string[]
  /** Of a role, so it has to be claimed first. */
  isRole: boolean
  /** By the clock of the space, in ms. */
  at: number
  place?: PanePlace
  /** The agent is told of the mail, and reads it itself. */
  isNotice?: boolean
  /** How the typed text ends, without white space: where it is seen, all of it has arrived. */
  end?: string
  /** It does not wait for a prompt. */
  atOnce?: boolean
  /** How often the command has failed, and when it is tried again. */
  tries?: number
  notBefore?: number
}

const mostTold = 2_000

/** The watcher's own files in a space. */
export class Store {
  readonly paths: ReturnType<typeof watcherPaths>
  /** Only the one worker writes them, so it need not read them again. */
  readonly #attempts = new Map<string, Attempt | undefined>()

  constructor(dir: string) {
    this.paths = watcherPaths(dir)
    for (const path of [this.paths.root, this.paths.agents, this.paths.attempts])
      mkdirSync(path, { recursive: true, mode: 0o700 })
  }

  /** Says that nobody watches any more; only for whoever has the right to (supervisor.ts). */
  giveUpWatch(): void {
    rmSync(this.paths.supervisor, { force: true })
    rmSync(this.paths.heartbeat, { force: true })
  }

  registrations(): Registration[] {
    return readdirSync(this.paths.agents)
      .filter((file) => file.endsWith('.json'))
      .sort()
      .flatMap((file) => readJsonIfAny<Registration>(join(this.paths.agents, file)) ?? [])
  }

  /** Two agents in one pane would type over one another. */
  register(registration: Registration): void {
    const { agent, place } = registration
    const other = this.registrations().find(
      (one) =>
        one.agent !== agent && place !== undefined && JSON.stringify(one.place) === JSON.stringify(place),
    )
    if (other !== undefined)
      throw new MailboxError('conflict', `the pane ${place!.pane} is where ${other.agent} gets its mail`, {
        hint: `mailbox tmux detach ${other.agent}`,
      })
    writeFileAtomically(this.#agentFile(registration.agent), JSON.stringify(registration), { durable: true })
  }

  /** Whether there was one. */
  forget(agent: string): boolean {
    const known = readJsonIfAny(this.#agentFile(agent)) !== undefined
    rmSync(this.#agentFile(agent), { force: true })
    return known
  }

  attempt(agent: string): Attempt | undefined {
    if (!this.#attempts.has(agent))
      this.#attempts.set(agent, readJsonIfAny<Attempt>(this.#attemptFile(agent)))
    return this.#attempts.get(agent)
  }

  intend(agent: string, attempt: Attempt): void {
    writeFileAtomically(this.#attemptFile(agent), JSON.stringify(attempt), { durable: true })
    this.#attempts.set(agent, attempt)
  }

  endAttempt(agent: string): void {
    rmSync(this.#attemptFile(agent), { force: true })
    this.#attempts.set(agent, undefined)
    // What hangs on it goes after it: without it these mean nothing, and a crash in between leaves litter only.
    const own = `${nameToFile(agent)}.`
    for (const file of readdirSync(this.paths.attempts))
      if (file.startsWith(own) && /\.(text|started|result)$/.test(file))
        rmSync(join(this.paths.attempts, file), { force: true })
  }

  /** Mail that an agent was told of, as far as it matters: the latest. */
  told(agent: string): string[] {
    return readJsonIfAny<string[]>(this.file(agent, 'told')) ?? []
  }

  noteTold(agent: string, ids: readonly string[]): void {
    const told = [...this.told(agent), ...ids].slice(-mostTold)
    writeFileAtomically(this.file(agent, 'told'), JSON.stringify(told))
  }

  /** A file that belongs to an agent's attempt. */
  file(agent: string, what: string): string {
    return join(this.paths.attempts, `${nameToFile(agent)}.${what}`)
  }

  #agentFile(agent: string): string {
    return join(this.paths.agents, `${nameToFile(agent)}.json`)
  }

  #attemptFile(agent: string): string {
    return this.file(agent, 'json')
  }
}
