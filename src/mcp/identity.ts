import { clientWord } from '../model/client.ts'
import { checkName } from '../model/name.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import type { DiskSpace } from '../space/space.ts'

export interface IdentityOptions {
  /** The agent that this server acts for (`--as`, MAILBOX_AGENT, a token). @default named after its client */
  name?: string | undefined
  /** The client that started us: the agent lives as long as this process. Unknown when it is on another machine. */
  pid?: number | undefined
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
  readonly #space: DiskSpace
  readonly #options: IdentityOptions
  readonly #mailboxes = new Map<string | undefined, Promise<Mailbox>>()

  constructor(space: DiskSpace, options: IdentityOptions) {
    this.#space = space
    this.#options = options
  }

  /** The agent's mailbox. Joins with the client, its process and its session. */
  mailbox(client: ClientInfo): Promise<Mailbox> {
    const { name, pid } = this.#options
    const key = name === undefined ? client.sessionId : undefined
    const known = this.#mailboxes.get(key)
    if (known !== undefined) return known
    // The session of a client on another machine is not recorded: it could be mistaken for one of a client here.
    const id = client.sessionId === undefined ? {} : { id: client.sessionId }
    const session = pid === undefined ? {} : { pid, ...id }
    const joining = this.#join(name, clientWord(client.name) ?? 'mcp', session)
    // Simultaneous calls join once.
    this.#mailboxes.set(key, joining)
    const forget = () => void this.#mailboxes.delete(key)
    // A named agent may have left or died since, so the next call looks again. So it does after a failure.
    joining.then(() => name === undefined || forget(), forget)
    return joining
  }

  async #join(
    name: string | undefined,
    client: string,
    session: { pid?: number; id?: string },
  ): Promise<Mailbox> {
    if (name === undefined) return this.#space.joinAs({ client, session })
    checkName(name, 'agent name')
    return this.#space.mailboxOfRun(name, { join: { session: { ...session, client } } })
  }
}
