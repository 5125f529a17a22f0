import { MailboxError } from '../errors.ts'
import type { Mailbox } from '../mailbox.ts'
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

  async #join(client: ClientInfo | undefined): Promise<Mailbox> {
    const clientName = plainWord(client?.name) ?? 'mcp'
    const name = this.#options.name ?? (await this.#freeName(clientName))
    checkName(name, 'agent name')
    const session = { pid: this.#options.pid, client: clientName }
    return this.#space.mailbox(name, { join: { session } })
  }

  /** `claude-code-1`, `claude-code-2` …: the first that nobody living has. */
  async #freeName(client: string): Promise<string> {
    const taken = new Set(
      (await this.#space.agents()).filter(({ state }) => state !== 'dead').map(({ name }) => name),
    )
    for (let n = 1; n < 10_000; n++) if (!taken.has(`${client}-${n}`)) return `${client}-${n}`
    throw new MailboxError('over_limit', `ten thousand agents are called ${client}`, {
      hint: 'give a name: --as NAME',
    })
  }
}

/** A client's name as part of an agent's: letters, digits and dashes. */
function plainWord(name: string | undefined): string | undefined {
  const word = name
    ?.toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
  return word || undefined
}
