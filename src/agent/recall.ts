import { fence, fenceLegend } from '../conversation/fence.ts'
import { asksFor, opens } from '../conversation/matter.ts'
import { newNonce } from '../conversation/nonce.ts'
import { matterOf } from '../conversation/registry.ts'
import { asking } from '../model/reach.ts'
import { classOf } from '../model/receipt.ts'
import type { InboxMessage } from '../query/inbox.ts'
import type { Owed } from '../query/owed.ts'
import type { ShownMessage } from '../query/show.ts'
import type { Mailbox } from '../space/mailbox/api.ts'

export interface RecallOptions {
  /** Of the marks around what others wrote; whoever puts the text into a context names it there. @default random */
  nonce?: string
  /** The last run was killed, and may not have dealt with what it was shown since then, in ms. */
  killedSince?: number | undefined
}

/** Characters of one message. */
const chars = 240
/** Messages in each part. */
const atMost = 4

/** Something to recall, and why. What ranks lower comes first. */
interface Item {
  id: string
  rank: number
  why: (wasShownEarlier: boolean) => string
}

/**
 * What an agent is working on, what it owes and what it waits for, each message once: work first, then what others
 * wait for, then notes, then what it waits for itself. After a run that was killed also what that run was shown and
 * may never have dealt with. Unread mail is left out: it is shown in the same text, or later.
 */
export async function recall(
  mailbox: Mailbox,
  { nonce = newNonce(), killedSince }: RecallOptions = {},
): Promise<string[]> {
  const { messages } = await mailbox.inbox({ limit: 200 })
  const seen = messages.filter(({ state }) => classOf(state) !== 'unread')
  const isUnread = ({ id }: Owed) => messages.some((one) => one.id === id && classOf(one.state) === 'unread')
  const owed = (await mailbox.owed()).filter((one) => !isUnread(one))
  const inHand = seen.filter((message) => isInHand(message)).map((message) => handItem(message))
  // An agent that holds a role may have to answer its own question.
  const awaited = (await mailbox.awaited()).filter((one) => !isUnread(one))
  const open = onceEach([...inHand, ...owed.map(owedItem), ...awaitedItems(awaited)])
  const rest = seen.filter(({ id, state }) => state === 'shown' && open.every((item) => item.id !== id))
  const lost = killedSince === undefined ? [] : await shownSince(mailbox, rest, killedSince)
  return [...lostPart(lost, nonce), ...(await openPart(mailbox, open, nonce))]
}

/** The same as one text, which names its marks. Empty when there is nothing to recall. */
export async function reminder(mailbox: Mailbox): Promise<string> {
  const nonce = newNonce()
  const parts = await recall(mailbox, { nonce })
  return parts.length === 0 ? '' : [fenceLegend(nonce), ...parts].join('\n\n')
}

/** Started, or read for a role and asking for more than that. */
const isInHand = (message: InboxMessage): boolean =>
  message.state === 'processing' ||
  (message.role !== undefined && message.state === 'shown' && asksFor(message) !== asking.nothing)

const handItem = (message: InboxMessage): Item => ({
  id: message.id,
  rank: opens(message) === 'task' ? 0 : 2,
  why: () => `You are working on this (${message.state}):`,
})

function owedItem({ id, kind, state }: Owed): Item {
  // What has failed is owed by whoever asked for it.
  if (state === 'failed') return { id, rank: 0, why: () => `This ${kind} of yours has failed:` }
  const earlier = (wasShownEarlier: boolean) => (wasShownEarlier ? ' and was shown to your earlier run' : '')
  return {
    id,
    rank: kind === 'task' ? 0 : kind === 'ack' ? 2 : 1,
    why: (wasShownEarlier) =>
      kind === 'ack'
        ? `This is waiting for your ack${earlier(wasShownEarlier)}:`
        : `This ${kind} is waiting for you${earlier(wasShownEarlier)}:`,
  }
}

/** A message to several is awaited from each of them. */
function awaitedItems(awaited: readonly Owed[]): Item[] {
  return awaited.map(({ id, kind, by }) => {
    const others = new Set(awaited.filter((one) => one.id === id && one.kind === kind).map((one) => one.by))
    const whose = others.size === 1 ? `${by}'s` : `the ${others.size} recipients'`
    return { id, rank: 3, why: () => `You are waiting for ${whose} ${matterOf(kind)?.owes ?? kind}:` }
  })
}

/** The first reason for each message, in order of rank. */
function onceEach(items: readonly Item[]): Item[] {
  const sorted = items.toSorted((a, b) => a.rank - b.rank)
  return sorted.filter(({ id }, at) => sorted.findIndex((item) => item.id === id) === at)
}

/** When a message was last put into the agent's context, in ms. */
function shownAt({ receipts }: ShownMessage, name: string): number {
  const own = receipts.find(({ recipient, claimedBy }) => (claimedBy ?? recipient) === name)
  return Date.parse(own?.steps.findLast(({ state }) => state === 'shown')?.at ?? '')
}

/** What an earlier run was shown since then. */
async function shownSince(
  mailbox: Mailbox,
  messages: readonly InboxMessage[],
  since: number,
): Promise<ShownMessage[]> {
  const began = Date.parse((await mailbox.agent()).session.startedAt)
  const found: ShownMessage[] = []
  for (const { id } of messages) {
    const shown = await mailbox.show(id)
    const at = shownAt(shown, mailbox.name)
    if (at >= since && at < began) found.push(shown)
  }
  return found
}

function lostPart(lost: readonly ShownMessage[], nonce: string): string[] {
  if (lost.length === 0) return []
  const more = lost.length - atMost
  return [
    '## Shown to your earlier run',
    'That run was killed before it said what it did about this mail.',
    ...lost.slice(0, atMost).map(({ message }) => fence(message, { nonce, chars })),
    ...(more > 0 ? [`${more} more: mailbox inbox`] : []),
  ]
}

async function openPart(mailbox: Mailbox, items: readonly Item[], nonce: string): Promise<string[]> {
  if (items.length === 0) return []
  const began = Date.parse((await mailbox.agent()).session.startedAt)
  const parts = ['## Still open']
  for (const { id, why } of items.slice(0, atMost)) {
    const shown = await mailbox.show(id)
    parts.push(`${why(shownAt(shown, mailbox.name) < began)}\n${fence(shown.message, { nonce, chars })}`)
  }
  const more = items.length - atMost
  return more > 0 ? [...parts, `${more} more: mailbox owed`] : parts
}
