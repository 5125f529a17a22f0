import { existsSync, type FSWatcher, statSync, watch } from 'node:fs'
import { basename } from 'node:path'
import { person } from '../model/agent.ts'
import { hubDir } from './hub-dir.ts'
import { newToken, personFile, personToken, readPersonToken } from './person-token.ts'
import { type Scope, scopes } from './scopes.ts'
import { agentsFile, digestOf, readTokens, scopesOf, type TokenRow } from './tokens.ts'

/** Who sent a request. */
export interface Caller {
  agent: string
  /** The person acts as `user`, and reads everything. */
  isPerson: boolean
  /** The token is kept for programs, and has no business in a browser. */
  isForPrograms: boolean
  scopes: ReadonlySet<Scope>
  /** The digest of its token, the key for everything that is counted per token. */
  digest: string
}

/** A caller, and when its token ends. */
type Known = Caller & { until: number }

/** Whether a caller may read what is not its own. */
export const readsAll = ({ scopes: given }: Caller): boolean => given.has('read-all')

/**
 * Whose token is whose. The files are looked at before every answer, so that a token that is revoked, replaced or
 * deleted ends at once, in this process or another.
 */
export class Callers {
  /** The person's token for programs, as it was at the start. */
  readonly person: string
  /**
   * The person's token for the console. It is good for this run of the hub: whoever listens on the port afterwards, and
   * gets it from a page that is still open, can do nothing with it.
   */
  readonly console = newToken()
  readonly #dir: string
  readonly #isStored: boolean
  readonly #listeners = new Set<() => void>()
  readonly #watcher: FSWatcher | undefined
  #known = new Map<string, Known>()
  #version: string | undefined
  /** Why the tokens of agents cannot be read. */
  #problem: unknown
  /** The files were looked at since this process last waited for anything. */
  #isFresh = false

  constructor(dir: string) {
    this.#dir = dir
    const { token, isStored } = personToken(dir)
    this.person = token
    this.#isStored = isStored
    this.#watcher = this.#watch()
    this.#refresh()
  }

  /** Tells of changes when nobody asks. If the system cannot do that, streams ask at every heartbeat. */
  #watch(): FSWatcher | undefined {
    const files = [personFile(this.#dir), agentsFile(this.#dir)].map((file) => basename(file))
    try {
      const watcher = watch(hubDir(this.#dir), { persistent: false }, (_, file) => {
        if (file !== null && !files.includes(file)) return
        this.#isFresh = false
        for (const listener of this.#listeners) listener()
      })
      watcher.on('error', () => watcher.close())
      return watcher
    } catch {
      return undefined
    }
  }

  /** Calls back when tokens may have changed. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The caller with a token. What follows a `~` is for the client: how to know the hub. */
  callerOf(token: string): Caller | undefined {
    return this.callerWith(digestOf(token.replace(/~.*$/, '')))
  }

  /** The same by the digest, for open connections. */
  callerWith(digest: string): Caller | undefined {
    const known = this.#find(digest)
    return known === undefined || known.until <= Date.now() ? undefined : known
  }

  /** Whose token has expired. */
  expiredOf(token: string): string | undefined {
    const known = this.#find(digestOf(token.replace(/~.*$/, '')))
    return known !== undefined && known.until <= Date.now() ? known.agent : undefined
  }

  #find(digest: string): Known | undefined {
    if (!this.#isFresh) {
      this.#refresh()
      this.#isFresh = true
      // Nothing else happens before that, so those who are served in one go cost one look.
      queueMicrotask(() => {
        this.#isFresh = false
      })
    }
    const known = this.#known.get(digest)
    if (known === undefined && this.#problem !== undefined) throw this.#problem
    return known
  }

  #refresh(): void {
    const version = [agentsFile(this.#dir), personFile(this.#dir)].map(versionOf).join(', ')
    // A space that was moved away as a whole takes its tokens along; the answer then says what is wrong.
    if (version === this.#version || (this.#version !== undefined && !existsSync(this.#dir))) return
    const known = [personWith(this.console, false)]
    const stored = this.#isStored ? this.#personNow() : this.person
    if (stored !== undefined) known.push(personWith(stored, true))
    this.#problem = undefined
    try {
      for (const [agent, row] of readTokens(this.#dir)) known.push(agentWith(agent, row))
    } catch (error) {
      // The person gets in whatever has become of the tokens of the agents.
      this.#problem = error
    }
    this.#known = new Map(known.map((one) => [one.digest, one]))
    this.#version = version
  }

  /** A file that is gone or cannot be used has no token in it. */
  #personNow(): string | undefined {
    try {
      return readPersonToken(this.#dir)
    } catch {
      return undefined
    }
  }

  stop(): void {
    this.#watcher?.close()
    this.#listeners.clear()
  }
}

const personWith = (token: string, isForPrograms: boolean): Known => ({
  ...{ agent: person, isPerson: true, isForPrograms, digest: digestOf(token), scopes: new Set(scopes) },
  until: Number.POSITIVE_INFINITY,
})

const agentWith = (agent: string, row: TokenRow): Known => ({
  ...{ agent, isPerson: false, isForPrograms: false, digest: row.sha256, scopes: new Set(scopesOf(row)) },
  until: row.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(row.expiresAt),
})

function versionOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size} ${found.mode}`
}
