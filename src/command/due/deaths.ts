import type { DirectoryView, Letter, View } from '../../conversation/view.ts'
import { type Agent, hasDied, isAway, person, systemAgent } from '../../model/agent.ts'
import { type AgentDraft, agentDraft, type Draft } from '../../model/entry.ts'
import { classOf } from '../../model/receipt.ts'
import { isoTime } from '../../model/time.ts'
import type { Context } from '../context.ts'
import { comeBack } from '../revive.ts'
import { tellOnce } from './escalation.ts'
import { atOnce, isWaitedFor, type LetterChanges } from './letter-changes.ts'
import { patienceWith } from './patience.ts'

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
    const patience = patienceWith(agent, policy)
    const silent = now - directory.seenAt(agent)
    return patience > 0 && silent > patience
      ? died(agent, 'silent', `silent for ${Math.round(silent / 60_000)} min`)
      : []
  })
}

/** Agents that were taken for dead and have said or done something since. */
export function findReturns(view: View, context: Context): Draft[] {
  const { directory } = view
  return [...directory.dead.values()].flatMap((agent) =>
    isAway(agent) && directory.seenAt(agent) > Date.parse(agent.lastSeenAt)
      ? comeBack(view, agent, hasDied(agent), context)
      : [],
  )
}

/**
 * What a dead agent had claimed is free at once. Its own mail waits for it to come back; whoever waits for an answer
 * is told so. What was read and asks for nothing more has arrived and keeps its state.
 */
export function settleDead(letters: LetterChanges, agent: Agent): void {
  const { view, context } = letters
  const { now, policy } = context
  if (view.directory.isEmpty(agent.name)) return
  // What is sent to an agent that is gone waits for it as long as what was there before.
  const mayReturn = ({ since }: Letter) =>
    isAway(agent) && now - Math.max(Date.parse(agent.lastSeenAt), since) < policy.deadLetterAfterMs
  const note = `${agent.name} has ${agent.gone === 'left' ? 'left' : 'died'}`
  for (const letter of view.inBox(agent.name, atOnce)) {
    if (letter.owner !== agent.name) letters.giveBack(letter, note, agent.gone === 'ended')
    else if (mayReturn(letter)) {
      const { from, createdAt } = view.text(letter.seq)
      // Whoever sent it later was told so by the send.
      const isOlder = Date.parse(createdAt) <= Date.parse(agent.lastSeenAt)
      if (isOlder && isWaitedFor(view, letter) && letters.mayTell(from, 'waiting'))
        tellOnce(letters, from, 'waiting', letter, `${note}; it waits`)
    } else if (!hasArrived(view, letter)) letters.undeliverable(letter, 'dead', note)
    else if (agent.gone === 'left') letters.change(letter, 'archived', 'archived', note)
  }
}

/** It was read and nothing more was asked; or it went to a group, and others have it as well. */
const hasArrived = (view: View, letter: Letter): boolean =>
  letter.viaGroup || (classOf(letter.state) !== 'unread' && !isWaitedFor(view, letter))
