import type { AgentCard, AgentSkill } from '@a2a-js/sdk'
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3'
import { exposedAddresses } from '../../model/a2a.ts'
import type { RosterAgent } from '../../query/presence.ts'
import type { DiskSpace } from '../../space/space.ts'

/** Where an exposed address is served. */
const pathOf = (address: string): string => `/a2a/${encodeURIComponent(address)}`

/** What the person lets agents of other systems write to, in the order of the setting. */
export const exposedIn = (space: Pick<DiskSpace, 'settings'>): string[] =>
  exposedAddresses(space.settings['a2a.expose'])

interface CardOptions {
  space: DiskSpace
  version: string
  /** Where the hub is, as the caller sees it. */
  origin: string
  /** The address that the card is of. Without one it is that of the space, which writes to the first. */
  address?: string | undefined
}

/**
 * An agent card: what a caller needs to write to an address, and no more. It is public, so it has the names of what
 * is exposed, their roles and tags, and nothing of their sessions, notes and mail.
 */
export async function cardOf({ space, version, origin, address }: CardOptions): Promise<AgentCard> {
  const exposed = exposedIn(space)
  const agents = await space.agents()
  const shown = address === undefined ? exposed : [address]
  const url = `${origin}${pathOf(address ?? exposed[0]!)}`
  const interfaces = ['JSONRPC', 'HTTP+JSON'].map((protocolBinding) => ({
    ...{ url, protocolBinding, tenant: '', protocolVersion: '1.0' },
  }))
  return {
    name: address ?? 'agent-mailbox',
    description:
      address === undefined
        ? `Mail to ${exposed.join(', ')}. Messages are stored before they are answered.`
        : `Mail to ${address}. Messages are stored before they are answered, and wait until it can read them.`,
    supportedInterfaces: duplicateInterfacesForLegacy(interfaces, ['JSONRPC']),
    provider: undefined,
    version,
    capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: false },
    securitySchemes: {
      bearer: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: {
            description: 'A token of the hub: mailbox token NAME',
            scheme: 'Bearer',
            bearerFormat: '',
          },
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: shown.map((one) => skillOf(one, agents)),
    signatures: [],
  }
}

function skillOf(address: string, agents: readonly RosterAgent[]): AgentSkill {
  const role = /^role:(.+)$/.exec(address)?.[1]
  const agent = agents.find(({ name }) => name === address)
  const description =
    role === undefined ? `Answers mail to ${address}` : `One agent with the role ${role} answers`
  return {
    ...{ id: address, name: address, description },
    tags: role === undefined ? [...(agent?.roles ?? []), ...(agent?.tags ?? [])] : [role],
    ...{ examples: [], inputModes: [], outputModes: [], securityRequirements: [] },
  }
}
