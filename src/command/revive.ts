import type { View } from '../conversation/view.ts'
import { type Agent, systemAgent } from '../model/agent.ts'
import { agentDraft, type Draft, type ReceiptDraft, receiptDrafts } from '../model/entry.ts'
import { classOf } from '../model/receipt.ts'
import { isoTime } from '../model/time.ts'
import type { Context } from './context.ts'
import { unchanged } from './due/letter-changes.ts'

/** More than any agent normally has waiting. */
const atOnce = 10_000

/** Extends the life of the mail that waited for a frozen agent by the time it was frozen. */
export function extend(view: View, { name, lastSeenAt }: Agent, now: number): ReceiptDraft[] {
  const frozenMs = (seq: number) =>
    Math.max(0, now - Math.max(Date.parse(lastSeenAt), Date.parse(view.text(seq).createdAt)))
  const waiting = view
    .inBox(name, atOnce)
    .filter(
      ({ owner, state, expiresAt }) => owner === name && classOf(state) === 'unread' && expiresAt !== null,
    )
  const changes = waiting.map((letter) => ({
    ...unchanged(letter),
    ...(letter.ackBy === null ? {} : { ackBy: isoTime(letter.ackBy) }),
    expiresAt: isoTime(letter.expiresAt! + frozenMs(letter.seq)),
  }))
  return receiptDrafts('extended', systemAgent, changes, `${name} was frozen`)
}

/**
 * A new run of an agent gets the mail that became dead letters in its absence, except mail for an earlier run
 * only and mail that was claimed too often.
 */
export function revive(view: View, name: string, { now, policy }: Context): ReceiptDraft[] {
  const changes = view
    .deadOf(name, atOnce)
    .filter(({ state, expiresAt, attempts, id }) => {
      const lives = expiresAt === null || expiresAt > now
      const mayTry = attempts < policy.maxAttempts
      return state === 'dead' && lives && mayTry && view.message(id)?.generation === null
    })
    .map((letter) => ({ ...unchanged(letter), state: 'stored' as const }))
  return receiptDrafts('revived', systemAgent, changes, `${name} is back`)
}

/** An agent wrongly considered dead continues the same run and gets its mail back. */
export function comeBack(view: View, agent: Agent, context: Context): Draft[] {
  const { gone: _, note: __, ...rest } = agent
  const back = { ...rest, state: 'alive', lastSeenAt: isoTime(context.now) } as const
  return [agentDraft('updated', systemAgent, back), ...revive(view, agent.name, context)]
}
