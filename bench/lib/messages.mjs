/**
 * The mail that everybody carries: short notes between agents, made of pseudo-words with the uneven
 * frequencies of a language, so that a word index has something like real work to do.
 *
 * What counts as one message is 700 bytes in our journal. Peers store the same message as one JSON text
 * of exactly 700 bytes, ready made: they are spared the encoding that our own send includes.
 */
import { createRandom } from './stats.mjs'

export const lineBytes = 700
/** With this body our journal line has 700 bytes, give or take a digit of its number. */
const bodyLength = 208

const syllables =
  'ba be bi bo da de di do fa fe ga go ha he ka ke ki la le lo ma me mi mo na ne no pa pe ra re ri ro sa se so ta te ti to va ve wa we za zo'.split(
    ' ',
  )
const random = createRandom(7)
const vocabulary = Array.from({ length: 2_000 }, () =>
  Array.from(
    { length: 2 + Math.floor(random() * 3) },
    () => syllables[Math.floor(random() * syllables.length)],
  ).join(''),
)

/** Words by rank: the first ones come often, the last ones hardly ever. */
const pickWord = (chance) => vocabulary[Math.floor(vocabulary.length ** chance()) - 1]

function words(chance, length) {
  let text = pickWord(chance)
  while (text.length < length) text += ` ${pickWord(chance)}`
  return text.slice(0, length)
}

/**
 * @typedef {object} Note
 * @property {number} number
 * @property {string} subject
 * @property {string} body
 * @property {'low' | 'normal' | 'high' | 'urgent'} priority
 * @property {string} [line] What a peer stores, once it was asked for.
 */

/** The notes of a history or of a stream of sends, the same every time. */
export function createNotes(seed) {
  const chance = createRandom(seed)
  let number = 0
  /** @returns {Note} */
  return (extra = '') => {
    const roll = chance()
    const priority = roll < 0.02 ? 'urgent' : roll < 0.12 ? 'high' : roll < 0.22 ? 'low' : 'normal'
    const subject = words(chance, 24)
    const lead = extra === '' ? '' : `${extra} `
    return { number: number++, subject, body: lead + words(chance, bodyLength - lead.length), priority }
  }
}

/** A ring of notes made beforehand, so that making them is in nobody's time. */
export function createPool(seed, size = 512) {
  const next = createNotes(seed)
  const pool = Array.from({ length: size }, () => next())
  let at = 0
  return () => pool[at++ % size]
}

const filler = '0123456789abcdef'.repeat(32)

/** What a peer stores for a note: an envelope like ours, filled up to 700 bytes. */
export function envelope(note, fields = {}) {
  const { number, subject, body, priority } = note
  const record = {
    id: `0190c0de-0000-7000-8000-${String(number).padStart(12, '0')}`,
    from: 'ada',
    to: ['bo'],
    type: 'text',
    priority,
    createdAt: '2026-01-01T00:00:00.000Z',
    subject,
    body,
    ...fields,
    sum: '',
  }
  const missing = lineBytes - 1 - JSON.stringify(record).length
  record.sum = filler.slice(0, Math.max(0, missing))
  return record
}

/** The same as text with its newline: 700 bytes. Made once for each note. */
export const toLine = (note) => (note.line ??= `${JSON.stringify(envelope(note))}\n`)
