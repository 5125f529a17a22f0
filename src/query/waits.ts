import { matterOf } from '../conversation/registry.ts'
import { person, systemAgent } from '../model/agent.ts'
import type { Owed } from './owed.ts'

/** An agent that cannot go on before somebody has answered it. */
export interface Wait {
  agent: string
  /** Who has to answer. */
  for: string
  /** The message that asks, and its title. */
  id: string
  subject: string
}

/** Who cannot go on, and whose answer is missing. */
export function waitsIn(open: readonly Owed[], isThere: (agent: string) => boolean): Wait[] {
  return open
    .filter(({ kind, from }) => matterOf(kind)?.blocks && from !== person && from !== systemAgent)
    .filter(({ from, by, state }) => state !== 'failed' && from !== by && isThere(from))
    .map(({ from, by, id, subject }) => ({ agent: from, for: by, id, subject }))
}

/**
 * Who can go on once a message is answered: whoever asked, then those who wait for an answer of theirs, and so on. Each
 * agent once, with the shortest way to the message.
 */
export function freedBy(id: string, waits: readonly Wait[]): Wait[] {
  const freed: Wait[] = []
  const add = (found: readonly Wait[]) => {
    for (const wait of found) if (freed.every(({ agent }) => agent !== wait.agent)) freed.push(wait)
  }
  add(waits.filter((wait) => wait.id === id))
  for (let at = 0; at < freed.length; at++) add(waits.filter((wait) => wait.for === freed[at]!.agent))
  return freed
}
