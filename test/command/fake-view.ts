import type { Context } from '../../src/command/context.ts'
import { asksFor, openedBy } from '../../src/conversation/matter.ts'
import { noticeOf } from '../../src/conversation/notice.ts'
import type { Letter, View } from '../../src/conversation/view.ts'
import { boxOf } from '../../src/model/address.ts'
import type { Agent } from '../../src/model/agent.ts'
import type { ClaimMade } from '../../src/model/claim.ts'
import { Directory, tallySlots } from '../../src/model/directory.ts'
import type { AgentDraft, Draft, MessageDraft, ReceiptDraft, ReceiptEntry } from '../../src/model/entry.ts'
import { type Message, priorities, priorityRank } from '../../src/model/message.ts'
import type { MessageFacts } from '../../src/model/reach.ts'
import {
  classOf,
  escalation,
  isAcked,
  isDeadLetter,
  type Receipt,
  type ReceiptState,
} from '../../src/model/receipt.ts'
import { defaultSettings, type Settings } from '../../src/model/settings.ts'
import { agent, idOf, joined, message as sampleMessage } from '../helpers/samples.ts'

export const now = Date.parse('2026-11-15T10:00:00.000Z')
export const minute = 60_000
export const hour = 60 * minute

export const iso = (ms: number): string => new Date(ms).toISOString()

/** The settings of a space that nobody has changed, with no limits. */
const policy: Settings = {
  ...defaultSettings,
  answerAfterMs: 0,
  'limits.threadMessages': 0,
  'limits.ratePerMinute': 0,
  'limits.inbox': 0,
}

/** A context in which it is ten o'clock and ids count from 1. */
export function context(at = now, settings: Partial<Settings> = {}): Context {
  let next = 1
  return { now: at, newId: () => idOf(next++), policy: { ...policy, ...settings } }
}

export const withPolicy = (settings: Partial<Settings>): Context => context(now, settings)

export function directoryOf(...agents: Agent[]): Directory {
  const directory = new Directory({ countsSends: true })
  for (const [at, one] of agents.entries()) directory.fold({ ...joined(at + 1, one), at: one.lastSeenAt })
  return directory
}

export type ReceiptInput = Partial<Receipt> & { owner: string }

/** One message with what its recipients have of it. */
export interface Mail {
  facts: MessageFacts
  text: Message
  receipts: Receipt[]
  /** The claims that were made on it, the oldest first. */
  claims?: ClaimMade[]
  /** What has become of it, step by step. */
  steps?: ReceiptEntry[]
}

/** A message by its number: sent when a test says so, or half an hour ago. */
export function mail(number: number, fields: Partial<Message>, ...receipts: ReceiptInput[]): Mail {
  const text = sampleMessage({ id: idOf(number), createdAt: iso(now - hour / 2), to: ['ada'], ...fields })
  const expiresAt = text.expiresAt === undefined ? null : Date.parse(text.expiresAt)
  const facts: MessageFacts = {
    seq: number,
    id: text.id,
    sender: text.from,
    rank: priorityRank(text.priority),
    expiresAt,
    excluded: [],
    requiresAck: text.requiresAck,
    asks: asksFor(text),
    generation: text.generation ?? null,
    imported: false,
  }
  const given = receipts.length > 0 ? receipts : text.to.map((owner) => ({ owner: boxOf(owner) }))
  return { facts, text, receipts: given.map((one) => receipt(facts, one, Date.parse(text.createdAt))) }
}

function receipt({ seq, rank, expiresAt }: MessageFacts, given: ReceiptInput, since: number): Receipt {
  return {
    ...{ seq, rank, expiresAt, box: boxOf(given.owner), state: 'stored', attempts: 0 },
    ...{ claimUntil: null, ackBy: null, repeats: 0, level: escalation.none, viaGroup: false },
    ...{ failures: 0, since, before: null },
    seen: given.state !== undefined && classOf(given.state) !== 'unread' && !isDeadLetter(given.state),
    ...given,
  }
}

/** A space that holds these agents and this mail, for decisions that need no disk. */
export function spaceOf(agents: Agent[], ...mails: Mail[]): View {
  const letters = (fits: (letter: Letter, mail: Mail) => boolean): Letter[] =>
    mails.flatMap((one) =>
      one.receipts.map((row) => ({ ...row, id: one.facts.id })).filter((letter) => fits(letter, one)),
    )
  const isUnread = ({ state }: Receipt) => classOf(state) === 'unread'
  const isUnfinished = ({ state }: Receipt) => classOf(state) !== 'closed'
  const find = (seq: number) => mails.find(({ facts }) => facts.seq === seq)
  const directory = directoryOf(...agents)
  for (const { box, rank, state, viaGroup } of letters(isUnfinished)) {
    const tally = directory.tallies.get(box) ?? new Array<number>(tallySlots).fill(0)
    const kind = classOf(state) === 'unread' ? 0 : viaGroup ? 2 : 1
    tally[kind * priorities.length + rank]!++
    directory.tallies.set(box, tally)
  }
  return {
    directory,
    message: (id) => mails.find(({ facts }) => facts.id === id)?.facts,
    receipts: (seq) => find(seq)?.receipts ?? [],
    claims: (seq) => find(seq)?.claims ?? [],
    waitingFrom: (box, sender) =>
      letters((one, { text }) => one.box === box && isUnfinished(one) && text.from === sender).length,
    stepCount: (seq) => find(seq)?.steps?.length ?? 0,
    hasShare: () => false,
    steps: (seq) => find(seq)?.steps ?? [],
    text: (seq) => find(seq)!.text,
    liveNotices: (id) =>
      letters(
        (one, { text }) =>
          isUnread(one) &&
          noticeOf(text) !== undefined &&
          (id === undefined || noticeOf(text)!.about.some((item) => item.id === id)),
      ),
    noticesAbout: (id) =>
      letters((_, { text }) => noticeOf(text) !== undefined).flatMap(({ owner, seq, state }) => {
        const { text } = find(seq)!
        const items = noticeOf(text)!.about.filter((item) => item.id === id)
        const at = Date.parse(text.createdAt)
        return items.map(({ to: recipient, kind }) => ({ to: owner, recipient, kind, state, at }))
      }),
    hasWork: (name) =>
      letters(
        (one, { facts }) =>
          classOf(one.state) === 'open' &&
          one.state !== 'failed' &&
          one.box === name &&
          facts.asks === 2 &&
          (one.owner !== name || one.state === 'processing'),
      ).length > 0,
    keyed: (sender, key) => mails.find(({ text }) => text.from === sender && text.key === key)?.facts.id,
    lastOf: (sender, threadId) =>
      mails.findLast(({ text }) => text.from === sender && text.threadId === threadId)?.facts.id,
    matters: (seq) =>
      openedBy(find(seq)!.text, seq).map((matter) => {
        const own = find(seq)!.receipts.find(({ owner }) => owner === matter.owner)
        const isOver = matter.kind === 'ack' && own !== undefined && isAcked(own.state)
        return isOver ? { ...matter, state: 'acked' as const } : matter
      }),
    openMatters: () => [],
    blockers: () => [],
    overdue: () => [],
    threadLength: () => 0,
    lapsed: (at, waiting) =>
      letters(
        (one) =>
          isUnread(one) && one.expiresAt !== null && one.expiresAt <= at && !waiting.includes(one.owner),
      ),
    lapsedClaims: (at) =>
      letters(
        (one) =>
          isUnfinished(one) && one.state !== 'failed' && one.claimUntil !== null && one.claimUntil <= at,
      ),
    inBox: (box) =>
      letters(
        (one) => isUnfinished(one) && one.box === box && (one.state !== 'failed' || one.owner !== one.box),
      ),
    deadOf: (owner) =>
      letters((one) => one.owner === owner && (one.state === 'dead' || one.state === 'expired')),
    bound: () =>
      letters((one, { facts }) => {
        const run = directory.agents.get(one.owner)?.session.generation ?? 0
        return isUnfinished(one) && facts.generation !== null && facts.generation < run
      }),
    unacked: (at) =>
      letters(
        (one) =>
          (classOf(one.state) === 'open' || (isUnread(one) && one.repeats > 0)) &&
          one.ackBy !== null &&
          one.ackBy <= at,
      ),
    unreadSince: (before, minRank, level, away) =>
      letters(
        (one) =>
          isUnread(one) &&
          one.repeats === 0 &&
          one.level === level &&
          one.level < escalation.person &&
          one.rank >= minRank &&
          !away.includes(one.owner) &&
          one.since <= before,
      ),
    offers: () => [],
    scheduledUntil: () => [],
    scheduled: () => undefined,
    openWork: (name) => letters((one) => isUnfinished(one) && one.box === name).length,
    nextOfRole: (role) => letters((one) => one.box === `role:${role}`)[0]?.id,
  }
}

export interface Situation {
  agents: Agent[]
  message?: Partial<MessageFacts>
  receipts?: ReceiptInput[]
  claims?: ClaimMade[]
}

export const theMessage: MessageFacts = {
  seq: 10,
  id: idOf(10),
  sender: 'bob',
  rank: 1,
  expiresAt: null,
  excluded: [],
  requiresAck: false,
  asks: 0,
  generation: null,
  imported: false,
}

/** A space that holds one message. */
export function viewOf({ agents, message = {}, receipts = [], claims = [] }: Situation): View {
  const facts = { ...theMessage, ...message }
  const text = sampleMessage({ id: facts.id, from: facts.sender, requiresAck: facts.requiresAck })
  const rows = receipts.map((one) => receipt(facts, one, Date.parse(text.createdAt)))
  return spaceOf(agents, { facts, text, receipts: rows, claims })
}

/** Ada has the message in this state. */
export const directMail = (state: ReceiptState, message: Partial<MessageFacts> = {}): View =>
  viewOf({ agents: [agent('ada'), agent('bob')], message, receipts: [{ owner: 'ada', state }] })

// What a decision says

export const receiptsIn = (drafts: readonly Draft[]): ReceiptDraft[] =>
  drafts.filter((draft) => draft.kind === 'receipt')
export const messagesIn = (drafts: readonly Draft[]): MessageDraft['message'][] =>
  drafts.flatMap((draft) => (draft.kind === 'message' ? [draft.message] : []))
export const agentsIn = (drafts: readonly Draft[]): AgentDraft[] =>
  drafts.filter((draft) => draft.kind === 'agent')

/** A space in which nothing was said yet. */
export const withDirectory = (directory: Directory): View => ({ ...spaceOf([]), directory })
