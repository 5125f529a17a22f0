import type { AgentCard } from '@a2a-js/sdk'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { MailboxError } from '../../base/errors.ts'
import { checkOutward, type Outward, outwardFetch } from '../../base/outward.ts'
import { exposedAddresses } from '../../model/a2a.ts'
import type { RemoteAgent } from './remote-agents.ts'

/** Where a remote agent may lead us: to public addresses, to the host that the person has named, and those of the setting. */
const outwardTo = ({ card }: RemoteAgent, allow: string): Outward => ({
  allowed: [new URL(card).host, ...exposedAddresses(allow)],
})

/** Requests to a remote agent, with its token if it has one. The token goes to the host of the card and to no other. */
export function fetchFor(agent: RemoteAgent, allow: string): typeof fetch {
  const send = outwardFetch(outwardTo(agent, allow))
  const { host } = new URL(agent.card)
  return ((input: string | URL | Request, init: RequestInit = {}) => {
    const request = new Request(input, init)
    const isItsOwn = new URL(request.url).host === host
    if (agent.token !== undefined && isItsOwn) request.headers.set('authorization', `Bearer ${agent.token}`)
    return send(request, init.signal ? { signal: init.signal } : {})
  }) as typeof fetch
}

/** Gets the card of a remote agent, and refuses one that leads nowhere or inward. */
export async function readCard(agent: RemoteAgent, allow: string): Promise<AgentCard> {
  if (!URL.canParse(agent.card)) throw badCard(agent, 'the address is not valid')
  let card: AgentCard
  try {
    const fetchImpl = fetchFor(agent, allow)
    card = await new DefaultAgentCardResolver({ fetchImpl, legacyCompat: { enabled: true } }).resolve(
      agent.card,
      '',
    )
  } catch (error) {
    if (error instanceof MailboxError) throw error
    throw badCard(agent, error instanceof Error ? error.message : String(error))
  }
  const { supportedInterfaces: found } = card
  if (!Array.isArray(found) || found.length === 0) throw badCard(agent, 'it names no interface')
  for (const { url } of found) {
    const problem = checkOutward(url, outwardTo(agent, allow))
    if (problem !== undefined) throw badCard(agent, problem)
  }
  return card
}

const badCard = ({ card }: RemoteAgent, problem: string) =>
  new MailboxError(
    'invalid',
    `${card.slice(0, 200)} is not the card of an agent that can be used: ${problem}`,
    {
      hint: 'pass the address of its agent card, such as https://example.org/.well-known/agent-card.json',
    },
  )
