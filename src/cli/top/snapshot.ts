import { actionsFor, type NamedAction } from '../../conversation/registry.ts'
import { agentStates, person } from '../../model/agent.ts'
import type { Need } from '../../query/needs.ts'
import type { RosterAgent } from '../../query/presence.ts'
import type { OpenedSpace } from '../../space/api.ts'

export interface TopAgent extends Pick<RosterAgent, 'name' | 'state' | 'roles' | 'note' | 'waitingFor'> {
  lastSeenAt: string
  unread: number
  urgent: number
}

/** A space at one moment, as a person looks at it. */
export interface Snapshot {
  /** What people call the space, and where it is. */
  name: string
  place: string
  agents: TopAgent[]
  /** What waits for the person; nothing for anybody else. */
  needs: Need[]
  dead: number
  messages: number
}

/** Agents that have something to say come first: who waits, who works, who is away, who is gone. */
const order: readonly TopAgent['state'][] = ['waiting', 'alive', 'idle', 'frozen', 'dead']
const rank = ({ state }: TopAgent): number => [...order, ...agentStates].indexOf(state)

export async function takeSnapshot(space: OpenedSpace, actor: string): Promise<Snapshot> {
  const [overview, needs] = await Promise.all([space.overview(), actor === person ? space.needs() : []])
  const { unread, dead, totals } = overview
  const agents = overview.agents
    // The person need not join, and what waits for the person is listed already.
    .filter(({ name, session }) => name !== person || session.generation > 0)
    .map(({ name, state, roles, note, waitingFor, lastSeenAt }): TopAgent => {
      const { unread: all = 0, byPriority } = unread[name] ?? {}
      return {
        ...{ name, state, roles, lastSeenAt, unread: all, urgent: byPriority?.urgent ?? 0 },
        ...(note !== undefined && { note }),
        ...(waitingFor !== undefined && { waitingFor }),
      }
    })
    .sort((a, b) => rank(a) - rank(b) || b.unread - a.unread || (a.name < b.name ? -1 : 1))
  return {
    ...{ name: overview.space.name, place: space.place, agents, dead, messages: totals.messages },
    needs: needs.filter(({ section }) => section !== 'snoozed'),
  }
}

/** Says yes or no to what needs the person, where a message asks for that. */
export interface Choices {
  yes?: NamedAction | 'ack'
  no?: NamedAction
}

export function choicesFor({ kind, message }: Need): Choices {
  if (kind === 'ack') return { yes: 'ack' }
  if (kind === 'mail' || kind === 'notice') return {}
  const actions = actionsFor(message.type).filter(({ button }) => button !== undefined)
  const yes = actions.find(({ button }) => button!.asks === undefined)
  const no = actions.find(({ button }) => button!.asks !== undefined)
  return { ...(yes && { yes }), ...(no && { no }) }
}
