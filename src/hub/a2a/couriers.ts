import type { HubParts } from '../parts.ts'
import { a2aClient, readRemoteAgents } from './remote-agents.ts'

/**
 * Brings mail to the agents of other systems in the roster, each by a courier of its own. One that joins while the hub
 * runs gets one as well. Resolves when all of them have stopped.
 */
export async function runCouriers(
  parts: Pick<HubParts, 'space' | 'feed' | 'log'>,
  signal: AbortSignal,
  lookMs?: number,
): Promise<void> {
  const { space, feed } = parts
  const running = new Map<string, { card: string; ending: AbortController; ended: Promise<void> }>()
  const start = async () => {
    for (const [name, agent] of readRemoteAgents(space.dir)) {
      const known = running.get(name)
      if (known?.card === agent.card) continue
      known?.ending.abort()
      await known?.ended
      // Loaded only where it is used.
      const { RemoteCourier } = await import('./out.ts')
      const ending = new AbortController()
      const either = AbortSignal.any([signal, ending.signal])
      const courier = new RemoteCourier({ parts, name, agent, signal: either, ...(lookMs ? { lookMs } : {}) })
      running.set(name, { card: agent.card, ending, ended: courier.run() })
    }
  }
  const after = await space.lastSeq()
  await start()
  const joins = feed.follow(
    after,
    (entry) =>
      entry.kind === 'agent' && entry.change === 'joined' && entry.agent.session.client === a2aClient,
    signal,
  )
  for await (const _ of joins) await start()
  await Promise.all([...running.values()].map(({ ended }) => ended))
}
