import type { DirectoryView } from '../conversation/view.ts'
import { systemAgent } from '../model/agent.ts'
import type { AgentDraft } from '../model/entry.ts'

/** Restates every agent, so that the entries that introduced them can be removed. */
export function decideRestate({ directory }: DirectoryView): AgentDraft[] {
  return [...directory.agents.values()].map((agent) => ({
    kind: 'agent',
    change: 'updated',
    by: systemAgent,
    agent,
  }))
}
