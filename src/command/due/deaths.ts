import { isOpenMatter } from '../../conversation/registry.ts'
import type { DirectoryView, Letter, View } from '../../conversation/view.ts'
import { type Agent, person, systemAgent } from '../../model/agent.ts'
import { type AgentDraft, agentDraft, type Draft } from '../../model/entry.ts'
import { isoTime } from '../../model/time.ts'
import type { Context } from '../context.ts'
import { comeBack } from '../revive.ts'
import { atOnce, type LetterChanges } from './letter-changes.ts'

/** Which runs have a process, as `NAME GENERATION`. Only the machine can tell, so decisions are given it. */
export interface ProcessStates {
  running: ReadonlySet<string>
  gone: ReadonlySet<string>
  /** Whose process was looked for, by name; of others nothing is known. @default everybody's */
  looked?: ReadonlySet<string>
}

export const runOf = ({ name, session }: Pick<Agent, 'name' | 'session'>): string =>
  `${name} ${session.generation}`

/** Whether an agent is at work, as far as its state and its process tell. */
export const isRunning = (agent: Agent, { gone }: Pick<ProcessStates, 'gone'>): boolean =>
  agent.state !== 'dead' && agent.state !== 'frozen' && !gone.has(runOf(agent))

/** Agents whose process has ended, or that were silent for too long where no process can be seen. */
export function findDeaths(
  { directory }: DirectoryView,
  { running, gone, looked }: ProcessStates,
  { now, policy }: Context,
): AgentDraft[] {
  const died = (agent: Agent, gone: 'ended' | 'silent', note: string): AgentDraft =>
    agentDraft('died', systemAgent, { ...agent, state: 'dead', gone, lastSeenAt: isoTime(now), note })
  const { here } = directory
  return [...(looked ?? here.keys())].flatMap((name) => {
    const agent = here.get(name)
    if (agent === undefined || name === person) return []
    const run = runOf(agent)
    if (gone.has(run)) return died(agent, 'ended', 'its process ended')
    if (running.has(run)) return []
    const patience = agent.session.pid === undefined ? policy.silentAfterMs : policy.heartbeatMs
    const silent = now - directory.seenAt(agent)
    return patience > 0 && silent > patience
      ? died(agent, 'silent', `silent for ${Math.round(silent / 60_000)} min`)
      : []
  })
}

/** Agents that were only taken for dead, because they were silent, and have said or done something since. */
export function findReturns(view: View, { gone }: ProcessStates, context: Context): Draft[] {
  const { directory } = view
  return [...directory.dead.values()].flatMap((agent) => {
    const wasSilent = agent.gone === 'silent' && !gone.has(runOf(agent))
    return wasSilent && directory.seenAt(agent) > Date.parse(agent.lastSeenAt)
      ? comeBack(view, agent, context)
      : []
  })
}

/** What a dead agent had claimed is free at once; its own mail waits a while for it to come back. */
export function settleDead(letters: LetterChanges, agent: Agent): void {
  const { view, context } = letters
  const { now, policy } = context
  if (view.directory.isEmpty(agent.name)) return
  const mayReturn = agent.gone !== 'left' && now - Date.parse(agent.lastSeenAt) < policy.deadLetterAfterMs
  const note = `${agent.name} has ${agent.gone === 'left' ? 'left' : 'died'}`
  for (const letter of view.inBox(agent.name, atOnce)) {
    if (letter.owner !== agent.name) letters.giveBack(letter, note)
    else if (mayReturn) continue
    else if (hasArrived(view, letter)) letters.change(letter, 'archived', 'archived', note)
    else letters.undeliverable(letter, 'dead', note)
  }
}

/** It was read and nothing more was asked; or it went to a group, and others have it as well. */
const hasArrived = (view: View, { seq, state, viaGroup }: Letter): boolean =>
  viaGroup || (state === 'shown' && view.matters(seq).every((matter) => !isOpenMatter(matter.state)))
