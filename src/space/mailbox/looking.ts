import { MailboxError } from '../../base/errors.ts'
import { processState } from '../../base/process.ts'
import { decideUpdate } from '../../command/roster.ts'
import type { Agent } from '../../model/agent.ts'
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
import type { SpaceCore } from '../core.ts'
import { findDue } from '../due.ts'

/** The agent whose mailbox it is, and the space. */
export interface Holder {
  readonly core: SpaceCore
  readonly name: string
  /**
   * The claims that this mailbox has made: the number of the newest, by message. Without it the mailbox acts for
   * its agent, whichever process made the claim.
   */
  readonly claims?: Map<string, number> | undefined
}

type Look<T> = (source: Source, agent: Agent, now: number) => T

/** Asks something about one agent's mail, from one snapshot. */
export const queryAs = <T>({ core, name }: Holder, work: Look<T>): Promise<T> =>
  core.query((source) => work(source, requireKnown(source, name), core.now()))

/** As often as what is due may make more become due. */
const maxRounds = 100

/**
 * Asks as an agent that has come for its mail: first what is due is done, and an agent that has been silent
 * for long is recorded as present. Nearly always there is nothing to do, and the one snapshot that shows so
 * also answers the question.
 */
export async function lookIn<T>(holder: Holder, work: Look<T>): Promise<T> {
  const { core } = holder
  for (let round = 0; ; round++) {
    const look = await queryAs(holder, (source, agent, now) => {
      const silence = round === 0 ? findSilence(core, source, agent) : undefined
      const first = silence ?? (round < maxRounds ? findDue(core, source) : undefined)
      return first === undefined ? { answer: work(source, agent, now) } : { first }
    })
    if (look.first === undefined) return look.answer
    await look.first()
  }
}

/** What records that an agent is there, when nobody can see its process and it has not been heard of for long. */
function findSilence(core: SpaceCore, source: Source, agent: Agent): (() => Promise<unknown>) | undefined {
  if (processState(agent.session) === 'running' || !isLongSilent(source, agent, core.settings, core.now()))
    return undefined
  return () => core.record('directory', (view, context) => decideUpdate(view, agent.name, {}, context))
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
