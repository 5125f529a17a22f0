import { clientWord } from '../model/client.ts'
import { checkName } from '../model/name.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import type { DiskSpace } from '../space/space.ts'

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
 * Whom a connection speaks for. It is settled by what started the server and what the client says of itself; no
 * argument of any tool can change it: one agent cannot write as another. Where a name was given, nothing that the
 * client says matters at all.
 */
export class Identity {
  readonly #space: DiskSpace
  readonly #options: IdentityOptions
  readonly #mailboxes = new Map<string | undefined, Promise<Mailbox>>()

  constructor(space: DiskSpace, options: IdentityOptions) {
    this.#space = space
    this.#options = options
  }

  /** The agent's mailbox; joined with the client, its process and its session. */
  mailbox(client: ClientInfo): Promise<Mailbox> {
    const { name } = this.#options
    const key = name === undefined ? client.sessionId : undefined
    const known = this.#mailboxes.get(key)
    if (known !== undefined) return known
    const joining = name === undefined ? this.#sit(client) : this.#open(name, client)
    // Calls that come at once join once.
    this.#mailboxes.set(key, joining)
    const forget = () => void this.#mailboxes.delete(key)
    // A named agent may have left or died since: the next call looks again, and so it does after a failure.
    joining.then(() => name === undefined || forget(), forget)
    return joining
  }

  #sit({ name, sessionId: id }: ClientInfo): Promise<Mailbox> {
    return this.#space.joinAs({ client: clientWord(name) ?? 'mcp', session: this.#session(id) })
  }

  async #open(name: string, client: ClientInfo): Promise<Mailbox> {
    checkName(name, 'agent name')
    const session = { ...this.#session(client.sessionId), client: clientWord(client.name) ?? 'mcp' }
    return this.#space.mailbox(name, { join: { session } })
  }

  /** Of a client that is elsewhere no session is noted: it could pass for a session of a client here. */
  #session(id: string | undefined): { pid?: number; id?: string } {
    const { pid } = this.#options
    return pid === undefined ? {} : { pid, ...(id === undefined ? {} : { id }) }
  }
}
