import { AgentCard } from '@a2a-js/sdk'
import { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { ServerCallContext } from '@a2a-js/sdk/server'
import { MailboxError } from '../../base/errors.ts'
import { outwardFetch } from '../../base/outward.ts'
import { exposedAddresses } from '../../model/a2a.ts'
import { readJson } from '../body.ts'
import type { Caller } from '../callers.ts'
import type { HubParts } from '../parts.ts'
import { cardOf, exposedIn } from './card.ts'
import { MailHandler } from './handler.ts'
import { runPush } from './push.ts'
import { PushConfigs } from './push-configs.ts'
import { rest, rpc } from './transports.ts'

interface Call {
  address: string
  /** What follows the address in the path, without a slash at its start. */
  path: string
  caller: Caller
  signal: AbortSignal
}

/** A2A over HTTP: agent cards for everybody, and calls for those with a token. */
export interface A2aDoor {
  /** The card of an address, or of the space. Undefined if nothing is exposed there. */
  card(request: Request, address?: string): Promise<Response | undefined>
  fetch(request: Request, call: Call): Promise<Response>
}

const legacyVersion = '0.3'

export function createA2aDoor(parts: HubParts): A2aDoor {
  const { space, version, limits, stopping } = parts
  const outward = { allowed: exposedAddresses(space.settings['a2a.allow']) }
  const push = new PushConfigs(space.dir, outward, () => space.lastSeq())
  runPush({ parts, configs: push, fetch: outwardFetch(outward), signal: stopping })
  const isExposed = (address: string | undefined) =>
    address === undefined ? exposedIn(space).length > 0 : exposedIn(space).includes(address)

  const handlerFor = (request: Request, { address, caller, signal }: Omit<Call, 'path'>) =>
    new MailHandler({
      ...{ parts, address, caller, push, signal },
      card: () => cardOf({ space, version, address, origin: originOf(request) }),
    })

  return {
    async card(request, address) {
      if (!isExposed(address)) return undefined
      const card = await cardOf({ space, version, address, origin: originOf(request) })
      const body = isLegacy(request) ? await legacyCard(card) : AgentCard.toJSON(card)
      return Response.json(body, { headers: { vary: 'A2A-Version' } })
    },
    async fetch(request, call) {
      if (!isExposed(call.address))
        throw new MailboxError('not_found', `${call.address} is not exposed`, {
          hint: 'the person decides who is: mailbox config set a2a.expose ADDRESS',
        })
      const handler = handlerFor(request, call)
      const context = new ServerCallContext({
        user: { isAuthenticated: true, userName: call.caller.agent },
        requestedVersion: request.headers.get('a2a-version') ?? legacyVersion,
      })
      const body = request.method === 'POST' ? await readJson(request, limits.bodyBytes) : {}
      if (call.path === '' && request.method === 'POST')
        return rpc(handler, context, body as Record<string, unknown>, isLegacy(request))
      return rest(handler, context, request, call.path, body)
    },
  }
}

const isLegacy = (request: Request): boolean =>
  (request.headers.get('a2a-version') ?? legacyVersion) === legacyVersion

/** Where the hub is for the caller: a proxy in front of it may speak TLS. */
function originOf(request: Request): string {
  const { origin, host } = new URL(request.url)
  return request.headers.get('x-forwarded-proto') === 'https' ? `https://${host}` : origin
}

/** The card in the shape of version 0.3, with what a newer client needs beside it. */
const legacyCard = (card: AgentCard): Promise<unknown> =>
  new LegacyRestTransportHandler({
    getAgentCard: async () => card,
    getAuthenticatedExtendedAgentCard: async () => card,
  } as never).getAuthenticatedExtendedAgentCard(new ServerCallContext({ requestedVersion: legacyVersion }))
