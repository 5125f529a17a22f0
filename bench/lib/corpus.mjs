/**
 * A history of n messages to one agent, the same for everybody who stores it: 20 senders, one message in
 * ten part of a thread of ten, one word that is in a quarter of all messages, and twenty words that are
 * in exactly five messages each, however long the history is.
 */
import { createNotes } from './messages.mjs'

export const reader = 'ada'
export const senders = Array.from({ length: 20 }, (_, i) => `agent ${i}`)
/** Messages that stay unread in a history that was worked off. */
export const leftUnread = 50
export const commonWord = 'deployment'
export const rareWords = Array.from({ length: 20 }, (_, k) => `quokka${k}`)

const nextNote = createNotes(11)
const pool = Array.from({ length: 1_024 }, () => nextNote())

/** @param {number} i @param {number} n */
export function messageAt(i, n) {
  const { subject, body, priority } = pool[(i * 1_031) % pool.length]
  const lead = [...(i % 4 === 3 ? [commonWord] : []), ...rareWordsAt(i, n)].map((word) => `${word} `).join('')
  const thread = i % 10 === 0 ? threadName(Math.floor(i / 100)) : undefined
  return {
    number: i,
    from: senders[i % senders.length],
    subject,
    body: lead + body.slice(lead.length),
    priority,
    thread,
  }
}

function rareWordsAt(i, n) {
  const step = Math.max(1, Math.floor(n / (5 * rareWords.length)))
  const place = i / step
  return Number.isInteger(place) && place < 5 * rareWords.length ? [rareWords[place % rareWords.length]] : []
}

export const threadName = (block) => `thread ${block}`

/** Full threads, spread over the history. */
export function threadBlocks(n) {
  const blocks = Math.floor(n / 100)
  const count = Math.min(20, blocks)
  return Array.from({ length: count }, (_, k) => Math.floor((k * blocks) / count))
}

const ranks = ['low', 'normal', 'high', 'urgent']
export const rankOf = (priority) => ranks.indexOf(priority)

/** What each question must return; a measurement of wrong answers is worth nothing. */
export function expected(question, n, shape) {
  const unread = shape === 'handled' ? leftUnread : shape === 'expired' ? 0 : n
  if (question === 'inbox') return Math.min(50, unread)
  if (question === 'count') return unread
  if (question === 'rare') return 5
  if (question === 'common') return Math.min(50, Math.floor(n / 4))
  return 10
}
