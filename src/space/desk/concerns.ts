import { boxesTo } from '../../model/address.ts'
import { type Agent, boxesOf } from '../../model/agent.ts'
import type { Entry } from '../../model/entry.ts'

/** Whether an entry can change what an agent finds in its mailbox. */
export function concerns(entry: Entry, agent: Agent): boolean {
  const { roles, groups } = boxesOf(agent)
  const own = [agent.name, ...roles]
  switch (entry.kind) {
    case 'message':
      return boxesTo(entry.message.to).some((box) => own.includes(box) || groups.includes(box))
    case 'receipt':
      return entry.changes.some(
        ({ owner, box, wasBox = box }) => owner === agent.name || own.includes(box) || own.includes(wasBox),
      )
    case 'agent':
      return entry.agent.name === agent.name || entry.agent.roles.some((role) => agent.roles.includes(role))
    case 'segment':
    case 'key':
    case 'audit':
    case 'scheduled':
    case 'unscheduled':
      return false
    default:
      return true
  }
}
