import type { DirectoryView } from '../conversation/view.ts'
import { systemAgent } from '../model/agent.ts'
import type { AgentDraft } from '../model/entry.ts'

/** Says once more who everybody is. What told of them before may then be removed. */
export function decideCarry({ directory }: DirectoryView): AgentDraft[] {
  return [...directory.agents.values()].map((agent) => ({
    kind: 'agent',
    change: 'updated',
    by: systemAgent,
    agent,
  }))
}
