import { boxesTo } from '../model/address.ts'
import { type Agent, boxesOf } from '../model/agent.ts'
import type { Entry } from '../model/entry.ts'

export type Wants = (entry: Entry) => boolean

/**
 * Which entries concern a mailbox: mail from it or to a box that it reads, receipts that its agent changed or
 * that are in its boxes, and changes of the agent. Its roles and tags are followed as the entries pass by.
 */
export function concerns(name: string, agent: Agent | undefined): Wants {
  let boxes = boxesRead(name, agent)
  return (entry) => {
    switch (entry.kind) {
      case 'message':
        return entry.message.from === name || boxesTo(entry.message.to).some((box) => boxes.has(box))
      case 'receipt':
        return entry.by === name || entry.changes.some(({ owner, box }) => boxes.has(owner) || boxes.has(box))
      case 'agent':
        if (entry.agent.name !== name) return false
        boxes = boxesRead(name, entry.agent)
        return true
      default:
        return false
    }
  }
}

function boxesRead(name: string, agent: Agent | undefined): Set<string> {
  const { roles, groups } = boxesOf(agent ?? { roles: [], tags: [] })
  return new Set([name, ...roles, ...groups])
}
