import { given } from '../base/objects.ts'
import { clientWord } from '../model/client.ts'
import type { OpenedSpace } from '../space/api.ts'
import type { Mailbox } from '../space/mailbox/api.ts'

export interface IdentityOptions {
  /** The agent that this server acts for (`--as`, MAILBOX_AGENT, a token). @default named after its client */
  name?: string | undefined
  /** The client that started us: the agent lives as long as this process. Unknown when it is on another machine. */
  pid?: number | undefined
  /** The client's own id for its session, where that can be found out; it may change. */
  sessionId?: () => string | undefined
}

/** What a client says about itself. */
export interface ClientInfo {
  name?: string | undefined
  /** The client's own id for the session of a call; some clients have several in one process. */
  sessionId?: string | undefined
}

/**
 * The agent that a connection acts for. It depends on how the server was started and on what the client says about
 * itself. No argument of a tool can change it, so one agent cannot write as another. Where a name was given, what
 * the client says does not matter.
 */
export class Identity {
  readonly #space: OpenedSpace
  readonly #options: IdentityOptions
  readonly #mailboxes = new Map<string | undefined, Promise<Mailbox>>()

  constructor(space: OpenedSpace, options: IdentityOptions) {
    this.#space = space
    this.#options = options
  }

  /** The agent's mailbox. Joins with the client, its process and its session. */
  async mailbox(client: ClientInfo): Promise<Mailbox> {
    const sessionId = client.sessionId ?? this.#options.sessionId?.()
    const known = this.#mailboxes.get(sessionId)
    if (known !== undefined && (await this.#isAtWork(known))) return known
    // Another call may have joined meanwhile.
    const newer = this.#mailboxes.get(sessionId)
    if (newer !== undefined && newer !== known) return newer
    const joining = this.#join(clientWord(client.name) ?? 'mcp', sessionId)
    // Simultaneous calls join once.
    this.#mailboxes.set(sessionId, joining)
    joining.catch(() => this.#mailboxes.delete(sessionId))
    return joining
  }

  /** Whether the agent is still the one of this client: it may have left, died, or been given up for another. */
  async #isAtWork(joined: Promise<Mailbox>): Promise<boolean> {
    const { state, session } = await (await joined).agent()
    return state !== 'dead' && state !== 'frozen' && session.pid === this.#options.pid
  }

  #join(client: string, sessionId: string | undefined): Promise<Mailbox> {
    const { name, pid } = this.#options
    // The session of a client on another machine is not recorded: it could be mistaken for one of a client here.
    if (pid === undefined) return this.#space.mailboxOfRun(name!, { join: { session: { client } } })
    return this.#space.joinAs({ name, client, session: { pid, ...given({ id: sessionId }) } })
  }
}
