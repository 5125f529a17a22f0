import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { person, systemAgent } from '../model/agent.ts'
import { type Caller, type Callers, readsAll } from './callers.ts'
import { HttpRefusal } from './errors.ts'
import type { Scope } from './scopes.ts'

const loopback = ['127.0.0.1', 'localhost', '[::1]']
export type Scheme = 'http' | 'https'

const wildcards = ['0.0.0.0', '::']

/**
 * Checks Host, Origin and token, each on its own; none of them replaces another. A page of another site that has
 * pointed a name at this address fails the first, a page that sends requests here fails the second, and a
 * request that passes both still needs the third.
 */
export class Guard {
  readonly #callers: Callers
  readonly #hosts: ReadonlySet<string>
  readonly #origins: ReadonlySet<string>

  /** Host and port are where the hub listens; `allowHosts` are the names that a proxy uses. */
  constructor(
    callers: Callers,
    {
      host,
      port,
      allowHosts,
      scheme,
    }: { host: string; port: number; allowHosts: readonly string[]; scheme: Scheme },
  ) {
    this.#callers = callers
    const usual = scheme === 'https' ? 443 : 80
    const own = [...loopback, ...(wildcards.includes(host) ? ownAddresses() : [bracketed(host)])]
    const hosts = own.flatMap((one) => [`${one}:${port}`, ...(port === usual ? [one] : [])])
    const allowed = allowHosts.map((one) => one.toLowerCase())
    this.#hosts = new Set([...hosts, ...allowed])
    this.#origins = new Set([
      ...hosts.map((one) => `${scheme}://${one}`),
      ...allowed.flatMap((one) => [`http://${one}`, `https://${one}`]),
    ])
  }

  /**
   * Refuses requests that did not use an address of ours, or that come from pages of other sites. The Unix socket has no
   * name that could point elsewhere.
   */
  checkPlace(incoming: IncomingMessage, isLocal: boolean): void {
    const { host, origin } = incoming.headers
    // A proxy in front of us may have gone by another one than we would.
    if ((incoming.headersDistinct['host']?.length ?? 0) > 1) {
      throw new HttpRefusal(400, 'host', 'the request has more than one Host header', { hint: 'send one' })
    }
    if (!isLocal && (host === undefined || !this.#hosts.has(host.toLowerCase()))) {
      throw new HttpRefusal(403, 'host', 'the hub does not answer to this host name', {
        hint: 'open the address that `mailbox serve` printed, or start it with --allow-host NAME',
      })
    }
    if ((origin !== undefined && !this.#origins.has(origin.toLowerCase())) || isFromOtherSite(incoming)) {
      throw new HttpRefusal(403, 'origin', 'pages of other sites cannot use the hub', {
        hint: 'use the console of this hub, or a program that sends no Origin',
      })
    }
  }

  checkToken({ headers }: IncomingMessage): Caller {
    const { authorization, upgrade, 'sec-websocket-protocol': protocols = '' } = headers
    const token =
      /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1] ??
      // A browser can send no other headers with a WebSocket. Nothing else takes a token there.
      (upgrade === undefined ? undefined : /(?:^|,)\s*bearer\.([\w.~-]+)/.exec(protocols)?.[1])
    const caller = token === undefined ? undefined : this.#callers.callerOf(token)
    // What a browser keeps can be had by whoever serves a page at this address later on.
    if (caller?.isForPrograms && headers['sec-fetch-site'] !== undefined) {
      throw new HttpRefusal(401, 'browser', 'this token is for programs', {
        hint: 'open the link to the console: mailbox token user --link',
        agent: caller.agent,
      })
    }
    if (caller !== undefined) return caller
    const agent = token === undefined ? undefined : this.#callers.expiredOf(token)
    if (agent !== undefined) {
      throw new HttpRefusal(401, 'expired', 'the token has expired', {
        hint: `create a new one: mailbox token ${agent}`,
        agent,
      })
    }
    const howToGet = 'on the machine of the hub, `mailbox token NAME` creates one'
    if (token === undefined)
      throw new HttpRefusal(401, 'token', 'the request has no token', {
        hint: `send \`Authorization: Bearer TOKEN\`; ${howToGet}, and that of the person is in SPACE/hub/token`,
      })
    throw new HttpRefusal(401, 'token', 'the token is not valid', {
      hint: `it is of another hub, or was revoked or replaced; ${howToGet}`,
    })
  }
}

/**
 * Whether a browser says that another site is behind the request: one with no Origin, such as an image. A link that was
 * followed to the console is fine; the page it opens has no token.
 */
function isFromOtherSite({ method, url = '', headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return false
  const isFollowed = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return !(isFollowed && method === 'GET' && !/^\/(?:api|mcp|metrics)\b/.test(url))
}

/** Refuses a token that is not good for any of these. */
export function checkScope(caller: Caller, ...wanted: Scope[]): void {
  if (wanted.some((scope) => caller.scopes.has(scope))) return
  throw new HttpRefusal(403, 'scope', `the token is not good for this: it needs ${wanted.join(' or ')}`, {
    hint: `its scope is ${[...caller.scopes].join(', ')}; for another one, on the machine of the hub: mailbox token NAME --scope …`,
    agent: caller.agent,
  })
}

/** What lets a token look at its own mail. Whoever acts in a mailbox reads it. */
export const looking: readonly Scope[] = ['read-own', 'act', 'read-all']

/** Agents act in their own mailbox only; some tokens can read any. */
export function checkMailbox(caller: Caller, name: string, reads: boolean): void {
  if (caller.agent === name) checkScope(caller, ...(reads ? looking : (['act'] as const)))
  if (caller.agent === name || (reads && readsAll(caller))) return
  throw new HttpRefusal(403, 'agent', `${caller.agent} cannot act as ${name}`, {
    hint: `use the token of ${name}`,
    agent: caller.agent,
  })
}

/** A bridge acts for whoever is in its folder, and never for the person or the mailbox itself. */
export function checkBridge(caller: Caller, name: string): void {
  checkScope(caller, 'bridge')
  if (name !== systemAgent && (name !== person || caller.isPerson)) return
  throw new HttpRefusal(403, 'agent', `a bridge cannot act as ${name}`, {
    hint: 'whoever has this name in the folder has another one here',
    agent: caller.agent,
  })
}

const bracketed = (host: string) => (isIP(host) === 6 ? `[${host}]` : host.toLowerCase())

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => bracketed(address)))
