import { MailboxError } from '../../base/errors.ts'
import { processState } from '../../base/process.ts'
import { decideReturn } from '../../command/revive.ts'
import { decideUpdate } from '../../command/roster.ts'
import { decideKeep } from '../../command/take.ts'
import type { View } from '../../conversation/view.ts'
import { type Agent, isAway } from '../../model/agent.ts'
import type { Mark } from '../../model/directory.ts'
import type { ReceiptState } from '../../model/receipt.ts'
import {
  messageBySeq,
  newestClaim,
  receiptsOf,
  requireSeq,
  type Source,
  type StoredMessage,
} from '../../query/message.ts'
import { agentByName, isLongSilent } from '../../query/roster.ts'
import { standing } from '../../query/standing.ts'
import { endsWork } from '../../query/work.ts'
import type { SpaceCore } from '../core.ts'
import { findDue } from '../due.ts'

/** The id of a message, chosen before it is sent. `since`: it may have been sent with it already, after this. */
export interface ChosenId {
  id: string
  since?: Mark
}

/** The agent whose mailbox it is, and the space. */
export interface Holder {
  readonly core: SpaceCore
  readonly name: string
  /**
   * The claims that this mailbox has made: the number of the newest, by message. Without it the mailbox acts for
   * its agent, whichever process made the claim.
   */
  readonly claims?: Map<string, number> | undefined
  /** Its caller runs here, so the files that it attaches can be looked for. */
  readonly hasFiles?: boolean
  /** The process that acts for the agent. @default this one */
  readonly pid?: number
  /** Throws when it is too late to decide for whoever asked. Called with the exclusive right to append. */
  readonly inTime?: (view: View) => void
  /** The id of the message to be sent, which a desk was asked to send already. */
  readonly chosen?: ChosenId | undefined
}

type Look<T> = (source: Source, agent: Agent, now: number) => T

/** Asks something about one agent's mail, from one snapshot. */
export const queryAs = <T>({ core, name }: Holder, work: Look<T>): Promise<T> =>
  core.query((source) => work(source, requireKnown(source, name), core.now()))

/** As often as what is due may make more become due. */
const maxRounds = 100

/**
 * Asks as an agent that has come for its mail: first what is due is done, and an agent that was away or silent
 * for long is recorded as present, if it `acts` itself. Nearly always there is nothing to do, and the one snapshot that shows so
 * also answers the question.
 */
export async function lookIn<T>(holder: Holder, work: Look<T>, acts = true): Promise<T> {
  const { core } = holder
  for (let round = 0; ; round++) {
    const look = await queryAs(holder, (source, agent, now) => {
      const presence = round < maxRounds && acts ? findPresence(holder, source, agent) : undefined
      const first =
        presence ?? (round < maxRounds ? findDue(core, source, acts ? agent.name : undefined) : undefined)
      return first === undefined ? { answer: work(source, agent, now) } : { first }
    })
    if (look.first === undefined) return look.answer
    await look.first()
  }
}

/** What records that an agent is there, when it was away or nothing was heard of it for long. */
function findPresence(
  { core, pid }: Holder,
  source: Source,
  agent: Agent,
): (() => Promise<unknown>) | undefined {
  const isEnded = hasEnded(agent, pid)
  if (isAway(agent) || isEnded) return () => beBack(core, agent.name, isEnded)
  // Whoever looks in is at work, and keeps what it has claimed.
  if (endsWork(source, agent.name, core.now() + core.settings.readClaimTtlMs / 2))
    return () => core.record('index', (view, context) => decideKeep(view, agent.name, context))
  if (processState(agent.session) === 'running' || !isLongSilent(source, agent, core.settings, core.now()))
    return undefined
  return () => core.record('directory', (view, context) => decideUpdate(view, agent.name, {}, context))
}

/** Whether the process that an agent joined with has ended, so that whoever acts for it now is another. */
const hasEnded = ({ state, session }: Agent, pid = process.pid): boolean =>
  state !== 'dead' && session.pid !== undefined && session.pid !== pid && processState(session) === 'gone'

const beBack = (core: SpaceCore, name: string, isEnded: boolean): Promise<unknown> =>
  core.record('index', (view, context) => decideReturn(view, name, isEnded, context))

/**
 * Whoever acts is there: an agent that was away, or whose process has ended, is back before it does anything. Nearly always
 * there is nothing to wait for.
 */
export function bePresent({ core, name, pid }: Holder): Promise<unknown> | undefined {
  const agent = core.agents.get(name)
  if (agent === undefined) return undefined
  const isEnded = hasEnded(agent, pid)
  return isAway(agent) || isEnded ? beBack(core, name, isEnded) : undefined
}

export function requireKnown(source: Source, name: string): Agent {
  const agent = agentByName(source, name)
  if (agent !== undefined) return agent
  throw new MailboxError('not_found', `no agent named ${JSON.stringify(name)}`, {
    hint: `mailbox join ${name}`,
  })
}

export const messageOf = (core: SpaceCore, id: string): Promise<StoredMessage> =>
  core.query((source) => messageBySeq(source, requireSeq(source, id)))

/**
 * A message and where it stands for an agent, with its newest claim up to an entry. For one that it did not
 * reach, how far any recipient is.
 */
export const standingOf = (holder: Holder, id: string, upTo: number) =>
  queryAs(holder, (source, agent, now) => {
    const message = messageBySeq(source, requireSeq(source, id))
    const own = standing(source, agent, message.seq, now)
    const state: ReceiptState = own ?? receiptsOf(source, message.seq)[0]?.state ?? 'stored'
    const claimNumber = newestClaim(source, agent.name, message.seq, upTo)
    return { message, state, isMine: own !== undefined, claimNumber }
  })
