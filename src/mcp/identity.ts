import type { Mailbox } from '../mailbox.ts'
import { clientWord } from '../model/client.ts'
import { checkName } from '../model/name.ts'
import type { Space } from '../space.ts'

export interface IdentityOptions {
  /** The agent that this server speaks for (`--as`, MAILBOX_AGENT). Left out, it is named after its client. */
  name?: string | undefined
  /** The process whose life is the agent's: the client that has started us. */
  pid: number
}

/** What a client says of itself when it connects. */
export interface ClientInfo {
  name?: string | undefined
}

/**
 * Whom a connection speaks for. It is settled once, at the first call that needs it, and no argument of any
 * tool can change it: one agent cannot write as another.
 */
export class Identity {
  readonly #space: Space
  readonly #options: IdentityOptions
  #mailbox: Promise<Mailbox> | undefined

  constructor(space: Space, options: IdentityOptions) {
    this.#space = space
    this.#options = options
  }

  /** The agent's mailbox; joined with the client and its process. */
  mailbox(client: ClientInfo | undefined): Promise<Mailbox> {
    this.#mailbox ??= this.#join(client).catch((error: unknown) => {
      this.#mailbox = undefined
      throw error
    })
    return this.#mailbox
  }

  #join(client: ClientInfo | undefined): Promise<Mailbox> {
    const { name, pid } = this.#options
    if (name !== undefined) checkName(name, 'agent name')
    return this.#space.seat({ name, client: clientWord(client?.name) ?? 'mcp', session: { pid } })
  }
}
