import type { Mailbox } from '../mailbox.ts'
import { clientWord } from '../model/client.ts'
import { checkName } from '../model/name.ts'
import type { Space } from '../space.ts'

export interface IdentityOptions {
  /** The agent that this server speaks for (`--as`, MAILBOX_AGENT, a token). Left out, it is named after its client. */
  name?: string | undefined
  /** The process whose life is the agent's: the client that has started us. Unknown when it is elsewhere. */
  pid?: number | undefined
}

/** What a client says of itself. */
export interface ClientInfo {
  name?: string | undefined
  /** What it calls the session that a call belongs to; some clients have several in one process. */
  sessionId?: string | undefined
}

/**
 * Whom a connection speaks for. It is settled at the first call that needs it, by what started the server and
 * what the client says of itself; no argument of any tool can change it: one agent cannot write as another.
 */
export class Identity {
  readonly #space: Space
  readonly #options: IdentityOptions
  readonly #mailboxes = new Map<string | undefined, Promise<Mailbox>>()

  constructor(space: Space, options: IdentityOptions) {
    this.#space = space
    this.#options = options
  }

  /** The agent's mailbox; joined with the client, its process and its session. */
  mailbox(client: ClientInfo): Promise<Mailbox> {
    const { sessionId } = client
    const known = this.#mailboxes.get(sessionId)
    if (known !== undefined) return known
    const joining = this.#join(client)
    this.#mailboxes.set(sessionId, joining)
    joining.catch(() => this.#mailboxes.delete(sessionId)) // The next call tries again.
    return joining
  }

  async #join({ name: clientName, sessionId: id }: ClientInfo): Promise<Mailbox> {
    const { name, pid } = this.#options
    const client = clientWord(clientName) ?? 'mcp'
    const session = { ...(pid === undefined ? {} : { pid }), ...(id === undefined ? {} : { id }) }
    if (name === undefined) return this.#space.seat({ client, session })
    checkName(name, 'agent name')
    return this.#space.mailbox(name, { join: { session: { ...session, client } } })
  }
}
