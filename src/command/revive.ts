import type { Letter, View } from '../conversation/view.ts'
import { type Agent, hasDied, isAway, person, type Session, systemAgent } from '../model/agent.ts'
import { agentDraft, type Draft, type ReceiptDraft, receiptDrafts } from '../model/entry.ts'
import { classOf, isDeadLetter, type ReceiptState } from '../model/receipt.ts'
import { isoTime } from '../model/time.ts'
import type { Context } from './context.ts'
import { keepTimes, unchanged } from './due/letter-changes.ts'
import { patienceWith } from './due/patience.ts'
import { isMoot } from './moot.ts'
import { notice, withdrawn } from './notice.ts'
import { requireAgent } from './roster.ts'

/** More than any agent normally has waiting. */
const atOnce = 10_000

/** What an agent finds when it is back: its mail as it was, with the life it had left; and who was told otherwise. */
export function welcomeBack(view: View, before: Agent, context: Context): Draft[] {
  return [
    ...extend(view, before, context),
    ...revive(view, before.name, context),
    ...correct(view, before, context),
  ]
}

/** The time that an agent was away does not count for the mail that waited for it, nor does the silence before that. */
function extend(view: View, before: Agent, { now, policy }: Context): ReceiptDraft[] {
  const { name, lastSeenAt, gone } = before
  const silentMs = gone === 'silent' ? patienceWith(before, policy) : 0
  const from = Date.parse(lastSeenAt) - silentMs
  const awayMs = (seq: number) => Math.max(0, now - Math.max(from, Date.parse(view.text(seq).createdAt)))
  const waiting = view
    .inBox(name, atOnce)
    .filter(
      ({ owner, state, expiresAt }) => owner === name && classOf(state) === 'unread' && expiresAt !== null,
    )
  const changes = waiting.map((letter) => ({
    ...unchanged(letter),
    ...keepTimes(letter),
    expiresAt: isoTime(letter.expiresAt! + awayMs(letter.seq)),
  }))
  return receiptDrafts('extended', systemAgent, changes, `${name} was away`)
}

/**
 * Mail that became a dead letter in the absence of its agent is as it was before, except mail for an earlier run only
 * and mail that failed too often.
 */
function revive(view: View, name: string, context: Context): ReceiptDraft[] {
  const letters = revived(view, name, context)
  // What a notice said may have changed meanwhile.
  const moot = letters.filter((letter) => isMoot(view, letter))
  const changes = letters
    .filter((letter) => !moot.includes(letter))
    .map((letter) => ({ ...unchanged(letter), state: letter.before ?? ('stored' as const) }))
  return [...receiptDrafts('revived', systemAgent, changes, `${name} is back`), ...withdrawn(moot, 'settled')]
}

const revived = (view: View, name: string, { now, policy }: Context): Letter[] =>
  view.deadOf(name, atOnce).filter(({ state, expiresAt, failures, id, before }) => {
    const wasRead = before !== null && classOf(before) !== 'unread'
    const lives = wasRead || expiresAt === null || expiresAt > now
    const mayTry = failures < policy.maxAttempts
    return state === 'dead' && lives && mayTry && view.message(id)?.generation === null
  })

const wasRead = (state: ReceiptState): boolean =>
  classOf(state) !== 'unread' && !isDeadLetter(state) && state !== 'withdrawn'

/** Whoever has read that its mail was not delivered, or that it waits, is told that it has arrived after all. */
function correct(view: View, { name, lastSeenAt }: Agent, context: Context): Draft[] {
  const waiting = view.inBox(name, atOnce).filter(({ owner }) => owner === name)
  const bySender = new Map<string, Letter[]>()
  for (const letter of [...revived(view, name, context), ...waiting]) {
    const { from } = view.text(letter.seq)
    const isMisled = view
      .noticesAbout(letter.id)
      .some(
        ({ to, recipient, kind, state, at }) =>
          to === from &&
          recipient === name &&
          (kind === 'undelivered' || kind === 'waiting' || kind === 'ended') &&
          wasRead(state) &&
          at >= Date.parse(lastSeenAt),
      )
    if (isMisled) bySender.set(from, [...(bySender.get(from) ?? []), letter])
  }
  return [...bySender].map(([to, letters]) => {
    const isOne = letters.length === 1
    const about = view.text(letters[0]!.seq)
    return notice(context, {
      ...{ to: [to], type: 'notification', ...(isOne ? { about } : {}) },
      subject: `${name} is back and has ${isOne ? 'your message' : `${letters.length} messages of yours`}`,
      body: letters.map(({ id }) => `- ${id}`).join('\n'),
    })
  })
}

/**
 * An agent that was taken for dead, or is frozen, continues the same run. If its process has ended, it is not tied to
 * that any more.
 */
export function comeBack(view: View, agent: Agent, isEnded: boolean, context: Context): Draft[] {
  const { gone: _, note: __, ...rest } = agent
  const at = isoTime(context.now)
  const back: Agent = {
    ...rest,
    session: isEnded ? withoutProcess(rest.session) : rest.session,
    state: 'alive',
    lastSeenAt: at,
    lastAway: { from: agent.lastSeenAt, to: at },
  }
  return [agentDraft('resumed', systemAgent, back), ...welcomeBack(view, agent, context)]
}

function withoutProcess({ pid: _, pidStart: __, host: ___, ...session }: Session): Session {
  return session
}

/**
 * Whoever acts is there. `isEnded`: the process that it joined with is gone, so it acts from elsewhere. One that has
 * left has to join again; what it wants to do says so.
 */
export function decideReturn(view: View, name: string, isEnded: boolean, context: Context): Draft[] {
  if (name === person || name === systemAgent) return []
  const agent = requireAgent(view.directory, name)
  if (isAway(agent)) return comeBack(view, agent, isEnded || hasDied(agent), context)
  if (!isEnded || agent.state === 'dead') return []
  const session = withoutProcess(agent.session)
  return [agentDraft('updated', name, { ...agent, session, lastSeenAt: isoTime(context.now) })]
}
