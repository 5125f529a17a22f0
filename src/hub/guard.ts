import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { MailboxError } from '../base/errors.ts'
import { HttpRefusal } from './errors.ts'
import type { Caller, Tokens } from './tokens.ts'

export interface GuardOptions {
  tokens: Tokens
  /** Where the hub listens. */
  host: string
  port: number
  /** Names under which a proxy passes requests on. */
  allowHosts: readonly string[]
}

/** The headers that decide whether a request is let in. */
export interface Credentials {
  host: string | undefined
  origin: string | undefined
  authorization: string | undefined
  /** Subprotocols of a WebSocket, which cannot send other headers from a browser. */
  protocols?: string | undefined
}

const loopback = ['127.0.0.1', 'localhost', '[::1]']
const wildcards = ['0.0.0.0', '::']

/**
 * Lets a request in, or says why not. Host and Origin are checked each by itself, and neither stands in for
 * the token: a page of another site that has made a name point here fails the first, a page that sends
 * requests here fails the second, and whoever gets past both still needs the third.
 */
export class Guard {
  readonly #tokens: Tokens
  readonly #hosts: ReadonlySet<string>
  readonly #origins: ReadonlySet<string>

  constructor({ tokens, host, port, allowHosts }: GuardOptions) {
    this.#tokens = tokens
    const own = [...loopback, ...(wildcards.includes(host) ? ownAddresses() : [bracketed(host)])]
    const hosts = own.flatMap((one) => [`${one}:${port}`, ...(port === 80 ? [one] : [])])
    const allowed = allowHosts.map((one) => one.toLowerCase())
    this.#hosts = new Set([...hosts, ...allowed])
    this.#origins = new Set([
      ...hosts.map((one) => `http://${one}`),
      ...allowed.flatMap((one) => [`http://${one}`, `https://${one}`]),
    ])
  }

  /** Whether the request came by an address of ours, and not from a page of somebody else's. */
  checkPlace({ host, origin }: Credentials): void {
    if (host === undefined || !this.#hosts.has(host.toLowerCase())) {
      throw refusal(403, 'host', 'not_permitted', 'the hub is not called by this name', {
        hint: 'open the address that `mailbox serve` printed, or start it with --allow-host NAME',
      })
    }
    if (origin !== undefined && !this.#origins.has(origin.toLowerCase())) {
      throw refusal(403, 'origin', 'not_permitted', 'pages of other sites may not ask the hub', {
        hint: 'use the console of the hub itself, or a program that sends no Origin',
      })
    }
  }

  checkToken({ authorization, protocols }: Credentials): Caller {
    const token =
      /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1] ??
      /(?:^|,)\s*bearer\.([\w.~-]+)/.exec(protocols ?? '')?.[1]
    const caller = token === undefined ? undefined : this.#tokens.callerOf(token)
    if (caller !== undefined) return caller
    const what = token === undefined ? 'the request has no token' : 'the hub does not know this token'
    throw refusal(401, 'token', 'not_permitted', what, {
      hint: "send `Authorization: Bearer TOKEN`; the person's is in SPACE/hub/token, an agent's comes from `mailbox token NAME`",
    })
  }

  isStillGood({ digest }: Caller): boolean {
    return this.#tokens.callerWith(digest) !== undefined
  }
}

/** Whether a caller may act in, or look into, a mailbox. */
export function checkMailbox(caller: Caller, name: string, reads: boolean): void {
  if (caller.agent === name || (caller.isPerson && reads)) return
  throw refusal(403, 'agent', 'not_permitted', `${caller.agent} cannot act as ${name}`, {
    hint: `use /api/mailboxes/${encodeURIComponent(caller.agent)}/…, or the token of that agent`,
  })
}

const refusal = (
  status: number,
  reason: string,
  code: 'not_permitted',
  message: string,
  options: { hint: string },
) => new HttpRefusal(status, reason, new MailboxError(code, message, options))

const bracketed = (host: string) => (isIP(host) === 6 ? `[${host}]` : host.toLowerCase())

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => bracketed(address)))
